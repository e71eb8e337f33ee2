#include "properties/model/questions.hpp"

#include <algorithm>

namespace sextant {
namespace {

gen::PositionRange range_in(const Spec& spec) { return {spec.min_position, last_position_of(spec)}; }

}  // namespace

std::vector<FieldOf<Question>> question_fields(const Spec& spec) {
  return {{"position", FieldRole::position, &Question::position, {spec.min_position, last_position_of(spec) - 1}},
          {"tokens", FieldRole::run, &Question::tokens, {1, 64}},
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

std::vector<Question> questions_over(const gen::PositionRange& range) {
  constexpr std::int64_t tokens = 64;
  constexpr std::int64_t most_calls = 16384;
  std::vector<Question> questions;
  if ((range.last - range.first) / tokens > most_calls) return questions;
  for (std::int64_t p = range.first; p < range.last; p += tokens)
    questions.push_back({.position = p, .tokens = std::min(tokens, range.last - p), .fill = 1});
  return questions;
}

}  // namespace sextant
