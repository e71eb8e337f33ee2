#include "properties/engine/uncounted_subject.hpp"

#include <utility>

#include "reference/work_limit.hpp"

namespace sextant {
namespace {

class UncountedSession final : public Session {
 public:
  explicit UncountedSession(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  Description describe() override {
    const reference::WithoutWorkLimit without;
    return session_->describe();
  }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    const reference::WithoutWorkLimit without;
    return session_->call(operation, inputs);
  }
  Tensors backward(std::string_view of, const Tensors& inputs) override {
    const reference::WithoutWorkLimit without;
    return session_->backward(of, inputs);
  }

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<Session> UncountedSubject::open(const Spec& spec) const {
  const reference::WithoutWorkLimit without;
  return std::make_unique<UncountedSession>(subject_.open(spec));
}

std::unique_ptr<Session> UncountedSubject::open_anew(const Spec& spec) const {
  const reference::WithoutWorkLimit without;
  return std::make_unique<UncountedSession>(subject_.open_anew(spec));
}

}  // namespace sextant
