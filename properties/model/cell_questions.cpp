#include "properties/model/cell_questions.hpp"

#include <algorithm>

#include "lib/numeric/index.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/order.hpp"

namespace sextant {
namespace {

// Fills of these questions: a number of the list, a drawing, the first cell of a block of the sweep. Some bits below
// the list's own tell tables and vectors apart.
constexpr std::int64_t list_fills = std::int64_t{1} << 16;
constexpr std::int64_t drawing_fills = std::int64_t{1} << 20;
constexpr std::int64_t drawings = std::int64_t{1} << 20;
constexpr std::int64_t block_fills = std::int64_t{1} << 28;

gen::MostTokens most_tokens(const CellSpace& space) {
  const auto tokens_of = [&](std::int64_t values) { return values / space.values; };
  const std::int64_t most = std::clamp<std::int64_t>(tokens_of(std::int64_t{1} << 20), 1600, longest_drawn);
  // A grid that is not larger is asked as a whole, however dear.
  std::int64_t cells = 1;
  for (const std::int64_t side : space.sides()) cells = std::min(cells * std::min(side, most + 1), most + 1);
  const std::int64_t cheap = std::clamp<std::int64_t>(most / space.dearness, std::min<std::int64_t>(most, 2050), most);
  return {.often = std::clamp<std::int64_t>(tokens_of(std::int64_t{1} << 17) / space.dearness, 256, 1100),
          .once = cells <= most ? std::max(cheap, cells) : cheap,
          .together = std::max<std::int64_t>(tokens_of(std::int64_t{1} << 23) / space.dearness, 16384),
          .length = cheap};
}

gen::CellCall block_from(const CellSpace& space, std::int64_t first, std::int64_t tokens) {
  gen::CellGrid all;
  for (const gen::PositionRange& axis : space.axes) all.sides.push_back(axis.last - axis.first);
  return {.grids = {std::move(all)}, .skipped = first, .kept = tokens};
}

// The cells that a question asks for in a batch row, as many as it has tokens or fewer; nothing of another question.
std::optional<gen::CellCall> call_of(const CellSpace& space, const Question& question, std::int64_t row) {
  if (question.fill < list_fills) return std::nullopt;
  if (question.fill >= block_fills)
    return block_from(space, (question.fill - block_fills) % cells_of(space), question.tokens);
  const std::vector<std::int64_t> sides = space.sides();
  if (question.fill >= drawing_fills)
    return gen::drawn_cell_call(sides, most_tokens(space).often, question.fill - drawing_fills + row * drawings);
  const std::vector<gen::CellCall> list = gen::cell_calls(sides, most_tokens(space));
  return list[index((question.fill - list_fills + row) % std::ssize(list))];
}

}  // namespace

std::vector<std::int64_t> CellSpace::sides() const {
  if (!grid.empty()) return grid;
  std::vector<std::int64_t> list;
  for (const gen::PositionRange& axis : axes)
    list.push_back(std::max<std::int64_t>((axis.last - std::max<std::int64_t>(axis.first, 0)) / step, 1));
  return list;
}

std::vector<Question> questions_of_cells(const CellSpace& space, std::int64_t position) {
  std::vector<Question> questions;
  if (space.axes.size() < 2) return questions;
  const std::vector<gen::CellCall> list = gen::cell_calls(space.sides(), most_tokens(space));
  for (std::int64_t number = 0; number < std::ssize(list); ++number)
    questions.push_back({.position = position, .tokens = tokens_of(list[index(number)]), .fill = list_fills + number});
  return questions;
}

std::vector<Question> questions_of_placements(const CellSpace& space, std::int64_t position) {
  std::vector<Question> questions;
  if (space.axes.size() < 2) return questions;
  for (const std::int64_t tokens : {12, 35, 96, 240}) {
    for (std::int64_t placement = 0; placement < gen::placements; ++placement)
      questions.push_back({.position = position, .tokens = tokens, .fill = placed + placement});
  }
  return questions;
}

std::vector<Question> questions_of_same_ends(const CellSpace& space) {
  std::vector<Question> questions;
  if (space.axes.size() < 2) return questions;
  const std::vector<gen::CellCall> list = gen::cell_calls(space.sides(), most_tokens(space));
  for (const gen::Walk walk : {gen::Walk::rows, gen::Walk::exchanged, gen::Walk::rows_shuffled_inside,
                               gen::Walk::shuffled_inside, gen::Walk::shuffled_within_rows}) {
    // The list begins with the grid in every walk.
    const auto number = static_cast<std::int64_t>(walk);
    questions.push_back({.position = gen::simplest_position(space.axes.front()),
                         .tokens = tokens_of(list[index(number)]),
                         .fill = list_fills + number});
  }
  return questions;
}

bool asks_for_cells(const Question& question) { return question.fill >= list_fills; }

rc::Gen<Question> with_drawn_cells(rc::Gen<Question> others, const CellSpace& space) {
  if (space.axes.size() < 2) return others;
  constexpr std::int64_t one_in = 4;
  const auto word = gen::count(0, 2 * one_in * drawings - 1);
  return gen::map(gen::pair(std::move(others), word), [space](const auto& drawn) {
    const auto& [other, number] = drawn;
    if (number % one_in != 0) return other;
    const std::int64_t drawing = number / one_in / 2;
    const std::int64_t near = gen::simplest_position(space.axes.front());
    const gen::CellCall call = gen::drawn_cell_call(space.sides(), most_tokens(space).often, drawing);
    return Question{.position = number / one_in % 2 == 0 ? near : other.position,
                    .tokens = tokens_of(call),
                    .heads = std::min<std::int64_t>(other.heads, 2),
                    .fill = drawing_fills + drawing};
  });
}

std::optional<std::vector<std::int64_t>> cell_positions(const CellSpace& space, const Question& question,
                                                        std::int64_t row) {
  std::vector<std::int64_t> cells;
  const auto count = std::ssize(space.axes);
  if (const auto placement = placement_of(question)) {
    const std::vector<std::int64_t> sides = space.sides();
    cells = gen::coordinates(*placement, count, question.tokens, row, std::span(sides).last(2));
  } else if (const auto call = call_of(space, question, row)) {
    cells = gen::coordinates_of(*call);
  } else {
    return std::nullopt;
  }
  const std::int64_t known = std::ssize(cells) / count;
  const auto order = static_cast<gen::Order>(question.order);
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < count; ++axis) {
    const auto [first, last] = space.axes[index(axis)];
    const std::int64_t step = question.fill >= block_fills ? 1 : space.step;
    const std::int64_t start = std::max<std::int64_t>(question.position - first, 0);
    for (std::int64_t token = 0; token < question.tokens; ++token) {
      const std::int64_t from = gen::steps(order, 0, token, question.tokens) % question.tokens % known;
      positions.push_back(first + (start + step * cells[index(axis * known + from)]) % (last - first));
    }
  }
  return positions;
}

SweepOf<Question> sweep_of_cells(const CellSpace& space) {
  SweepOf<Question> sweep = sweep_over({0, cells_of(space)}, space.values, cells_of(space) * space.values);
  sweep.of = "cells of the grid";
  for (BlockOf<Question>& block : sweep.blocks) {
    block.values.fill = block_fills + block.values.position;
    block.values.position = space.axes.front().first;
    for (const gen::PositionRange& axis : space.axes)
      block.values.position = std::min(block.values.position, axis.first);
  }
  return sweep;
}

std::int64_t drawing_of(std::int64_t fill) {
  constexpr std::int64_t together = 16;
  return fill < list_fills ? fill : 1 + fill / together % 3;
}

std::int64_t cells_of(const CellSpace& space) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  std::int64_t cells = 1;
  for (const auto& [first, last] : space.axes) cells = cells > most / (last - first) ? most : cells * (last - first);
  return cells;
}

}  // namespace sextant
