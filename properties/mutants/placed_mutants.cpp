#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "properties/mutants/local_fault.hpp"

// Rotations by several axes that are right for texts and for one landscape at a time, and wrong in other calls of
// towers and of video models: portraits, batches of images that differ, packed images, patches in blocks, class tokens,
// text behind an image, films.

namespace sextant::mutants::placed_mutants {
namespace {

constexpr const char* tower =
    R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"per_axis","max_position":4096})";
constexpr const char* multimodal = R"({"encoding":"rope_nd","head_dim":32,"sections":[4,6,6],"max_position":8192})";
constexpr const char* named_image = R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"per_axis",)"
                                    R"("rope_theta":100,"coordinates":"normalized","extents":[14,37]})";
constexpr const char* attention =
    R"({"encoding":"attention","num_heads":2,"head_dim":16,"max_position":4096,"position":{"encoding":"rope_nd",)"
    R"("head_dim":16,"sections":[4,4],"frequencies":"per_axis"}})";

using Coordinates = std::vector<std::vector<std::int64_t>>;  // [axis][token], of one batch row

struct Grid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// The cells that a row counts from (0, 0): one more than its largest coordinate on either axis.
Grid bounding(const Coordinates& row) {
  return {1 + *std::ranges::max_element(row[0]), 1 + *std::ranges::max_element(row[1])};
}

bool is_grid(const Coordinates& row, const std::function<std::int64_t(Grid grid, std::int64_t cell)>& place) {
  const Grid grid = bounding(row);
  const std::int64_t cells = std::ssize(row[0]);
  if (grid.rows < 2 || grid.columns < 2 || grid.rows * grid.columns != cells) return false;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const auto i = static_cast<std::size_t>(cell);
    if (row[0][i] * grid.columns + row[1][i] != place(grid, cell)) return false;
  }
  return true;
}

bool is_image(const Coordinates& row) {
  return is_grid(row, [](Grid, std::int64_t cell) { return cell; });
}

bool is_in_blocks(const Coordinates& row) {
  return is_grid(row, [](Grid grid, std::int64_t cell) {
    if (grid.rows % 2 != 0 || grid.columns % 2 != 0) return std::int64_t{-1};
    const std::int64_t across = grid.columns / 2;
    const std::int64_t block = cell / 4;
    return (block / across * 2 + cell % 4 / 2) * grid.columns + block % across * 2 + cell % 2;
  });
}

void set_raster(Coordinates& row, Grid grid) {
  for (std::size_t i = 0; i < row[0].size(); ++i) {
    row[0][i] = static_cast<std::int64_t>(i) / grid.columns;
    row[1][i] = static_cast<std::int64_t>(i) % grid.columns;
  }
}

bool is_text_at(const Coordinates& row, std::size_t token) {
  return std::ranges::all_of(row, [&](const auto& axis) { return axis[token] == row[0][token]; });
}

using Change = std::function<void(std::vector<Coordinates>& rows)>;

Tensors changed(const Tensors& inputs, const Change& change) {
  const Tensor& positions = inputs.at("positions");
  // A sibling of attention may have positions of one axis.
  if (positions.shape.size() < 3 || positions.shape[0] < 2) return inputs;
  const auto axes = static_cast<std::size_t>(positions.shape[0]);
  const auto batch = static_cast<std::size_t>(positions.shape[1]);
  const auto tokens = static_cast<std::size_t>(positions.shape[2]);
  std::vector<std::int64_t> list = positions.integers();
  if (list.empty()) return inputs;
  std::vector<Coordinates> rows(batch, Coordinates(axes, std::vector<std::int64_t>(tokens)));
  const auto each = [&](const auto& visit) {
    for (std::size_t axis = 0; axis < axes; ++axis)
      for (std::size_t row = 0; row < batch; ++row)
        for (std::size_t token = 0; token < tokens; ++token)
          visit(list[(axis * batch + row) * tokens + token], rows[row][axis][token]);
  };
  each([](std::int64_t value, std::int64_t& coordinate) { coordinate = value; });
  change(rows);
  each([](std::int64_t& value, std::int64_t coordinate) { value = coordinate; });
  Tensors result = inputs;
  result.at("positions") = Tensor::of_integers(positions.shape, list);
  return result;
}

