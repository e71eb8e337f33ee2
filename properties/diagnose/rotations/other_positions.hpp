#pragma once

#include <string>
#include <vector>

#include "properties/identify/rotations/taken_vectors.hpp"

namespace sextant::identify {

/// Rotations by other positions than those given, where these follow from the claim's own numbers: positions that are
/// divided by linear scaling's factor as whole numbers, those of 16 bits, xPos' powers that count from another centre.
std::vector<VectorReading> other_positions(const Spec& claim);

/// What a vector's place in its call is compared with: the number of its tokens, heads or batch rows ("heads from the
/// call's number of tokens on"), or a number of vectors of the whole call.
enum class ComparedWith { extents, block };

/// Which vectors are wrong by such a comparison, and what they are; empty where none divides them from the right ones.
/// Those that `own`, the claim's reading, does not explain have been found.
std::string wrong_by_comparison(AskedVectors& asked, const VectorReading& own, ComparedWith with);

/// Calls that differ in which of their extents is the least.
std::vector<CallPlaces> calls_about_extents(const Spec& claim);

}  // namespace sextant::identify
