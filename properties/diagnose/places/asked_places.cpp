#include "properties/diagnose/places/asked_places.hpp"

#include <algorithm>
#include <cmath>

#include "lib/spec/of.hpp"
#include "lib/spec/position_grid.hpp"

namespace sextant::identify {

std::int64_t AskedGrid::cells() const {
  // More than any call has.
  constexpr std::int64_t many = std::int64_t{1} << 40;
  std::int64_t count = 1;
  for (const std::int64_t side : sides) count = side > many / count ? many : count * side;
  return count;
}

std::int64_t AskedGrid::number_of(const Place& place) const {
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < sides.size(); ++axis) number = number * sides[axis] + place[axis] - first[axis];
  return number;
}

Place AskedGrid::cell(std::int64_t number) const {
  Place place = first;
  for (std::size_t axis = sides.size(); axis-- > 0; number /= sides[axis]) place[axis] += number % sides[axis];
  return place;
}

std::int64_t one_step_of(const Spec& claim) {
  return std::max<std::int64_t>(1, std::llround(1 / position_grid_of(claim.encoding).step));
}

AskedGrid grid_of(const Spec& claim) {
  AskedGrid grid;
  if (const auto* table = held<Sinusoidal2d>(claim)) {
    grid.sides = {table->height, table->width};
  } else if (const auto* offsets = held<LogCoordinates>(claim)) {
    for (const std::int64_t extent : offsets->window) grid.sides.push_back(2 * extent - 1);
    for (const std::int64_t extent : offsets->window) grid.first.push_back(1 - extent);
  } else {
    of_each(claim, [&](const auto& encoding) {
      if constexpr (requires { encoding.extents; }) grid.sides = encoding.extents;
    });
  }
  if (grid.sides.size() < 2) return {};
  grid.first.resize(grid.sides.size());
  return grid;
}

}  // namespace sextant::identify
