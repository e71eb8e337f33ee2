#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "subjects/subject.hpp"

namespace sextant {

/// Another subject's answers, each changed by `edit`.
class Edited final : public Subject {
 public:
  using Edit = std::function<void(std::string_view operation, const Tensors& inputs, Tensors& reply)>;
  Edited(std::unique_ptr<Subject> subject, Edit edit) : subject_(std::move(subject)), edit_(std::move(edit)) {}

  std::string name() const override { return "edited"; }
  std::unique_ptr<Session> open(const Spec& spec) const override {
    return std::make_unique<Open>(subject_->open(spec), edit_);
  }

 private:
  class Open final : public Session {
   public:
    Open(std::unique_ptr<Session> session, const Edit& edit) : session_(std::move(session)), edit_(edit) {}
    Description describe() override { return session_->describe(); }
    Tensors call(std::string_view operation, const Tensors& inputs) override {
      return edited(operation, inputs, session_->call(operation, inputs));
    }
    Tensors backward(std::string_view of, const Tensors& inputs) override {
      return edited("backward", inputs, session_->backward(of, inputs));
    }

   private:
    Tensors edited(std::string_view operation, const Tensors& inputs, Tensors reply) {
      edit_(operation, inputs, reply);
      return reply;
    }
    std::unique_ptr<Session> session_;
    const Edit& edit_;
  };

  std::unique_ptr<Subject> subject_;
  Edit edit_;
};

}  // namespace sextant
