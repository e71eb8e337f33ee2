#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "subjects/subject.hpp"

namespace sextant {

/// A C++ callable as a subject: what a unit test audits. Each session gets a fresh callable from `make`, so that state
/// kept inside one is seen as a cache would be. The protocol's `backward` of operation OF arrives as operation "backward/OF".
class FunctionSubject final : public Subject {
 public:
  using Call = std::function<Tensors(std::string_view operation, const Tensors& inputs)>;
  using Make = std::function<Call(const Spec& spec)>;

  FunctionSubject(std::string name, Make make) : name_(std::move(name)), make_(std::move(make)) {}

  std::string name() const override { return name_; }
  std::unique_ptr<Session> open(const Spec& spec) const override { return std::make_unique<Open>(name_, make_(spec)); }

 private:
  class Open final : public Session {
   public:
    Open(std::string name, Call call) : name_(std::move(name)), call_(std::move(call)) {}
    Description describe() override { return {name_, "", {}, {}}; }
    Tensors call(std::string_view operation, const Tensors& inputs) override { return call_(operation, inputs); }
    Tensors backward(std::string_view of, const Tensors& inputs) override { return call_("backward/" + std::string(of), inputs); }

   private:
    std::string name_;
    Call call_;
  };

  std::string name_;
  Make make_;
};

}  // namespace sextant
