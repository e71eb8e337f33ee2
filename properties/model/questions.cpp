#include "properties/model/questions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>

#include "properties/gen/draw.hpp"
#include "properties/gen/order.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/model.hpp"

namespace sextant {
namespace {

gen::PositionRange range_in(const Spec& spec) { return model_of(spec)->range(); }

// A call's answer is then half a million values at most, 2 MiB of float32: large enough that calls cost little, small
// enough for a processor's cache. A power of two, so that blocks begin at multiples of one, as chunks of a prompt do.
std::int64_t tokens_of_block(std::int64_t values) {
  const auto most = static_cast<std::uint64_t>(std::clamp<std::int64_t>(values_of_call / values, 1, longest_drawn));
  return static_cast<std::int64_t>(std::bit_floor(most));
}

using Blocks = std::vector<gen::PositionRange>;

// The whole range. Kernels have a path for each length, so the first blocks have every power of two, one less and one
// more, and those that models have, up to the longest call, each power of two once more from a multiple of itself on;
// they are an answer of 4 MiB at most, so that a subject which takes 10 us for a value is far from its time-out.
Blocks every(const gen::PositionRange& range, std::int64_t values) {
  const std::int64_t longest = std::clamp<std::int64_t>(2 * values_of_call / values, 1, longest_drawn);
  Blocks blocks;
  std::int64_t first = range.first;
  const auto add = [&](std::int64_t tokens) {
    if (first >= range.last || tokens < 1) return;
    blocks.push_back({first, std::min(first + std::min(tokens, longest), range.last)});
    first = blocks.back().last;
  };
  const auto up_to_multiple_of = [&](std::int64_t tokens) { return (tokens - first % tokens) % tokens; };
  for (std::int64_t power = 2; power <= longest; power *= 2) {
    for (const std::int64_t tokens : {power - 1, power, power + 1}) add(tokens);
    for (const std::int64_t tokens : gen::usual_extents()) {
      if (tokens > power + 1 && tokens < 2 * power - 1 && tokens <= longest) add(tokens);
    }
    add(up_to_multiple_of(power));
    add(power);
  }
  const std::int64_t tokens = tokens_of_block(values);
  add(up_to_multiple_of(tokens));
  while (first < range.last) add(tokens);
  return blocks;
}

// Tokens of a sample's call: 64, or as many as make 4096 values of a narrow encoding, since a call of 64 would cost a
// worker more than its answer, if that leaves 16384 calls.
std::int64_t tokens_of_sample(std::int64_t positions, std::int64_t values) {
  const std::int64_t most = std::min(4096 / values, positions / 16384);
  return std::max<std::int64_t>(64, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most))));
}

