#pragma once

#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// In which other order values come that are all as claimed: "the tokens of a call come back in reverse order". Nothing
/// where they are right as they come, or in none of the orders that are tried. @throws SubjectFailure, Interrupted.
std::optional<DiagnosedDifference> rearranged_answers(const Subject& subject, const Spec& claim);

}  // namespace sextant::identify
