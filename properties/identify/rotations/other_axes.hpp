#pragma once

#include <optional>
#include <vector>

#include "properties/identify/identification.hpp"
#include "properties/identify/tried_claims.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Claims of the same sizes that a rotation over several axes is mistaken for: with other coordinates, moved,
/// multiplied or divided otherwise, another ladder, order, pairing or direction, one at a time.
std::vector<TriedClaim> other_axes(const Spec& claim, const RopeNd& encoding);

/// What no spec says of normalized coordinates, in words, where every pair is turned so along the grid's diagonal:
/// "coordinates beyond -1 and 1 are clipped to them". Nothing where that is not so, or the claim's own angles are seen.
/// @throws SubjectFailure.
std::optional<Fault> fault_of_angles(Session& session, const Spec& claim, const RopeNd& encoding);

}  // namespace sextant::identify