// `positions` of the range, rising; some may be in two blocks.
Blocks sample(const gen::PositionRange& range, std::int64_t positions, std::int64_t values) {
  const std::int64_t tokens = std::min(tokens_of_sample(positions, values), range.last - range.first);
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
  const auto [first, last] = model_of(spec)->range();
  return {{"position", FieldRole::position, &Question::position, {first, last - 1}},
          {"tokens", model_of(spec)->tokens_role(), &Question::tokens, {1, longest_call}},
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
  const auto parts = gen::tuple(gen::position(range_in(spec)), gen::one_of({1, 1, 2, 3, 4, 7, 17}),
                                gen::one_of({1, 1, 2, 3}), gen::one_of({1, 2, 5, 8}), gen::count(0, 1000));
  return gen::map(
      parts, [](const auto& drawn) { return std::apply([](auto... value) { return Question{value...}; }, drawn); });
}

rc::Gen<std::vector<std::int64_t>> drawn_words(std::size_t count) {
  return rc::gen::container<std::vector<std::int64_t>>(count, gen::count(0, std::int64_t{1} << 40));
}

bool fits(const Spec& spec, const Question& question) { return model_of(spec)->fits(question); }

FieldOf<Question> order_field() { return {"order", FieldRole::order, &Question::order, {0, gen::orders - 1}}; }

rc::Gen<Question> of_many_shapes(rc::Gen<Question> small, const gen::PositionRange& range,
                                 const gen::LargestCall& largest, std::int64_t one_in) {
  // Of no magnitude that implementations take a slow path for.
  const auto parts = gen::tuple(gen::position(range), gen::extents(largest), gen::count(0, every_magnitude - 1),
                                gen::count(0, gen::orders - 1));
  const rc::Gen<Question> shaped = gen::map(parts, [](const auto& drawn) {
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

std::vector<Question> questions_of_every_length(std::int64_t position) {
  std::vector<Question> questions;
  for (std::int64_t tokens = 65; tokens <= 128; ++tokens)
    questions.push_back({.position = position, .tokens = tokens, .fill = 1});
  return questions;
}

std::vector<Question> questions_of_long_calls(std::int64_t position, std::int64_t values) {
  constexpr std::int64_t most_values = std::int64_t{1} << 22;
  std::vector<Question> questions;
  const auto add = [&](std::int64_t tokens, std::int64_t most) {
    if (tokens * values <= most) questions.push_back({.position = position, .tokens = tokens, .fill = 1});
  };
  for (const std::int64_t tokens : {64, 512, 4097, 8192}) add(tokens, most_values);
  for (const std::int64_t tokens : gen::usual_extents()) {
    const bool is_asked = tokens >= 65 && tokens <= 128;  // of every length
    if (!is_asked) add(tokens, 2 * values_of_call);
  }
  return questions;
}

std::vector<Question> questions_of_long_rows(std::int64_t position, std::int64_t values) {
  std::vector<Question> questions;
  for (const auto& [tokens, batch] : {std::pair{256, 3}, {256, 4}, {256, 5}, {512, 3}, {512, 5}, {1024, 4}}) {
    if (tokens * batch * values <= 2 * values_of_call)
      questions.push_back({.position = position, .tokens = tokens, .batch = batch, .fill = 1});
  }
  return questions;
}

std::vector<Question> questions_of_equal_extents(std::int64_t position) {
  std::vector<Question> questions;
  for (const std::int64_t extent : {3, 4, 5, 7, 8, 9, 12, 16, 20, 24, 28, 32, 40, 48, 64}) {
    questions.push_back({.position = position, .tokens = extent, .heads = extent, .fill = 1});
    questions.push_back({.position = position, .tokens = extent, .batch = extent, .fill = 1});
    constexpr std::int64_t few = 12;
    if (extent <= few)
      questions.push_back({.position = position, .tokens = extent, .batch = 3, .heads = extent, .fill = 1});
  }
  return questions;
}

std::vector<Question> questions_of_every_order(std::int64_t position) {
  std::vector<Question> questions;
  for (std::int64_t order = 1; order < gen::orders; ++order) {
    questions.push_back({.position = position, .tokens = 100, .batch = 2, .heads = 2, .fill = 1, .order = order});
    questions.push_back({.position = position + 5, .tokens = 70, .batch = 2, .heads = 1, .fill = 1, .order = order});
    questions.push_back({.position = position, .tokens = 100, .batch = 6, .heads = 1, .fill = 1, .order = order});
  }
  return questions;
}

std::optional<gen::Placement> placement_of(const Question& question) {
  const std::int64_t number = question.fill - placed;
  if (number < 0 || number >= gen::placements) return std::nullopt;
  return static_cast<gen::Placement>(number);
}

namespace {

// Steps that make up 1, or a half; 1 where none do.
std::int64_t steps_of(Numbers numbers, const PositionGrid& grid) {
  const double count = (numbers == Numbers::halves ? 0.5 : 1) / grid.step;
  const bool is_whole = numbers != Numbers::any && count >= 1 && count <= 0x1p40 && count == std::floor(count);
  return is_whole ? static_cast<std::int64_t>(count) : 1;
}

}  // namespace

std::vector<std::int64_t> positions_among(Numbers numbers, const PositionGrid& grid, const gen::PositionRange& range,
                                          std::int64_t first, const gen::Extents& extents, gen::Order order) {
  const std::int64_t stride = steps_of(numbers, grid);
  const std::int64_t least = range.first + ((-range.first) % stride + stride) % stride;
  if (stride == 1 || least >= range.last) return gen::positions(range, first, extents, order);
  const std::int64_t count = (range.last - 1 - least) / stride + 1;
  const std::int64_t start = std::max<std::int64_t>(first - least, 0) / stride;
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 0; row < extents.batch; ++row) {
    for (std::int64_t token = 0; token < extents.tokens; ++token)
      positions.push_back(least + stride * ((start + gen::steps(order, row, token, extents.tokens)) % count));
  }
  return positions;
}

std::vector<Question> questions_of_numbers(const PositionGrid& grid, std::int64_t position,
                                           const std::function<void(Question& question, Numbers numbers)>& put) {
  std::vector<Question> questions;
  if (grid.dtype == Dtype::int64) return questions;
  for (const Numbers numbers : {Numbers::whole, Numbers::halves}) {
    if (steps_of(numbers, grid) == 1) continue;
    for (const gen::Order order : {gen::Order::one_by_one, gen::Order::descending, gen::Order::shuffled,
                                   gen::Order::with_gaps, gen::Order::descending_with_wide_gaps}) {
      for (const std::int64_t tokens : {2, 3, 4, 8, 50, 257}) {
        Question question{.position = position, .tokens = tokens, .order = static_cast<std::int64_t>(order)};
        put(question, numbers);
        questions.push_back(question);
      }
    }
  }
  return questions;
}

SweepOf<Question> sweep_over(const gen::PositionRange& range, std::int64_t values, std::int64_t most_values,
                             SweptCalls calls) {
  const std::int64_t claimed = range.last - range.first;
  const std::int64_t most_positions = most_values / values;
  // Each takes all positions of a block. The numbers of each list share no factor, so that all combinations turn up.
  constexpr gen::Order orders[] = {gen::Order::one_by_one, gen::Order::descending, gen::Order::one_by_one,
                                   gen::Order::shuffled, gen::Order::shuffled_between_ends};
  constexpr std::int64_t rows[] = {1, 2, 1, 5};
  constexpr std::int64_t heads[] = {2, 3, 2, 1, 2, 3, 2};
  std::set<std::int64_t> lengths_of_row;  // each length is one row's before it is divided
  SweepOf<Question> sweep{.blocks = {}, .claimed = claimed, .values_of_position = values};
  const auto add = [&](std::int64_t first, std::int64_t last) {
    const std::size_t number = sweep.blocks.size();
    Question question{.position = first,
                      .tokens = last - first,
                      .fill = 1,
                      .order = static_cast<std::int64_t>(orders[number % std::size(orders)])};
    if (calls == SweptCalls::rows_and_heads) {
      question.fill = heads_alike;
      const std::int64_t many = heads[number % std::size(heads)];
      if (many * values * question.tokens <= 2 * values_of_call) question.heads = many;
      const std::int64_t batch = rows[number % std::size(rows)];
      const bool is_new = lengths_of_row.insert(question.tokens).second;
      if (!is_new && question.tokens % batch == 0 && batch > 1) {
        question.batch = batch;
        question.tokens /= batch;
        question.order = static_cast<std::int64_t>(gen::Order::row_after_row);
      }
    }
    sweep.blocks.push_back({question, last - first});
  };
  std::int64_t end = range.first;
  for (const auto& [first, last] :
       claimed <= most_positions ? every(range, values) : sample(range, most_positions, values)) {
    const std::int64_t start = std::max(first, end);
    if (start >= last) continue;
    end = last;
    add(start, end);
  }
  return sweep;
}

}  // namespace sextant
