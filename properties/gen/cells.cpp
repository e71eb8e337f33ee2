#include "properties/gen/cells.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "lib/numeric/index.hpp"
#include "properties/gen/extent.hpp"
#include "properties/gen/order.hpp"
#include "properties/gen/values.hpp"

namespace sextant::gen {
namespace {

using Sides = std::vector<std::int64_t>;

// Capped, since the axes of a claim may have any number of coordinates.
std::int64_t cells_of(std::span<const std::int64_t> sides) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  std::int64_t cells = 1;
  for (const std::int64_t side : sides) cells = side > 0 && cells > most / side ? most : cells * side;
  return cells;
}

// The same of the cells, one by one on the last axis.
std::int64_t in_no_order(std::int64_t i, std::int64_t count) {
  return (steps(Order::shuffled, 0, i, count) + count / 3) % count;
}
std::int64_t in_no_order_inside(std::int64_t i, std::int64_t count) {
  return steps(Order::shuffled_between_ends, 0, i, count);
}

// Cell `cell` of a grid where axes change in the order of `slowest_first`.
Sides cell_at(const Sides& sides, std::int64_t cell, const std::vector<std::size_t>& slowest_first) {
  Sides place(sides.size());
  for (auto axis = slowest_first.rbegin(); axis != slowest_first.rend(); ++axis) {
    place[*axis] = cell % sides[*axis];
    cell /= sides[*axis];
  }
  return place;
}

std::vector<std::size_t> axes_in_order(std::size_t count) {
  std::vector<std::size_t> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// In tiles of `tile` on the last two axes; a tile at an edge has what there is.
Sides in_tiles(const Sides& sides, std::int64_t cell, std::int64_t tile) {
  const std::size_t axes = sides.size();
  if (axes < 2) return cell_at(sides, cell, axes_in_order(axes));
  const std::int64_t rows = sides[axes - 2];
  const std::int64_t columns = sides[axes - 1];
  Sides place = cell_at(sides, cell, axes_in_order(axes));
  std::int64_t left = cell % (rows * columns);
  const std::int64_t row_of_tiles = left / (tile * columns);
  const std::int64_t height = std::min(tile, rows - row_of_tiles * tile);
  left -= row_of_tiles * tile * columns;
  const std::int64_t column_of_tiles = left / (tile * height);
  const std::int64_t width = std::min(tile, columns - column_of_tiles * tile);
  left -= column_of_tiles * tile * height;
  place[axes - 2] = row_of_tiles * tile + left / width;
  place[axes - 1] = column_of_tiles * tile + left % width;
  return place;
}

Sides point_at(const Sides& sides, std::int64_t number, bool has_zeros) {
  Sides place;
  for (std::size_t axis = 0; axis < sides.size(); ++axis) {
    const std::uint64_t drawn = word(number, static_cast<std::int64_t>(axis)) >> 1;
    const std::int64_t side = sides[axis];
    const bool is_zero = side < 2 || (has_zeros && (number >> axis & 1) == 0);
    place.push_back(is_zero ? 0 : 1 + static_cast<std::int64_t>(drawn) % (side - 1));
  }
  return place;
}

// Where token `i` of a grid lies, from the grid's first cell on, in steps.
Sides place_in(const CellGrid& grid, std::int64_t i) {
  const Sides& sides = grid.sides;
  const std::int64_t cells = cells_of(sides);
  const std::int64_t width = sides.back();
  const std::int64_t rows = cells / width;
  const std::int64_t row = i / width;
  const std::int64_t column = i % width;
  std::vector<std::size_t> axes = axes_in_order(sides.size());
  const auto raster = [&](std::int64_t cell) { return cell_at(sides, cell, axes); };
  switch (grid.walk) {
    case Walk::rows: return raster(i);
    case Walk::columns: std::ranges::reverse(axes); return raster(i);
    case Walk::frames_last: std::rotate(axes.begin(), axes.begin() + 1, axes.end()); return raster(i);
    case Walk::snake: return raster(row * width + (row % 2 == 0 ? column : width - 1 - column));
    case Walk::backwards: return raster(cells - 1 - i);
    case Walk::upside_down: return raster((rows - 1 - row) * width + column);
    case Walk::mirrored: return raster(row * width + width - 1 - column);
    case Walk::rows_shuffled: return raster(in_no_order(row, rows) * width + column);
    case Walk::rows_shuffled_inside: return raster(in_no_order_inside(row, rows) * width + column);
    case Walk::shuffled_within_rows: return raster(row * width + in_no_order_inside(column, width));
    case Walk::shuffled: return raster(in_no_order(i, cells));
    case Walk::shuffled_inside: return raster(in_no_order_inside(i, cells));
    case Walk::exchanged: {
      const std::int64_t middle = cells / 2;
      const bool changes = cells > 3 && (i == middle || i == middle - 1);
      return raster(changes ? 2 * middle - 1 - i : i);
    }
    case Walk::repeated: return raster(cells > 2 && i == cells / 2 ? i - 1 : i);
    case Walk::tiles_of_two: return in_tiles(sides, i, 2);
    case Walk::tiles_of_seven: return in_tiles(sides, i, 7);
    case Walk::points: return point_at(sides, i, false);
    case Walk::points_with_zeros: return point_at(sides, i, true);
  }
  return raster(i);
}

// The sides, cut so that all cells are at most `most`: frames first, then columns and rows to what images have.
Sides cut_to(Sides sides, std::int64_t most) {
  const std::size_t axes = sides.size();
  for (std::size_t axis = 0; axis + 2 < axes; ++axis) {
    const std::int64_t behind = cells_of(std::span(sides).last(axes - 1 - axis));
    sides[axis] = std::min(sides[axis], std::max<std::int64_t>(most / behind, 1));
  }
  constexpr std::int64_t usual_columns = 32;
  constexpr std::int64_t usual_rows = 24;
  if (cells_of(sides) > most) sides[axes - 1] = std::min({sides[axes - 1], usual_columns, most});
  if (cells_of(sides) > most) sides[axes - 2] = std::min({sides[axes - 2], usual_rows, most / sides[axes - 1]});
  return sides;
}

// A list of calls as it grows.
class Calls {
 public:
  Calls(std::span<const std::int64_t> sides, const MostTokens& most)
      : most_(most), claimed_(sides.begin(), sides.end()), sides_(cut_to(claimed_, most.often)) {
    const Sides whole = cut_to(claimed_, most.once);
    for (std::int64_t walk = 0; walk < walks; ++walk) add({sides_, static_cast<Walk>(walk)});
    lines();
    pieces();
    surrounded();
    several();
    if (whole != sides_) large(whole);
    sizes();
  }

  std::vector<CellCall> list;

 private:
  void add(CellCall call) {
    // A part that would reach beyond the claim lies at its end.
    for (CellGrid& grid : call.grids) {
      for (std::size_t axis = 0; axis < grid.first.size(); ++axis)
        grid.first[axis] = std::min(grid.first[axis], claimed_[axis] - 1 - (grid.sides[axis] - 1) * grid.step);
    }
    const std::int64_t tokens = tokens_of(call);
    if (tokens >= 1 && tokens <= most_.once) list.push_back(std::move(call));
  }
  void add(CellGrid grid) { add(CellCall{.grids = {std::move(grid)}}); }

  std::int64_t rows() const { return sides_[sides_.size() - 2]; }
  std::int64_t columns() const { return sides_.back(); }
  std::int64_t cells() const { return cells_of(sides_); }

  // So many frames, of two axes none, of so many rows and columns; no more than the claim has.
  Sides frame(std::int64_t height, std::int64_t width, std::int64_t frames = 1) const {
    Sides sides(claimed_.size(), 1);
    sides.front() = std::clamp<std::int64_t>(frames, 1, claimed_.front());
    sides[sides.size() - 2] = std::clamp<std::int64_t>(height, 1, claimed_[sides.size() - 2]);
    sides.back() = std::clamp<std::int64_t>(width, 1, claimed_.back());
    return sides;
  }
  Sides at(std::int64_t row, std::int64_t column) const {
    Sides place(sides_.size(), 0);
    place[place.size() - 2] = std::clamp<std::int64_t>(row, 0, rows() - 1);
    place.back() = std::clamp<std::int64_t>(column, 0, columns() - 1);
    return place;
  }

  // Along each axis: every other coordinate is 0.
  void lines() {
    for (std::size_t axis = 0; axis < sides_.size(); ++axis) {
      Sides line(sides_.size(), 1);
      line[axis] = sides_[axis];
      add({line, Walk::rows});
      add({line, Walk::shuffled});
    }
  }

  void pieces() {
    const std::int64_t all = cells();
    for (const auto& [skipped, kept] : {std::pair{std::int64_t{0}, all - 1},
                                        {std::int64_t{1}, all - 1},
                                        {all / 3, all / 3 + 1},
                                        {all / 2, all - all / 2},
                                        {std::int64_t{0}, all / 2},
                                        {columns() / 2, columns()}})
      add({.grids = {{sides_}}, .skipped = skipped, .kept = kept});
    // As many tokens as there are cells, from the middle on, and round to where they began.
    add({.grids = {{sides_}, {sides_}}, .skipped = all / 2, .kept = all});
    for (const std::int64_t row : {std::int64_t{1}, rows() / 2, rows() - 1})
      add({.sides = frame(1, columns()), .first = at(row, 0)});
    for (const std::int64_t column : {std::int64_t{1}, columns() / 2, columns() - 1})
      add({.sides = frame(rows(), 1), .first = at(0, column)});
    add({.sides = frame(rows() / 2, columns() / 2), .first = at(rows() / 4, columns() / 4)});
    add({.sides = frame(rows() / 2, columns() / 2)});
    add({.sides = frame(rows() / 2, columns() / 2), .first = at(rows() / 2, columns() / 2)});
    add({.sides = frame((rows() + 1) / 2, (columns() + 1) / 2), .step = 2});
    one_less(sides_);
    if (sides_.size() < 3) return;
    for (const std::int64_t frames : {std::int64_t{1}, std::int64_t{2}, sides_.front() / 2}) {
      CellGrid film{.sides = frame(rows(), columns(), frames)};
      add(film);
      film.first = Sides(sides_.size(), 0);
      film.first.front() = claimed_.front() - film.sides.front();
      add(film);
    }
  }

  // Grids that lack the last, or the first, coordinate of one axis.
  void one_less(const Sides& sides) {
    for (const std::size_t axis : axes_in_order(sides.size())) {
      if (sides[axis] < 2) continue;
      Sides shorter = sides;
      --shorter[axis];
      add({shorter, Walk::rows});
      Sides first(sides.size(), 0);
      first[axis] = 1;
      add({.sides = std::move(shorter), .first = std::move(first)});
    }
  }

  // Of a grid that is asked for a few times only: the telling calls come first.
  void large(const Sides& sides) {
    std::vector<CellCall> others;
    std::swap(list, others);
    const std::int64_t all = cells_of(sides);
    for (const Walk walk : {Walk::rows, Walk::columns, Walk::rows_shuffled_inside, Walk::shuffled_inside})
      add({sides, walk});
    add({.grids = {{sides}, {sides}}, .skipped = all / 2, .kept = all});
    add({sides, Walk::snake});
    add({.grids = {{sides}}, .before = 1});
    one_less(sides);
    add({.grids = {{sides}}, .kept = all - 1});
    for (const Walk walk : {Walk::exchanged, Walk::backwards, Walk::mirrored, Walk::shuffled_within_rows})
      add({sides, walk});
    std::int64_t left = most_.together;
    std::swap(list, others);
    for (CellCall& call : others) {
      left -= tokens_of(call);
      if (left >= 0) list.push_back(std::move(call));
    }
  }

  void surrounded() {
    for (const std::int64_t tokens : {1, 4, 5}) {
      add({.grids = {{sides_}}, .before = tokens});
      add({.grids = {{sides_}}, .after = tokens});
    }
    add({.grids = {{sides_}}, .before = 1, .after = 2});
    // As many tokens in all as there are cells.
    add({.grids = {{sides_}}, .before = 1, .kept = cells() - 1});
    add({.grids = {{frame(rows() / 2, columns())}}, .before = 1});
  }

  void several() {
    const CellGrid own{.sides = frame(rows(), columns())};
    const CellGrid top{.sides = frame(rows() / 2, columns())};
    const CellGrid narrow{.sides = frame(rows(), columns() / 2)};
    const CellGrid small{.sides = frame(3, 5)};
    const CellGrid lying{.sides = frame(columns(), rows())};
    add(CellCall{{own, own}});
    add(CellCall{{small, small, small, small}});
    add(CellCall{{top, top}});
    add(CellCall{{narrow, narrow}});
    add(CellCall{{own, small}});
    add(CellCall{{small, own}});
    add(CellCall{{top, narrow, small}});
    add(CellCall{{lying, small}});
    add(CellCall{{small, {.sides = small.sides, .first = at(2, 1)}}});
    // Each cell twice, side by side, as of pairs of images that are interleaved.
    CellCall twice;
    for (std::int64_t row = 0; row < std::min<std::int64_t>(rows(), 6); ++row)
      for (int again = 0; again < 2; ++again) twice.grids.push_back({.sides = frame(1, 6), .first = at(row, 0)});
    add(std::move(twice));
  }

  // The first cells of grids of several widths, of as many rows as it takes; where the claim has fewer, the grid again.
  void of_length(std::int64_t tokens) {
    if (tokens < 1 || tokens > most_.length) return;
    std::int64_t root = 1;
    while (root * root < tokens) ++root;
    const Sides sides = tokens % 3 == 0 && root > 2 ? frame(root, root) : sides_;
    const std::int64_t cells_in_grid = cells_of(sides);
    CellCall call{.skipped = tokens % 5 == 4 ? std::int64_t{3} : 0, .kept = tokens};
    constexpr std::int64_t most_grids = 4096;
    while (std::ssize(call.grids) < most_grids && std::ssize(call.grids) * cells_in_grid < tokens + call.skipped)
      call.grids.push_back({.sides = sides});
    if (tokens_of(call) == tokens) list.push_back(std::move(call));
  }

  void sizes() {
    // Of towers, detectors, films' frames and depth maps, and primes.
    constexpr std::pair<std::int64_t, std::int64_t> images[] = {
        {7, 7},   {8, 8},   {14, 14}, {16, 16}, {15, 20}, {13, 19}, {24, 24}, {27, 27}, {25, 34}, {31, 33},
        {32, 32}, {30, 40}, {37, 37}, {17, 64}, {64, 17}, {38, 50}, {60, 80}, {64, 64}, {63, 65}, {67, 101}};
    for (const auto& [height, width] : images) {
      if (height <= claimed_[claimed_.size() - 2] && width <= claimed_.back()) add({.sides = frame(height, width)});
    }
    for (const std::int64_t frames : {3, 4, 7, 8, 16}) {
      if (sides_.size() > 2 && frames < claimed_.front()) add({.sides = frame(8, 6, frames)});
    }
    for (std::int64_t power = 2; power <= 8192; power *= 2) {
      for (const std::int64_t tokens : {power - 1, power, power + 1}) of_length(tokens);
    }
    for (const std::int64_t tokens : {34, 35, 36}) of_length(tokens);
    for (const std::int64_t tokens : usual_extents()) {
      if (tokens <= 2 * most_.often) of_length(tokens);
    }
  }

  MostTokens most_;
  Sides claimed_;
  Sides sides_;  // of the grid that is asked in every walk
};

}  // namespace

std::int64_t tokens_of(const CellCall& call) {
  std::int64_t cells = 0;
  for (const CellGrid& grid : call.grids) cells += cells_of(grid.sides);
  cells = std::max<std::int64_t>(cells - call.skipped, 0);
  return call.before + std::min(cells, call.kept.value_or(cells)) + call.after;
}

std::vector<std::int64_t> coordinates_of(const CellCall& call) {
  const std::size_t axes = call.grids.front().sides.size();
  std::vector<Sides> places(index(call.before), Sides(axes, 0));
  const std::int64_t kept = tokens_of(call) - call.before - call.after;
  std::int64_t number = -call.skipped;
  for (const CellGrid& grid : call.grids) {
    const std::int64_t cells = cells_of(grid.sides);
    std::int64_t i = std::min(std::max<std::int64_t>(-number, 0), cells);
    number += i;
    for (; i < cells && number < kept; ++i, ++number) {
      Sides place = place_in(grid, i);
      for (std::size_t axis = 0; axis < axes; ++axis)
        place[axis] = place[axis] * grid.step + (grid.first.empty() ? 0 : grid.first[axis]);
      places.push_back(std::move(place));
    }
  }
  places.resize(places.size() + index(call.after), Sides(axes, 0));
  std::vector<std::int64_t> list;
  for (std::size_t axis = 0; axis < axes; ++axis)
    for (const Sides& place : places) list.push_back(place[axis]);
  return list;
}

std::vector<CellCall> cell_calls(std::span<const std::int64_t> sides, const MostTokens& most) {
  return std::move(Calls(sides, most).list);
}

CellCall drawn_cell_call(std::span<const std::int64_t> sides, std::int64_t most, std::int64_t number) {
  std::int64_t asked = 0;
  const auto draw = [&](std::int64_t below) {
    return static_cast<std::int64_t>(word(number, asked++) >> 1) % std::max<std::int64_t>(below, 1);
  };
  CellCall call{.before = draw(4) == 0 ? 1 + draw(5) : 0, .after = draw(4) == 0 ? 1 + draw(3) : 0};
  const std::int64_t grids = draw(3) == 0 ? 2 : 1;
  std::int64_t room = std::max<std::int64_t>((most - call.before - call.after) / grids, 1);
  for (std::int64_t i = 0; i < grids; ++i) {
    CellGrid grid{
        .sides = Sides(sides.size(), 1), .walk = static_cast<Walk>(draw(walks)), .first = Sides(sides.size())};
    std::int64_t left = room;
    for (std::size_t axis = sides.size(); axis-- > 0;) {
      constexpr std::int64_t usual_side = 80;
      const bool is_whole = draw(3) == 0;
      const std::int64_t most_here =
          std::min({sides[axis], left, axis + 2 < sides.size() ? usual_side / 8 : usual_side});
      grid.sides[axis] = is_whole && sides[axis] <= left ? sides[axis] : 1 + draw(most_here);
      left /= grid.sides[axis];
      grid.first[axis] = draw(2) == 0 ? 0 : draw(sides[axis] - grid.sides[axis] + 1);
    }
    call.grids.push_back(std::move(grid));
  }
  const std::int64_t cells = tokens_of(call) - call.before - call.after;
  if (draw(4) == 0) call.skipped = draw(cells);
  if (draw(4) == 0) call.kept = 1 + draw(cells - call.skipped);
  return call;
}

}  // namespace sextant::gen
