#pragma once

#include <optional>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/rotations/taken_vectors.hpp"
#include "properties/model/question.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// In what a rotation differs from the claim where no spec says it: of what is tried (other_lengths, other_positions,
/// other_formulas, other_grids, other_norms) the first under which every vector is as near to its true value as the
/// claim asks, or extents of calls that divide wrong vectors from right ones. Nothing of other encodings, where none
/// explains what was asked, or where `named`, a claim of the same accuracy class that may be null, does. What
/// is told explains the wrong calls of `failing` too, each asked in a session of its own. @throws SubjectFailure,
/// Interrupted.
std::optional<DiagnosedDifference> other_rotation(const Subject& subject, const Spec& claim, const Spec* named,
                                                  const std::vector<Question>& failing = {});

/// "vectors from number 1024 of a call on, its rows, tokens and heads counted together, are not rotated, and the rest
/// is right". Nothing of other encodings, or where that is not so. @throws likewise.
std::optional<DiagnosedDifference> wrong_block(const Subject& subject, const Spec& claim);

/// Every reading that is tried of a rotation; the claim's own.
std::vector<VectorReading> other_readings(const Spec& claim);
VectorReading own_reading(const Spec& claim);

}  // namespace sextant::identify
