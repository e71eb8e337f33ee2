#include "properties/model/questions.hpp"

#include <algorithm>
#include <cstdint>

#include "properties/gen/values.hpp"

namespace sextant {
namespace {

gen::PositionRange range_in(const Spec& spec) { return {spec.min_position, last_position_of(spec)}; }

// A call's answer is then half a million values, 2 MiB of float32: large enough that calls cost little, small enough
// for a processor's cache.
std::int64_t tokens_of_block(std::int64_t values) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 19) / values, 1, longest_call);
}
constexpr std::int64_t tokens_of_sample = 64;

// Where blocks of so many tokens start that are the whole range.
std::vector<std::int64_t> every(const gen::PositionRange& range, std::int64_t tokens) {
  std::vector<std::int64_t> starts;
  for (std::int64_t p = range.first; p < range.last; p += tokens) starts.push_back(p);
  return starts;
}

// Where blocks start that are `positions` of the range, rising; some may overlap.
std::vector<std::int64_t> sample(const gen::PositionRange& range, std::int64_t tokens, std::int64_t positions) {
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
  return starts;
}

}  // namespace

std::vector<FieldOf<Question>> question_fields(const Spec& spec) {
  return {{"position", FieldRole::position, &Question::position, {spec.min_position, last_position_of(spec) - 1}},
          {"tokens", FieldRole::run, &Question::tokens, {1, longest_call}},
          {"batch", FieldRole::batch, &Question::batch, {1, 16}},
          {"heads", FieldRole::count, &Question::heads, {1, 64}},
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

SweepOf<Question> sweep_over(const gen::PositionRange& range, std::int64_t values, std::int64_t most_values) {
  const std::int64_t claimed = range.last - range.first;
  const bool is_whole = claimed <= most_values / values;
  const std::int64_t tokens = std::min(is_whole ? tokens_of_block(values) : tokens_of_sample, claimed);
  SweepOf<Question> sweep{{}, claimed, values};
  std::int64_t end = range.first;
  for (const std::int64_t first : is_whole ? every(range, tokens) : sample(range, tokens, most_values / values)) {
    const std::int64_t start = std::max(first, end);
    end = std::min(first + tokens, range.last);
    if (start >= end) continue;
    sweep.blocks.push_back({{.position = start, .tokens = end - start, .fill = 1}, end - start});
  }
  return sweep;
}

}  // namespace sextant
