#include "properties/model/questions.hpp"

#include <algorithm>
#include <cstdint>

#include "properties/gen/order.hpp"
#include "properties/gen/values.hpp"

namespace sextant {
namespace {

gen::PositionRange range_in(const Spec& spec) { return {spec.min_position, last_position_of(spec)}; }

// A call's answer is then half a million values, 2 MiB of float32: large enough that calls cost little, small enough
// for a processor's cache.
std::int64_t tokens_of_block(std::int64_t values) {
  return std::clamp<std::int64_t>(values_of_call / values, 1, longest_call);
}

using Blocks = std::vector<gen::PositionRange>;

// The whole range. Kernels have a path for each length, so the first blocks have every power of two, one less and one
// more, up to the longest call; they are an answer of 4 MiB at most, so that a subject which takes 10 us for a value is
// far from its time-out.
Blocks every(const gen::PositionRange& range, std::int64_t values) {
  const std::int64_t longest = std::clamp<std::int64_t>(2 * values_of_call / values, 1, longest_call);
  std::vector<std::int64_t> lengths;
  for (std::int64_t power = 2; power <= longest; power *= 2) {
    for (const std::int64_t length : {power - 1, power, power + 1}) lengths.push_back(std::min(length, longest));
  }
  Blocks blocks;
  for (std::int64_t first = range.first; first < range.last; first = blocks.back().last) {
    const std::int64_t tokens = blocks.size() < lengths.size() ? lengths[blocks.size()] : tokens_of_block(values);
    blocks.push_back({first, std::min(first + tokens, range.last)});
  }
  return blocks;
}

// `positions` of the range, rising; some may be in two blocks.
Blocks sample(const gen::PositionRange& range, std::int64_t positions) {
  const std::int64_t tokens = std::min<std::int64_t>(64, range.last - range.first);
  std::vector<std::int64_t> starts;
  const auto add_over = [&](std::int64_t position) {
    if (position >= range.first && position < range.last)
      starts.push_back(std::clamp(position - tokens / 2, range.first, range.last - tokens));
  };
  for (const std::int64_t position : {range.first, std::int64_t{0}, range.last - 1}) add_over(position);
  for (int power = 0; power <= 53; ++power) {
    for (const int sign : {-1, 1}) add_over(sign * (std::int64_t{1} << power));
  }
  const std::int64_t parts = std::max<std::int64_t>(positions / tokens - std::ssize(starts), 0);
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t width = (range.last - range.first) / parts;
    const std::uint64_t word = gen::word(part, 0);
    const std::int64_t tile = std::int64_t{64} << word % 11;
    const std::int64_t position =
        range.first + part * width + static_cast<std::int64_t>((word >> 8) % static_cast<std::uint64_t>(width));
    add_over(position / tile * tile);
  }
  std::ranges::sort(starts);
  Blocks blocks;
  for (const std::int64_t start : starts) blocks.push_back({start, start + tokens});
  return blocks;
}

}  // namespace

std::vector<FieldOf<Question>> question_fields(const Spec& spec) {
  return {{"position", FieldRole::position, &Question::position, {spec.min_position, last_position_of(spec) - 1}},
          {"tokens", FieldRole::run, &Question::tokens, {1, longest_call}},
          {"batch", FieldRole::batch, &Question::batch, {1, most_rows}},
          {"heads", FieldRole::count, &Question::heads, {1, most_heads}},
          {"fill", FieldRole::fill, &Question::fill, any_fill}};
}

std::vector<Question> first_questions(const Spec& spec) {
  const gen::PositionRange range = range_in(spec);
  const std::int64_t near = gen::simplest_position(range);
  // One token of several rows, several tokens of one row, several of both: kernels have a path for each.
  return {{.position = near, .tokens = 1, .batch = 2, .heads = 3, .fill = 1},
          {.position = range.last - 1, .tokens = 1, .batch = 1, .heads = 1, .fill = 1},
          {.position = near, .tokens = 5, .batch = 1, .heads = 2, .fill = 1},
          {.position = range.first, .tokens = 3, .batch = 2, .heads = 5, .fill = 1}};
}

rc::Gen<Question> drawn_questions(const Spec& spec) {
  const auto parts = rc::gen::tuple(gen::position(range_in(spec)), gen::one_of({1, 1, 2, 3, 4, 7, 17}),
                                    gen::one_of({1, 1, 2, 3}), gen::one_of({1, 2, 5, 8}), gen::count(0, 1000));
  return rc::gen::map(
      parts, [](const auto& drawn) { return std::apply([](auto... value) { return Question{value...}; }, drawn); });
}

FieldOf<Question> order_field() { return {"order", FieldRole::order, &Question::order, {0, gen::orders - 1}}; }

rc::Gen<Question> of_many_shapes(rc::Gen<Question> small, const gen::PositionRange& range,
                                 const gen::LargestCall& largest, std::int64_t one_in) {
  // Of no magnitude that implementations take a slow path for.
  const auto parts = rc::gen::tuple(gen::position(range), gen::extents(largest), gen::count(0, every_magnitude - 1),
                                    gen::count(0, gen::orders - 1));
  const rc::Gen<Question> shaped = rc::gen::map(parts, [](const auto& drawn) {
    const auto& [position, extents, fill, order] = drawn;
    return Question{position, extents.tokens, extents.batch, extents.heads, fill, order};
  });
  return rc::gen::mapcat(gen::count(0, one_in - 1), [small = std::move(small), shaped](std::int64_t which) {
    return which == 0 ? shaped : small;
  });
}

std::vector<Question> questions_of_every_extent(std::int64_t position) {
  std::vector<Question> questions;
  for (std::int64_t power = 4; power <= most_heads; power *= 2) {
    for (const std::int64_t extent : {power - 1, power, power + 1}) {
      if (extent <= most_heads) questions.push_back({.position = position, .tokens = 2, .heads = extent, .fill = 1});
      if (extent <= most_rows) questions.push_back({.position = position, .tokens = 2, .batch = extent, .fill = 1});
    }
  }
  return questions;
}

SweepOf<Question> sweep_over(const gen::PositionRange& range, std::int64_t values, std::int64_t most_values) {
  const std::int64_t claimed = range.last - range.first;
  const std::int64_t most_positions = most_values / values;
  // A shuffled block takes all of its positions too.
  constexpr gen::Order orders[] = {gen::Order::one_by_one, gen::Order::descending, gen::Order::shuffled};
  SweepOf<Question> sweep{{}, claimed, values};
  std::int64_t end = range.first;
  for (const auto& [first, last] : claimed <= most_positions ? every(range, values) : sample(range, most_positions)) {
    const std::int64_t start = std::max(first, end);
    if (start >= last) continue;
    end = last;
    const gen::Order order = orders[sweep.blocks.size() % std::size(orders)];
    sweep.blocks.push_back(
        {{.position = start, .tokens = end - start, .fill = 1, .order = static_cast<std::int64_t>(order)},
         end - start});
  }
  return sweep;
}

}  // namespace sextant
