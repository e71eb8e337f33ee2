#pragma once

#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/rotations/taken_vectors.hpp"

namespace sextant::identify {

/// Batch rows of a rotation that have another row's positions, in all calls or in those of some extents: the first
/// row's, the one's that ends last, each other's in reverse; and heads or rows that are taken for tokens where there
/// are as many, as code does that guesses a layout. Nothing of other encodings.
std::vector<VectorReading> other_rows(const Spec& claim);

/// Calls that tell them from each other: of one to six rows of a few tokens, of which no row has the first, the last,
/// the least and the greatest position, and of as many tokens as rows or heads. Positions that the claim has not leave
/// a call out.
std::vector<CallPlaces> calls_about_rows(const Spec& claim);

}  // namespace sextant::identify
