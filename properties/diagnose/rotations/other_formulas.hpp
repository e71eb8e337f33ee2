#pragma once

#include <optional>
#include <vector>

#include "properties/identify/rotations/taken_vectors.hpp"

namespace sextant::identify {

/// Plain ropes by another formula than the claimed one, at the positions given: exponents that are halved, lists or
/// thresholds of a scaling rule that are exchanged, an attention factor of cosines alone, cosines alone that are
/// rounded, channels that are read or written elsewhere, pairs that are scaled to length 1. Nothing of other encodings.
std::vector<VectorReading> other_formulas(const Spec& claim);

/// A plain rope of float32 whose channels that turn are no greater than this; nothing of other claims.
std::optional<VectorReading> limited_results(const Spec& claim, double limit);

}  // namespace sextant::identify
