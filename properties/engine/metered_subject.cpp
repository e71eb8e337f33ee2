#include "properties/engine/metered_subject.hpp"

#include <utility>
#include <vector>

#include "reference/work_limit.hpp"

namespace sextant {
namespace {

class MeteredSession final : public Session {
 public:
  MeteredSession(std::unique_ptr<Session> session, std::atomic<std::int64_t>& values_moved)
      : session_(std::move(session)), values_moved_(values_moved) {}

  Description describe() override {
    const reference::WithoutWorkLimit without;
    return session_->describe();
  }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    if (operation == "attend") count_scores(inputs);
    return metered(inputs, [&] { return session_->call(operation, inputs); });
  }
  Tensors backward(std::string_view of, const Tensors& inputs) override {
    if (of == "attend") count_scores(inputs);
    return metered(inputs, [&] { return session_->backward(of, inputs); });
  }

  std::vector<ThreadReply> call_at_once(std::span<const ThreadCall> calls) override {
    for (const ThreadCall& call : calls) {
      if (call.operation == "attend") count_scores(call.inputs);
      count(call.inputs);
    }
    const reference::WithoutWorkLimit without;
    std::vector<ThreadReply> replies = session_->call_at_once(calls);
    for (const ThreadReply& reply : replies) count(reply.tensors);
    return replies;
  }

 private:
  template <class Call>
  Tensors metered(const Tensors& inputs, Call call) {
    count(inputs);
    const reference::WithoutWorkLimit without;
    Tensors answer = call();
    count(answer);
    return answer;
  }

  void count(const Tensors& tensors) {
    for (const auto& [name, tensor] : tensors) values_moved_ += tensor.elements();
  }

  // One for each query and key of a head, q and k being [batch, heads, tokens, head_dim].
  void count_scores(const Tensors& inputs) {
    const std::vector<std::int64_t>& queries = inputs.at("q").shape;
    values_moved_ += queries[0] * queries[1] * queries[2] * inputs.at("k").shape[2];
  }

  std::unique_ptr<Session> session_;
  std::atomic<std::int64_t>& values_moved_;
};

}  // namespace

std::unique_ptr<Session> MeteredSubject::open(const Spec& spec) const {
  const reference::WithoutWorkLimit without;
  return std::make_unique<MeteredSession>(subject_.open(spec), values_moved_);
}

std::unique_ptr<Session> MeteredSubject::open_anew(const Spec& spec) const {
  const reference::WithoutWorkLimit without;
  return std::make_unique<MeteredSession>(subject_.open_anew(spec), values_moved_);
}

std::vector<std::unique_ptr<Session>> MeteredSubject::open_together(std::span<const Spec> specs) const {
  const reference::WithoutWorkLimit without;
  std::vector<std::unique_ptr<Session>> sessions = subject_.open_together(specs);
  for (std::unique_ptr<Session>& session : sessions)
    session = std::make_unique<MeteredSession>(std::move(session), values_moved_);
  return sessions;
}

}  // namespace sextant
