#include "properties/gen/placement.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::gen {
namespace {

// Sides of a grid of so many cells.
std::vector<std::int64_t> sides(std::int64_t cells, std::int64_t axes) {
  std::vector<std::int64_t> list;
  for (std::int64_t left = axes; left > 1; --left) {
    auto side = static_cast<std::int64_t>(std::pow(static_cast<double>(cells), 1 / static_cast<double>(left)) + 1e-9);
    while (side > 1 && cells % side != 0) --side;
    list.push_back(std::max<std::int64_t>(side, 1));
    cells /= list.back();
  }
  list.push_back(cells);
  return list;
}

}  // namespace

std::vector<std::int64_t> coordinates(Placement placement, std::int64_t axes, std::int64_t tokens) {
  const std::int64_t text = placement == Placement::text             ? tokens
                            : placement == Placement::text_and_image ? tokens / 3
                                                                     : 0;
  const std::int64_t cells = tokens - text;
  const std::int64_t walked = placement == Placement::film               ? axes
                              : placement == Placement::image_of_one_row ? 1
                                                                         : std::min<std::int64_t>(axes, 2);
  const std::vector<std::int64_t> grid = sides(cells, walked);
  std::vector<std::int64_t> list;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (std::int64_t token = 0; token < text; ++token) list.push_back(token);
    const std::int64_t on_grid = axis - (axes - walked);
    std::int64_t below = 1;  // cells of one step on this axis
    for (std::int64_t later = on_grid + 1; later < walked; ++later) below *= grid[static_cast<std::size_t>(later)];
    for (std::int64_t cell = 0; cell < cells; ++cell)
      list.push_back(text + (on_grid < 0 ? 0 : cell / below % grid[static_cast<std::size_t>(on_grid)]));
  }
  return list;
}

std::vector<std::int64_t> placed_positions(Placement placement, const PositionRange& range, std::int64_t first,
                                           std::int64_t axes, const Extents& extents) {
  const std::vector<std::int64_t> steps = coordinates(placement, axes, extents.tokens);
  std::vector<std::int64_t> list;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (std::int64_t i = 0; i < extents.batch * extents.tokens; ++i) {
      const std::int64_t step = steps[static_cast<std::size_t>(axis * extents.tokens + i % extents.tokens)];
      list.push_back(range.first + (first - range.first + step) % (range.last - range.first));
    }
  }
  return list;
}

}  // namespace sextant::gen
