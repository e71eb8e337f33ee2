#include "properties/gen/placement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace sextant::gen {
namespace {

using Sides = std::vector<std::int64_t>;

// The divisors of a number of cells up to its root of this degree, the largest first; 1 at least.
Sides divisors_to_root(std::int64_t cells, std::int64_t degree) {
  const auto root =
      static_cast<std::int64_t>(std::pow(static_cast<double>(cells), 1 / static_cast<double>(degree)) + 1e-9);
  Sides list;
  for (std::int64_t side = root; side >= 1; --side) {
    if (cells % side == 0) list.push_back(side);
  }
  if (list.empty()) list.push_back(1);
  return list;
}

// Sides of a grid of so many cells.
Sides sides(std::int64_t cells, std::int64_t axes) {
  Sides list;
  for (std::int64_t left = axes; left > 1; --left) {
    list.push_back(divisors_to_root(cells, left).front());
    cells /= list.back();
  }
  list.push_back(cells);
  return list;
}

std::int64_t cells_of_grid(std::span<const std::int64_t> grid) {
  return std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>());
}

// The tokens of one batch row as they are placed.
class Scene {
 public:
  explicit Scene(std::int64_t axes) : coordinates_(static_cast<std::size_t>(axes)) {}

  std::int64_t axes() const { return std::ssize(coordinates_); }

  void text(std::int64_t tokens, std::int64_t start) {
    for (std::int64_t token = 0; token < tokens; ++token) add([&](std::int64_t) { return start + token; });
  }

  void standing(std::int64_t tokens) {
    for (std::int64_t token = 0; token < tokens; ++token) add([](std::int64_t) { return 0; });
  }

  // Cells in row-major order on the last axes, of which the first goes in steps; the others stay at the start.
  void grid(const Sides& sides, std::int64_t start, std::int64_t step = 1) {
    const std::int64_t staying = axes() - std::ssize(sides);
    for (std::int64_t cell = 0; cell < cells_of_grid(sides); ++cell) {
      add([&](std::int64_t axis) {
        if (axis < staying) return start;
        const auto at = static_cast<std::size_t>(axis - staying);
        const std::int64_t below = cells_of_grid(std::span(sides).subspan(at + 1));
        return start + cell / below % sides[at] * (at == 0 ? step : 1);
      });
    }
  }

  // The same of two axes, of even sides, in blocks of 2 x 2.
  void blocks(const Sides& sides) {
    const std::int64_t across = sides[1] / 2;
    for (std::int64_t cell = 0; cell < cells_of_grid(sides); ++cell) {
      const std::int64_t block = cell / 4;
      const std::int64_t row = block / across * 2 + cell % 4 / 2;
      const std::int64_t column = block % across * 2 + cell % 2;
      add([&](std::int64_t axis) { return axis == axes() - 1 ? column : axis == axes() - 2 ? row : 0; });
    }
  }

  std::int64_t largest() const {
    std::int64_t most = 0;
    for (const auto& axis : coordinates_)
      for (const std::int64_t coordinate : axis) most = std::max(most, coordinate);
    return most;
  }

  std::vector<std::int64_t> list() const {
    std::vector<std::int64_t> all;
    for (const auto& axis : coordinates_) all.insert(all.end(), axis.begin(), axis.end());
    return all;
  }

 private:
  template <class CoordinateOn>
  void add(CoordinateOn on) {
    for (std::int64_t axis = 0; axis < axes(); ++axis) coordinates_[static_cast<std::size_t>(axis)].push_back(on(axis));
  }

  std::vector<std::vector<std::int64_t>> coordinates_;
};

// Rows and columns of an image of so many patches; of one axis its columns.
Sides image_sides(std::int64_t cells, std::int64_t axes, std::span<const std::int64_t> image) {
  if (!image.empty() && std::ssize(image) <= axes && cells_of_grid(image) == cells) return {image.begin(), image.end()};
  return sides(cells, std::min<std::int64_t>(axes, 2));
}

Sides on_its_side(Sides sides) {
  std::ranges::reverse(sides);
  return sides;
}

// How many of the tokens come before the image: that number after which the image is most nearly a square.
std::int64_t tokens_before_image(std::int64_t tokens) {
  std::int64_t best = std::min<std::int64_t>(tokens, 1);
  double least = INFINITY;
  for (const std::int64_t before : {1, 4, 5}) {
    if (before >= tokens) break;
    const Sides grid = sides(tokens - before, 2);
    const double ratio = static_cast<double>(grid[1]) / static_cast<double>(grid[0]);
    if (ratio < least) {
      least = ratio;
      best = before;
    }
  }
  return best;
}

