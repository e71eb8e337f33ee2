#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/extent.hpp"
#include "properties/gen/order.hpp"
#include "properties/gen/placement.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/question.hpp"

namespace sextant {

/// A further integer of a case, a member of a struct derived from Question: 0 .. count - 1, all equally likely,
/// simplest at 0.
template <class Values>
struct ExtraOf {
  std::string name;
  FieldRole role;
  std::int64_t Values::*member;
  std::function<std::int64_t(const Spec& spec)> count;
};

/// The fields, first cases and drawn cases of a question alone. Extents mostly differ from each other, since equal ones
/// hide swapped axes, and one token and one head are frequent.
std::vector<FieldOf<Question>> question_fields(const Spec& spec);
std::vector<Question> first_questions(const Spec& spec);
rc::Gen<Question> drawn_questions(const Spec& spec);

/// So many numbers to draw others from, below 2^40.
rc::Gen<std::vector<std::int64_t>> drawn_words(std::size_t count);

/// The field of Question::order.
FieldOf<Question> order_field();

/// Of `one_in`, one call of the shapes and orders that kernels meet, anywhere in the range; the others are of `small`.
rc::Gen<Question> of_many_shapes(rc::Gen<Question> small, const gen::PositionRange& range,
                                 const gen::LargestCall& largest, std::int64_t one_in = 4);

/// Two tokens from `position` on of as many heads, and of as many batch rows, as kernels have paths for: every power of
/// two, one less and one more, up to the most.
std::vector<Question> questions_of_every_extent(std::int64_t position);

/// One row of 65 to 128 tokens: every number that is left over behind blocks of 64, 32, 16 or 8.
std::vector<Question> questions_of_every_length(std::int64_t position);

/// One row of lengths that programs take another path for, of answers of 2^22 values at most, and of those that models
/// have, of 2^20 at most: a sweep has what its claim has room for.
std::vector<Question> questions_of_long_calls(std::int64_t position, std::int64_t values);

/// Three to five rows of whole blocks of tokens, no two rows the same: kernels go from block to block, and find out the
/// row. Of answers of 2^20 values at most.
std::vector<Question> questions_of_long_rows(std::int64_t position, std::int64_t values);

/// As many tokens as heads, and as many rows as tokens: layouts that are told by their extents are told wrongly.
std::vector<Question> questions_of_equal_extents(std::int64_t position);

/// Calls of two rows, and of several, in every order of positions but the usual one.
std::vector<Question> questions_of_every_order(std::int64_t position);

/// How a question of images and films has its tokens lie; nothing of any other question.
std::optional<gen::Placement> placement_of(const Question& question);

/// Which of real positions a call has.
enum class Numbers : std::int64_t { any = 1, whole, halves };

/// Positions [batch, tokens] of an order that are whole numbers or halves, of a grid whose steps make up 1; of any
/// other, and for Numbers::any, those of gen::positions.
std::vector<std::int64_t> positions_among(Numbers numbers, const PositionGrid& grid, const gen::PositionRange& range,
                                          std::int64_t first, const gen::Extents& extents, gen::Order order);

/// Calls of whole numbers and of halves in the orders that most have, as `put` says it in a question; none of positions
/// that are whole anyway.
std::vector<Question> questions_of_numbers(const PositionGrid& grid, std::int64_t position,
                                           const std::function<void(Question& question, Numbers numbers)>& put);

/// What the calls of a sweep have beside tokens: rotations some heads and rows, the same vector in each head.
enum class SweptCalls { tokens, rows_and_heads };

/// Calls that compare `values` at each of their positions, each position in one of them: one by one, descending or
/// shuffled, row after row where they have several. They are all of the range if that is at most `most_values`, in
/// blocks of many lengths: every power of two, one less and one more, then as many as make half a million values, from
/// multiples of their length on. Else they are blocks of 64 positions, or of more where 64 have few values and there
/// are many blocks, over both ends of the range and over every power of two of either sign, and in each of as many
/// equal parts of the range as are left one over a multiple of a power of two from 64 to 65536, where tiles and blocks
/// begin: which one, a hash of the part's number says.
SweepOf<Question> sweep_over(const gen::PositionRange& range, std::int64_t values, std::int64_t most_values,
                             SweptCalls calls = SweptCalls::tokens);

/// EncodingModel::fits of the spec's model.
bool fits(const Spec& spec, const Question& question);

/// Cases that are a question, or a struct derived from it that holds some more.
template <class Values = Question>
CasesOf<Values> questions(const std::vector<ExtraOf<Values>>& extra = {}) {
  const auto with_question = [](const Question& question) {
    Values values{};
    static_cast<Question&>(values) = question;
    return values;
  };
  CasesOf<Values> cases;
  cases.fields = [extra](const Spec& spec) {
    std::vector<FieldOf<Values>> fields;
    for (const auto& [name, role, member, range] : question_fields(spec)) fields.push_back({name, role, member, range});
    for (const auto& [name, role, member, count] : extra) fields.push_back({name, role, member, {0, count(spec) - 1}});
    return fields;
  };
  cases.related = [](const Spec& spec, const Values& values) { return fits(spec, values); };
  cases.first = [with_question](const Spec& spec) {
    std::vector<Values> first;
    for (const Question& question : first_questions(spec)) first.push_back(with_question(question));
    return first;
  };
  cases.drawn = [extra, with_question](const Spec& spec) {
    std::vector<std::pair<std::int64_t Values::*, std::int64_t>> counts;
    for (const auto& [name, role, member, count] : extra) counts.emplace_back(member, count(spec));
    return gen::map(gen::pair(drawn_questions(spec), drawn_words(extra.size())),
                    [counts, with_question](const auto& drawn) {
                      Values values = with_question(drawn.first);
                      for (std::size_t i = 0; i < counts.size(); ++i)
                        values.*counts[i].first = drawn.second[i] % counts[i].second;
                      return values;
                    });
  };
  return cases;
}

}  // namespace sextant
