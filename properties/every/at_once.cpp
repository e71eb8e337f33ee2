#include "properties/every/at_once.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace sextant {
namespace {

// Each is asked twice: of a session that only notes what is asked, and of one that gives the reply which the subject
// has given meanwhile. So whatever forms calls and checks replies serves calls at once too.
struct Noted {};

class NotingSession final : public Session {
 public:
  Description describe() override { throw std::logic_error("ask_at_once: only calls are asked at once"); }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    operation_ = operation;
    inputs_ = inputs;
    throw Noted();
  }

  ThreadCall noted(const Asking& asking) {
    try {
      asking.ask(*this);
    } catch (const Noted&) {
      return {asking.spec, std::move(operation_), std::move(inputs_), asking.thread};
    }
    throw std::logic_error("ask_at_once: nothing was asked");
  }

 private:
  std::string operation_;
  Tensors inputs_;
};

class GivingSession final : public Session {
 public:
  explicit GivingSession(ThreadReply reply) : reply_(std::move(reply)) {}
  Description describe() override { throw std::logic_error("ask_at_once: only calls are asked at once"); }
  Tensors call(std::string_view, const Tensors&) override {
    if (is_given_) throw std::logic_error("ask_at_once: more than one call was asked");
    is_given_ = true;
    if (reply_.failure) throw SubjectFailure(*reply_.failure);
    return std::move(reply_.tensors);
  }

 private:
  ThreadReply reply_;
  bool is_given_ = false;
};

}  // namespace

std::vector<ThreadAnswer> ask_at_once(Session& session, std::span<const Asking> askings) {
  std::vector<ThreadCall> calls;
  for (const Asking& asking : askings) calls.push_back(NotingSession().noted(asking));
  std::vector<ThreadReply> replies = session.call_at_once(calls);
  std::vector<ThreadAnswer> answers;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    GivingSession giving(std::move(replies[i]));
    try {
      answers.push_back({askings[i].ask(giving), std::nullopt});
    } catch (const SubjectFailure& failure) {
      answers.push_back({std::nullopt, failure});
    }
  }
  return answers;
}

}  // namespace sextant
