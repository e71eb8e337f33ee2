#pragma once

#include <optional>
#include <span>

#include "lib/spec/spec.hpp"
#include "properties/model/question.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Of questions of accuracy that failed, and of longer calls, the rows of attention that are wrong, where tokens, heads
/// and batch rows part them from the right ones, with what they have instead: another place's values, a key that they
/// do not see, or one that they see beside the claim's. Whether a batch row or a token more or less is right is said
/// too. Nothing of other encodings. @throws SubjectFailure, Interrupted.
std::optional<DiagnosedDifference> wrong_attention(const Subject& subject, const Spec& claim,
                                                   std::span<const Question> failing);

}  // namespace sextant::identify
