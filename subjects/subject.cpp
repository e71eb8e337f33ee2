#include "subjects/subject.hpp"

#include <utility>

namespace sextant {

Tensors named(std::string name, Tensor tensor) {
  Tensors tensors;
  tensors.emplace(std::move(name), std::move(tensor));
  return tensors;
}

Tensors Session::backward(std::string_view of, const Tensors& /*inputs*/) {
  throw SubjectFailure(FailureKind::unsupported, "the subject has no backward of " + std::string(of));
}

std::vector<ThreadReply> Session::call_at_once(std::span<const ThreadCall> /*calls*/) {
  throw SubjectFailure(FailureKind::unsupported, "the subject does not say that several threads may call it at once");
}

std::vector<std::unique_ptr<Session>> Subject::open_together(std::span<const Spec> specs) const {
  std::vector<std::unique_ptr<Session>> sessions;
  for (const Spec& spec : specs) sessions.push_back(open(spec));
  return sessions;
}

std::string_view name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::crashed: return "crashed";
    case FailureKind::timed_out: return "timed out";
    case FailureKind::protocol: return "broke the protocol";
    case FailureKind::error: return "reported an error";
    case FailureKind::misbehaved: return "misbehaved";
    case FailureKind::unsupported: return "does not support this";
  }
  throw std::invalid_argument("name_of: no such failure kind");
}

}  // namespace sextant
