#pragma once

#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/clues.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What wrong values have in common that no right one has: "the last token of a call is not rotated, and the rest is
/// right", "pair 14 (channels 14 and 46) is wrong, and the rest is right", "all values are 1.5 times what they should
/// be". It is told of accuracy's own verdicts on each vector of some calls (judged_vectors.hpp) and, of some wrong
/// ones, on each channel. Nothing where no such place divides all of them, or there is no proposer. @throws
/// SubjectFailure, Interrupted.
std::optional<DiagnosedDifference> wrong_places(const Subject& subject, const Spec& claim, const Clues& clues);

}  // namespace sextant::identify
