#pragma once

#include <cstdint>
#include <memory>

#include "properties/model/model.hpp"
#include "subjects/subject.hpp"

namespace sextant::vectors {

// Calls of the protocol's backward, whose last vector is the gradient of the answer.

/// Whether what a subject's backward returns can be judged under the model's spec.
bool has_gradient(const EncodingModel& model);

/// The same call with a gradient of its answer, of any values. A rotation's is its x. A lookup's has `tokens` uses: its
/// rows come again and again.
Call with_gradient(const EncodingModel& model, Call call, std::int64_t tokens);

/// Asks for the gradient: attention's by q, k and v one behind the other. @throws what operations.hpp says.
Tensor gradient(Session& session, const EncodingModel& model, const Call& call);

/// Judges them.
std::unique_ptr<Judge> gradient_judge_of(const EncodingModel& model);

}  // namespace sextant::vectors
