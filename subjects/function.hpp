#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "subjects/subject.hpp"
#include "subjects/threads.hpp"

namespace sextant {

/// A C++ callable as a subject: what a unit test audits. Each session gets a fresh callable from a Make, so that state
/// kept inside one is seen as a cache would be; and each process, in which sessions of several specs may live, gets a
/// fresh Make from a Begin, so that state kept there is seen as a module's own would be. The protocol's `backward` of
/// operation OF arrives as operation "backward/OF". An exception of the callable's own is an error reply, as a worker
/// would send. Where it says that threads may call it at once, each has a callable of its own from one Make.
class FunctionSubject final : public Subject {
 public:
  using Call = std::function<Tensors(std::string_view operation, const Tensors& inputs)>;
  using Make = std::function<Call(const Spec& spec)>;
  using Begin = std::function<Make()>;
  enum class Threads { one, several };

  FunctionSubject(std::string name, Make make)
      : FunctionSubject(std::move(name), Begin([make = std::move(make)] { return make; })) {}
  FunctionSubject(std::string name, Begin begin, Threads threads = Threads::one)
      : name_(std::move(name)), begin_(std::move(begin)), threads_(threads) {}

  std::string name() const override { return name_; }
  std::unique_ptr<Session> open(const Spec& spec) const override { return opened(begin_(), spec); }
  std::vector<std::unique_ptr<Session>> open_together(std::span<const Spec> specs) const override {
    const Make make = begin_();
    std::vector<std::unique_ptr<Session>> sessions;
    for (const Spec& spec : specs) sessions.push_back(opened(make, spec));
    return sessions;
  }

 private:
  std::unique_ptr<Session> opened(const Make& make, const Spec& spec) const {
    return as_reply(
        [&]() -> std::unique_ptr<Session> { return std::make_unique<Open>(name_, make, make(spec), threads_); });
  }

  template <class Work>
  static std::invoke_result_t<Work> as_reply(Work work) {
    try {
      return work();
    } catch (const SubjectFailure&) {
      throw;
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& exception) {
      throw SubjectFailure(FailureKind::error, exception.what());
    }
  }

  class Open final : public Session {
   public:
    Open(std::string name, Make make, Call call, Threads threads)
        : name_(std::move(name)), make_(std::move(make)), call_(std::move(call)), threads_(threads) {}
    Description describe() override { return {name_, "", {}, {}, false, threads_ == Threads::several}; }
    Tensors call(std::string_view operation, const Tensors& inputs) override {
      return as_reply([&] { return call_(operation, inputs); });
    }
    Tensors backward(std::string_view of, const Tensors& inputs) override {
      return call("backward/" + std::string(of), inputs);
    }
    std::vector<ThreadReply> call_at_once(std::span<const ThreadCall> calls) override {
      if (threads_ == Threads::one) return Session::call_at_once(calls);
      return in_threads(calls, [this](const ThreadCall& asked) {
        return as_reply([&] { return make_(asked.spec)(asked.operation, asked.inputs); });
      });
    }

   private:
    std::string name_;
    Make make_;
    Call call_;
    Threads threads_;
  };

  std::string name_;
  Begin begin_;
  Threads threads_ = Threads::one;
};

}  // namespace sextant
