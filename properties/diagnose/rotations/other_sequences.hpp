#pragma once

#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/rotations/taken_vectors.hpp"

namespace sextant::identify {

/// Rotations by positions that are made anew from some of the row's own, its first, second, last, least and greatest:
/// counted or stepped from one of them, spread between two, ranks, counts of what came before; in all calls, or in
/// those of some extents and rows. A token alone has its own position by most of them. Of one axis; nothing of other
/// encodings.
std::vector<VectorReading> other_sequences(const Spec& claim);

}  // namespace sextant::identify
