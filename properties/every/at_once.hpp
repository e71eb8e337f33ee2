#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What a thread asks: `ask` makes one call of the session that it is given, about `spec`, and returns its answer.
struct Asking {
  Spec spec;
  std::function<Tensor(Session& session)> ask;
  std::int64_t thread;
};

/// What came of it.
struct ThreadAnswer {
  std::optional<Tensor> answer;  ///< nothing where the subject failed
  std::optional<SubjectFailure> failure;
};

/// Asks them in threads of the subject's process that begin together. @throws what Session::call_at_once throws.
std::vector<ThreadAnswer> ask_at_once(Session& session, std::span<const Asking> askings);

}  // namespace sextant