// An image, one on its side, one of sides less alike.
void image_of_row(Scene& scene, std::int64_t row, const Sides& grid) {
  switch (row % 3) {
    case 1: scene.grid(on_its_side(grid), 0); break;
    case 2: {
      const Sides shorter = divisors_to_root(cells_of_grid(grid), 2);
      const std::int64_t side = shorter[std::min<std::size_t>(1, shorter.size() - 1)];
      grid.size() < 2 ? scene.grid(grid, 0) : scene.grid({side, cells_of_grid(grid) / side}, 0);
      break;
    }
    default: scene.grid(grid, 0);
  }
}

// Frames, and the sides of each, which together are no more than there are frames.
Sides long_film(std::int64_t cells, std::int64_t axes) {
  if (axes < 2) return {cells};
  Sides grid = sides(divisors_to_root(cells, 2).front(), axes - 1);
  grid.insert(grid.begin(), cells / cells_of_grid(grid));
  return grid;
}

}  // namespace

std::int64_t rows_of(Placement placement) {
  switch (placement) {
    case Placement::images_of_rows: return 3;
    case Placement::image_elsewhere: return 2;
    default: return 1;
  }
}

std::vector<std::int64_t> coordinates(Placement placement, std::int64_t axes, std::int64_t tokens, std::int64_t row,
                                      std::span<const std::int64_t> image) {
  constexpr std::int64_t step_of_time = 2;
  Scene scene(axes);
  const auto image_of = [&](std::int64_t cells) { return image_sides(cells, axes, image); };
  switch (placement) {
    case Placement::text: scene.text(tokens, 0); break;
    case Placement::image: scene.grid(image_of(tokens), 0); break;
    case Placement::image_of_one_row: scene.grid({tokens}, 0); break;
    case Placement::film: scene.grid(sides(tokens, axes), 0); break;
    case Placement::text_and_image: {
      const std::int64_t text = tokens / 3;
      scene.text(text, 0);
      scene.grid(image_of(tokens - text), text);
      break;
    }
    case Placement::portrait: scene.grid(on_its_side(image_of(tokens)), 0); break;
    case Placement::image_of_one_column: axes < 2 ? scene.grid({tokens}, 0) : scene.grid({tokens, 1}, 0); break;
    case Placement::strip: {
      Sides narrow = divisors_to_root(tokens, 2);
      const std::int64_t columns = narrow.size() < 2 ? 1 : narrow[narrow.size() - 2];
      axes < 2 ? scene.grid({tokens}, 0) : scene.grid({tokens / columns, columns}, 0);
      break;
    }
    case Placement::blocks: {
      if (axes < 2 || tokens % 4 != 0) return coordinates(Placement::image, axes, tokens, row, image);
      Sides merged = sides(tokens / 4, 2);
      for (std::int64_t& side : merged) side *= 2;
      scene.blocks(merged);
      break;
    }
    case Placement::packed_images: {
      const std::int64_t first = tokens * 3 / 5;
      scene.grid(image_of(first), 0);
      scene.grid(image_of(tokens - first), 0);
      break;
    }
    case Placement::class_token_first: {
      const std::int64_t before = tokens_before_image(tokens);
      scene.standing(before);
      scene.grid(image_of(tokens - before), 0);
      break;
    }
    case Placement::class_token_last: {
      scene.grid(image_of(tokens - 1), 1);
      scene.standing(1);
      break;
    }
    case Placement::images_of_rows: image_of_row(scene, row, image_of(tokens)); break;
    case Placement::image_elsewhere: {
      constexpr std::int64_t elsewhere = 5;
      scene.grid(image_of(tokens), row % 2 * elsewhere);
      break;
    }
    case Placement::long_film: scene.grid(long_film(tokens, axes), 0, step_of_time); break;
    case Placement::text_image_text: {
      const std::int64_t before = tokens / 6;
      const std::int64_t behind = tokens / 5;
      scene.text(before, 0);
      scene.grid(image_of(tokens - before - behind), before);
      scene.text(behind, scene.largest() + 1);
      break;
    }
    case Placement::text_and_film: {
      const std::int64_t text = tokens / 4;
      scene.text(text, 0);
      scene.grid(sides(tokens - text, axes), text, step_of_time);
      break;
    }
  }
  return scene.list();
}

std::vector<std::int64_t> placed_positions(Placement placement, const PositionRange& range, std::int64_t first,
                                           std::int64_t axes, const Extents& extents,
                                           std::span<const std::int64_t> image) {
  std::vector<std::vector<std::int64_t>> rows;  // those that differ
  for (std::int64_t row = 0; row < std::min(extents.batch, rows_of(placement)); ++row)
    rows.push_back(coordinates(placement, axes, extents.tokens, row, image));
  std::vector<std::int64_t> list;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (std::int64_t row = 0; row < extents.batch; ++row) {
      const auto& steps = rows[static_cast<std::size_t>(row) % rows.size()];
      for (std::int64_t token = 0; token < extents.tokens; ++token) {
        const std::int64_t step = steps[static_cast<std::size_t>(axis * extents.tokens + token)];
        list.push_back(range.first + (first - range.first + step) % (range.last - range.first));
      }
    }
  }
  return list;
}

}  // namespace sextant::gen
