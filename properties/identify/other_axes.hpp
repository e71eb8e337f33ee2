#pragma once

#include <vector>

#include "properties/identify/tried_claims.hpp"

namespace sextant::identify {

/// Claims of the same sizes that a rotation over several axes is mistaken for: with other coordinates, moved,
/// multiplied or divided otherwise, another ladder, order, pairing or direction, one at a time.
std::vector<TriedClaim> other_axes(const Spec& claim, const RopeNd& encoding);

}  // namespace sextant::identify
