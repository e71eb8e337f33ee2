#pragma once

#include <vector>

#include "properties/identify/rotations/taken_vectors.hpp"

namespace sextant::identify {

/// Normalized rotations that are the claim's but for some of the queries or keys, or whose mean of squares is another
/// one: "keys are normalized and not turned", "the last query head is turned and not normalized". Nothing of other
/// encodings.
std::vector<VectorReading> other_norms(const Spec& claim);

}  // namespace sextant::identify