FunctionSubject::Make with_rows(Change change) {
  return [change = std::move(change)](const Spec& spec) -> FunctionSubject::Call {
    return [change, honest = plain_call(spec)](std::string_view operation, const Tensors& inputs) {
      const bool is_whole_call = inputs.contains("positions") && !inputs.contains("query_positions");
      return honest(operation, is_whole_call ? changed(inputs, change) : inputs);
    };
  };
}

Change each_row(std::function<void(Coordinates& row)> change) {
  return [change = std::move(change)](std::vector<Coordinates>& rows) {
    for (Coordinates& row : rows) change(row);
  };
}

void swap_axes_of_portraits(Coordinates& row) {
  const Grid grid = bounding(row);
  if (is_image(row) && grid.rows > grid.columns) std::swap(row[0], row[1]);
}

void grid_of_first_row(std::vector<Coordinates>& rows) {
  if (!std::ranges::all_of(rows, is_image)) return;
  for (Coordinates& row : rows) row = rows.front();
}

// As a cache of grids by their sides has them.
void place_of_first_row(std::vector<Coordinates>& rows) {
  if (!is_image(rows.front())) return;
  for (Coordinates& row : rows) {
    Coordinates moved = row;
    for (auto& axis : moved) {
      const std::int64_t start = axis.front();
      for (std::int64_t& coordinate : axis) coordinate -= start;
    }
    if (moved == rows.front()) row = rows.front();
  }
}

// As a cache of grids that are moved to where an image begins has them.
void shape_of_first_row(std::vector<Coordinates>& rows) {
  const Coordinates first = rows.front();
  if (!is_image(first)) return;
  for (Coordinates& row : rows) {
    for (std::size_t axis = 0; axis < row.size(); ++axis) {
      const std::int64_t start = row[axis].front() - first[axis].front();
      for (std::size_t token = 0; token < row[axis].size(); ++token) row[axis][token] = start + first[axis][token];
    }
  }
}

void blocks_as_raster(Coordinates& row) {
  if (bounding(row).columns > 2 && is_in_blocks(row)) set_raster(row, bounding(row));
}

void second_image_goes_on(Coordinates& row) {
  const std::size_t tokens = row[0].size();
  for (std::size_t token = 4; token < tokens; ++token) {
    if (row[0][token] != 0 || row[1][token] != 0) continue;
    Coordinates first{{row[0].begin(), row[0].begin() + static_cast<std::ptrdiff_t>(token)},
                      {row[1].begin(), row[1].begin() + static_cast<std::ptrdiff_t>(token)}};
    if (!is_image(first)) return;
    const std::int64_t rows = bounding(first).rows;
    for (std::size_t later = token; later < tokens; ++later) row[0][later] += rows;
    return;
  }
}

void last_class_token_goes_on(Coordinates& row) {
  const std::size_t last = row[0].size() - 1;
  if (last < 2 || row[0][last] != 0 || row[1][last] != 0 || row[0].front() != 1 || row[1].front() != 1) return;
  row[0][last] = row[0][last - 1] + 1;
}

// From the first text behind what is no text on.
void text_counts_tokens(Coordinates& row) {
  const std::size_t tokens = row[0].size();
  std::size_t behind = tokens;
  while (behind > 0 && is_text_at(row, behind - 1)) --behind;
  if (behind == 0 || behind == tokens) return;
  for (auto& axis : row)
    for (std::size_t token = behind; token < tokens; ++token) axis[token] = static_cast<std::int64_t>(token);
}

