#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::identify {

/// The coordinate, no whole number perhaps, that an axis of a code has at a place; both count the claim's steps.
struct TakenCoordinate {
  std::vector<std::int64_t> place;
  double taken = 0;
};

/// What is known of the axis and of how near coordinates are told.
struct MapQuestion {
  std::int64_t axis = 0;
  std::vector<std::int64_t> extents = {};  ///< of all axes; empty where none are known
  double noise = 0;                        ///< what a coordinate is off by
  double relative = 0;                     ///< and in proportion to it
  double step = 1;                         ///< what one step of the claim is
  double unit = 1;                         ///< the code's coordinate is unit (c + plus) of a count c of steps
  double plus = 0;
};

/// A function of places that explains coordinates.
struct CoordinateMap {
  std::string words;  ///< "coordinates wrap at 4", and which others
  std::function<double(const std::vector<std::int64_t>& place)> of;
};

/// The first function that explains all coordinates: multiplied, moved, sums of several axes' own, wrapped, clamped,
/// rounded, or such a one where the coordinate of an axis is odd, its number being what the coordinates show. Nothing
/// where none does, where they are the axis' own, or too few are given to tell.
std::optional<CoordinateMap> coordinate_map(std::span<const TakenCoordinate> seen, const MapQuestion& question);

}  // namespace sextant::identify
