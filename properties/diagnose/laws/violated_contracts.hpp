#pragma once

#include <optional>
#include <span>

#include "lib/spec/spec.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "properties/verdict/verdict.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What a subject keeps, changes or drops, where its values are right and these violated contracts say that something
/// beside them is not: "after a call with another rope_theta in one process answers are that call's: what is kept is
/// looked up without rope_theta", "a call writes into its input x", "in channels that are not rotated NaN becomes 0";
/// else what a law says by itself: "the same call is answered otherwise from time to time". Nothing where the laws are
/// others. @throws SubjectFailure, Interrupted.
std::optional<DiagnosedDifference> violated_contracts(const Subject& subject, const Spec& claim,
                                                      std::span<const PropertyResult> violated);

}  // namespace sextant::identify
