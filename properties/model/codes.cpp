#include "properties/model/codes.hpp"

#include <algorithm>
#include <cmath>

#include "properties/gen/vectors.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/reshaped.hpp"
#include "subjects/operations.hpp"

namespace sextant {

std::vector<FieldOf<Question>> CodeModel::question_fields() const {
  std::vector<FieldOf<Question>> fields = sextant::question_fields(spec());
  fields.push_back(order_field());
  return fields;
}

std::vector<Question> CodeModel::first_questions() const {
  std::vector<Question> questions = EncodingModel::first_questions();
  for (const Question& question : of_kernels()) questions.push_back(question);
  return questions;
}

std::vector<Question> CodeModel::of_kernels() const {
  const std::int64_t near = gen::simplest_position(range());
  std::vector<Question> questions = questions_of_every_order(near);
  if (drawn_weight(0)) questions.push_back({.position = near, .tokens = 130, .fill = table_of_every_magnitude});
  for (const Question& question : questions_of_every_length(near)) questions.push_back(question);
  for (const Question& question : questions_of_long_calls(near, dim_)) questions.push_back(question);
  std::erase_if(questions, [&](const Question& question) { return !admits(question); });
  return questions;
}

rc::Gen<Question> CodeModel::drawn_questions() const {
  return of_many_shapes(EncodingModel::drawn_questions(), range(), {{1, longest_drawn, 1}, values_of_call / dim_});
}

SweepOf<Question> CodeModel::sweep(std::int64_t most_values) const {
  return sweep_over(range(), judged_values(), most_values);
}

Call CodeModel::call_of(const Question& question) const {
  return {.positions = positions_of(spec(), question, 1), .weight = drawn_weight(question.fill)};
}

Call CodeModel::accuracy_call(const Question& question) const {
  return {.positions = accuracy_positions(question), .weight = drawn_weight(question.fill)};
}

std::vector<std::int64_t> CodeModel::accuracy_positions(const Question& question) const {
  const std::int64_t rows = std::min(question.tokens, range().last - question.position);
  return gen::positions(range(), question.position, {1, rows, 1}, static_cast<gen::Order>(question.order));
}

std::optional<Tensor> CodeModel::drawn_weight(std::int64_t) const { return std::nullopt; }

Parts CodeModel::parts(std::vector<std::int64_t> whole, std::vector<std::int64_t> part, std::int64_t first_row,
                       std::int64_t fill) const {
  return {.whole = {.positions = std::move(whole), .weight = drawn_weight(fill)},
          .part = {.positions = std::move(part), .weight = drawn_weight(fill)},
          .in_whole = [offset = first_row * dim_](std::int64_t element) { return offset + element; },
          .together = dim_};
}

Parts CodeModel::chunk_of(const Chunk& chunk) const {
  return parts(positions_of(spec(), chunk, 0, chunk.length), positions_of(spec(), chunk, chunk.skip, chunk.count),
               chunk.skip, chunk.fill);
}

Parts CodeModel::one_of(const Question& question, std::int64_t which) const {
  std::vector<std::int64_t> positions = scattered_positions(spec(), question.position, question.tokens);
  const std::int64_t row = which % question.tokens;
  std::vector<std::int64_t> place = place_at(positions, question.tokens, row);
  return parts(std::move(positions), std::move(place), row, question.fill);
}

std::int64_t CodeModel::shapes() const { return token_shapes; }

gen::LargestCall CodeModel::largest_reshaped() const {
  const std::int64_t values = bytes_of_largest / static_cast<std::int64_t>(size_of(spec().dtype));
  return {{1, longest_call, 1}, std::max<std::int64_t>(values / dim_, 1)};
}

gen::LargestCall CodeModel::largest_drawn() const {
  return {{1, longest_drawn, 1}, std::max<std::int64_t>(2 * values_of_call / dim_, 1)};
}

Parts CodeModel::reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const {
  Call whole = accuracy_call(question);
  const std::int64_t rows = std::ssize(whole.positions) / axes_of(spec().encoding);
  std::vector<std::int64_t> from = tokens_again(static_cast<TokenShape>(shape), rows, cut);
  Call part{.positions = positions_again(whole.positions, rows, from), .weight = whole.weight};
  return {std::move(whole), std::move(part),
          [from = std::move(from), dim = dim_](std::int64_t element) {
            const std::int64_t own = from[static_cast<std::size_t>(element / dim)];
            return own < 0 ? own : own * dim + element % dim;
          },
          dim_};
}

Tensor CodeModel::ask(Session& session, const Call& call) const {
  return call.weight ? encode(session, spec(), call.positions, *call.weight) : encode(session, spec(), call.positions);
}

std::string text_of_code(std::int64_t position, std::int64_t token, std::int64_t channel) {
  return text_of_code(fmt::format("{}", position), token, channel);
}

std::string text_of_code(const std::string& position, std::int64_t token, std::int64_t channel) {
  return fmt::format("position {}, token {}, channel {}", position, token, channel);
}

Judgement CodeJudge::agreement(const Parts& calls, const Tensor& whole, const Tensor& part) {
  Judgement judgement;
  compare_under(calls.part);
  const std::int64_t rows = part.shape[0];
  // Wider than the calls say where a table has each value twice.
  const std::int64_t width = part.shape[1];
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t there = calls.in_whole(row * calls.together);
    if (there < 0) continue;
    const std::vector<std::int64_t> place = place_at(calls.part.positions, rows, row);
    judgement.coordinate = std::ranges::max(place);
    judge_rows(judgement, {whole, there / calls.together * width, part, row * width, place, grid()});
  }
  return judgement;
}

Judgement ExactCodeJudge::values(const Call& call, const Tensor& answer) {
  Judgement judgement;
  for (std::int64_t i = 0; i < answer.elements(); ++i) {
    const std::int64_t position = call.positions[static_cast<std::size_t>(i / dim_)];
    const double expected = value(call, position, i % dim_);
    const double given = answer.at(i);
    const bool is_right =
        given == expected && (sign_ == SignOfZero::ignored || std::signbit(given) == std::signbit(expected));
    if (!judgement.finding.empty() && is_right) continue;
    judgement.place = position;
    judgement.add_exact(
        is_right ? std::nullopt
                 : std::optional(fmt::format("{}: got {}, expected {}", text_of_code(position, i / dim_, i % dim_),
                                             value_text(answer.dtype, given), value_text(answer.dtype, expected))),
        [] { return "every value exact"; });
  }
  return judgement;
}

void ExactCodeJudge::judge_rows(Judgement& judgement, const TwoRows& rows) {
  for (std::int64_t channel = 0; channel < dim_; ++channel) judge_same_value(judgement, rows, channel);
}

}  // namespace sextant
