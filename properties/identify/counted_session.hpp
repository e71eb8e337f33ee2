#pragma once

#include <memory>
#include <utility>

#include "subjects/subject.hpp"

namespace sextant::identify {

/// A session that counts its calls.
class CountedSession final : public Session {
 public:
  explicit CountedSession(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  Description describe() override { return session_->describe(); }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    ++calls_;
    return session_->call(operation, inputs);
  }

  std::int64_t calls() const { return calls_; }

 private:
  std::unique_ptr<Session> session_;
  std::int64_t calls_ = 0;
};

}  // namespace sextant::identify
