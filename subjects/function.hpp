#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "subjects/subject.hpp"

namespace sextant {

/// A C++ callable as a subject: what a unit test audits. Each session gets a fresh callable from a Make, so that state
/// kept inside one is seen as a cache would be; and each process, in which sessions of several specs may live, gets a
/// fresh Make from a Begin, so that state kept there is seen as a module's own would be. The protocol's `backward` of
/// operation OF arrives as operation "backward/OF". An exception of the callable's own is an error reply, as a worker
/// would send.
class FunctionSubject final : public Subject {
 public:
  using Call = std::function<Tensors(std::string_view operation, const Tensors& inputs)>;
  using Make = std::function<Call(const Spec& spec)>;
  using Begin = std::function<Make()>;

  FunctionSubject(std::string name, Make make)
      : FunctionSubject(std::move(name), Begin([make = std::move(make)] { return make; })) {}
  FunctionSubject(std::string name, Begin begin) : name_(std::move(name)), begin_(std::move(begin)) {}

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
    return as_reply([&]() -> std::unique_ptr<Session> { return std::make_unique<Open>(name_, make(spec)); });
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
    Open(std::string name, Call call) : name_(std::move(name)), call_(std::move(call)) {}
    Description describe() override { return {name_, "", {}, {}}; }
    Tensors call(std::string_view operation, const Tensors& inputs) override {
      return as_reply([&] { return call_(operation, inputs); });
    }
    Tensors backward(std::string_view of, const Tensors& inputs) override {
      return call("backward/" + std::string(of), inputs);
    }

   private:
    std::string name_;
    Call call_;
  };

  std::string name_;
  Begin begin_;
};

}  // namespace sextant
