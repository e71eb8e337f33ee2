#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "subjects/subject.hpp"

namespace sextant::identify {

/// What a session of a CountedSubject throws in place of a call beyond the most that may be asked.
struct OutOfCalls {};

/// A subject all of whose sessions' calls are counted together, and limited.
class CountedSubject final : public Subject {
 public:
  explicit CountedSubject(const Subject& subject, std::int64_t most = std::numeric_limits<std::int64_t>::max())
      : subject_(subject), most_(most) {}

  std::string name() const override { return subject_.name(); }
  bool is_live() const override { return subject_.is_live(); }
  Spec within_reach(const Spec& spec) const override { return subject_.within_reach(spec); }
  std::unique_ptr<Session> open(const Spec& spec) const override {
    return std::make_unique<Counting>(subject_.open(spec), calls_, most_);
  }

  std::int64_t calls() const { return calls_; }

 private:
  class Counting final : public Session {
   public:
    Counting(std::unique_ptr<Session> session, std::atomic<std::int64_t>& calls, std::int64_t most)
        : session_(std::move(session)), calls_(calls), most_(most) {}
    Description describe() override { return session_->describe(); }
    Tensors call(std::string_view operation, const Tensors& inputs) override {
      if (calls_ >= most_) throw OutOfCalls{};
      ++calls_;
      return session_->call(operation, inputs);
    }

   private:
    std::unique_ptr<Session> session_;
    std::atomic<std::int64_t>& calls_;
    std::int64_t most_;
  };

  const Subject& subject_;
  std::int64_t most_;
  mutable std::atomic<std::int64_t> calls_ = 0;
};

}  // namespace sextant::identify
