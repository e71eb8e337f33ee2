#pragma once

#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/rotations/taken_vectors.hpp"

namespace sextant::identify {

/// Batch rows of a rotation that have another row's positions, in all calls or in those of some extents: the first
/// row's, the one's that ends last, each other's in reverse; positions
/// that are flattened in another order; and heads or rows that are taken for tokens where there
/// are as many, as code does that guesses a layout. Nothing of other encodings.
std::vector<VectorReading> other_rows(const Spec& claim);

/// Which row's positions each row has in calls of a few rows and tokens, extents by extents, where other rows' explain
/// every wrong one of them and no reading says which: "in calls of 5 rows and 1 token row 4 has those of row 3". Empty
/// where they do not. Those that the claim's reading does not explain have been found.
std::string rows_by_extents(AskedVectors& asked, const Spec& claim);

/// Calls that tell them from each other: of one to six rows of a few tokens, of which no row has the first, the last,
/// the least and the greatest position, and of as many tokens as rows or heads. Positions that the claim has not leave
/// a call out.
std::vector<CallPlaces> calls_about_rows(const Spec& claim);

}  // namespace sextant::identify
