#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/spec.hpp"

namespace sextant::identify {

/// A token's coordinates, axis by axis.
using Place = std::vector<std::int64_t>;

/// The grid of a claim, of as many cells as its sides have; of one axis, and of claims that name no extents, none.
struct AskedGrid {
  Place first = {};                      ///< the coordinates of its corner
  std::vector<std::int64_t> sides = {};  ///< empty where there is none

  bool is_known() const { return !sides.empty(); }
  std::int64_t cells() const;

  /// A cell's number, row after row; one beyond the sides has some number.
  std::int64_t number_of(const Place& place) const;

  /// The cell of that number, which wraps round at the last.
  Place cell(std::int64_t number) const;
};

AskedGrid grid_of(const Spec& claim);

/// How many steps of its positions are 1: more than one where they are real.
std::int64_t one_step_of(const Spec& claim);

/// The positions [axes, batches, tokens] of a call.
struct AskedPlaces {
  std::vector<std::int64_t> positions;
  std::int64_t axes = 1;
  std::int64_t batches = 1;
  std::int64_t tokens = 1;
  AskedGrid grid = {};
  std::int64_t last = 0;      ///< the claim's last position
  std::int64_t one_step = 1;  ///< one_step_of() the claim

  std::int64_t coordinate(std::int64_t axis, std::int64_t batch, std::int64_t token) const {
    return positions[index((axis * batches + batch) * tokens + token)];
  }

  Place at(std::int64_t batch, std::int64_t token) const {
    Place place;
    for (std::int64_t axis = 0; axis < axes; ++axis) place.push_back(coordinate(axis, batch, token));
    return place;
  }

  std::vector<Place> row(std::int64_t batch) const {
    std::vector<Place> list;
    for (std::int64_t token = 0; token < tokens; ++token) list.push_back(at(batch, token));
    return list;
  }
};

}  // namespace sextant::identify
