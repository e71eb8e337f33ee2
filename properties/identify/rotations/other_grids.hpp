#pragma once

#include <vector>

#include "properties/identify/rotations/taken_vectors.hpp"

namespace sextant::identify {

/// Rotations over several axes that take the places of a whole row for others, as code does that makes them anew from
/// a row's extents: "rows and columns change places where an image has more rows than columns". Nothing of one axis.
std::vector<VectorReading> other_grids(const Spec& claim);

/// Texts, images and films, alone and in batches. Nothing of one axis.
std::vector<CallPlaces> calls_about_grids(const Spec& claim);

}  // namespace sextant::identify
