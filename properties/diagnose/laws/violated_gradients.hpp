#pragma once

#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/places/wrong_places.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What `backward` computes in place of the gradient, where a law of gradients is violated and results are right: "the
/// gradient is rotated forward, not back", "the gradient of a bucket is that of its last use, not the sum over all",
/// "the backward pass forgets the causal mask". Each is held against the gradients of calls of other lengths, rows and
/// positions, and told where it explains all of them within the law's bound and the true gradient does not. Nothing
/// where none does. @throws SubjectFailure, Interrupted.
std::optional<DiagnosedDifference> violated_gradients(const Subject& subject, const Spec& claim, const Clues& clues);

}  // namespace sextant::identify