// Time in steps of two, as that of two frames a patch, is taken for steps of one.
void time_in_single_steps(Coordinates& row) {
  std::vector<std::int64_t>& time = row[0];
  if (std::ranges::is_sorted(time) && time.front() != time.back() &&
      std::ranges::all_of(time, [&](std::int64_t t) { return (t - time.front()) % 2 == 0; })) {
    for (std::int64_t& t : time) t = time.front() + (t - time.front()) / 2;
  }
}

void sixteen_frames(Coordinates& row) {
  if (!std::ranges::is_sorted(row[0]) || is_text_at(row, row[0].size() - 1)) return;
  for (std::int64_t& t : row[0]) t = std::min<std::int64_t>(t, row[0].front() + 30);
}

void on_its_side(Coordinates& row) {
  const Grid grid = bounding(row);
  if (grid.rows == 14 && grid.columns == 37 && is_image(row)) set_raster(row, {37, 14});
}

// The coordinates of an image are kept by the number of its patches.
FunctionSubject::Make grids_by_count() {
  return [](const Spec& spec) -> FunctionSubject::Call {
    return [honest = plain_call(spec), kept = std::map<std::size_t, Coordinates>()](std::string_view operation,
                                                                                    const Tensors& inputs) mutable {
      return honest(operation, changed(inputs, each_row([&](Coordinates& row) {
                                         if (is_image(row)) row = kept.emplace(row[0].size(), row).first->second;
                                       })));
    };
  };
}

// An honest one: a table of each axis, read by the grid that a row is seen to be.
void raster_again(Coordinates& row) {
  if (is_image(row)) set_raster(row, bounding(row));
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  const auto defect = [&](const char* name, const char* mechanism, const char* spec, FunctionSubject::Make make) {
    list.add(Kind::defect, name, mechanism, spec, std::move(make));
  };
  defect("axial-portraits-swapped", "rows and columns change places where an image has more rows than columns", tower,
         with_rows(each_row(swap_axes_of_portraits)));
  defect("axial-grid-of-first-row", "a batch of images has the grid of its first", tower, with_rows(grid_of_first_row));
  defect("axial-shape-of-first-row", "later images have the grid of the first, moved to where they begin", tower,
         with_rows(shape_of_first_row));
  defect("axial-place-of-first-row", "later images of the same grid stand where the first does", tower,
         with_rows(place_of_first_row));
  defect("axial-grids-by-count", "coordinates of an image are kept by the number of its patches", tower,
         grids_by_count());
  defect("axial-blocks-as-raster", "patches in blocks of 2 x 2 are taken row after row", tower,
         with_rows(each_row(blocks_as_raster)));
  defect("axial-packed-goes-on", "a second image in a row begins where the first ended", tower,
         with_rows(each_row(second_image_goes_on)));
  defect("axial-class-token-last", "a class token behind an image stands in its next row", tower,
         with_rows(each_row(last_class_token_goes_on)));
  defect("axial-text-behind-image", "text behind an image counts tokens instead of places", multimodal,
         with_rows(each_row(text_counts_tokens)));
  defect("axial-time-in-single-steps", "a film whose time goes in steps of two has steps of one", multimodal,
         with_rows(each_row(time_in_single_steps)));
  defect("axial-sixteen-frames", "a film's time stops after sixteen frames", multimodal,
         with_rows(each_row(sixteen_frames)));
  defect("axial-named-image-on-its-side", "the whole image of the claim is taken for one on its side", named_image,
         with_rows(each_row(on_its_side)));
  defect("attention-axial-portraits-swapped", "rows and columns change places where an image is a portrait", attention,
         with_rows(each_row(swap_axes_of_portraits)));
  defect("attention-axial-grid-of-first-row", "a batch of images has the grid of its first", attention,
         with_rows(grid_of_first_row));
  list.add(Kind::control, "axial-image-recognized", "the grid of an image is recognized, and its tables read by it",
           tower, with_rows(each_row(raster_again)));
  return std::move(list.entries);
}

}  // namespace sextant::mutants::placed_mutants
