#include "properties/identify/fitted_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "lib/spec/position_grid.hpp"
#include "properties/model/model.hpp"
#include "reference/recipe_answer.hpp"

namespace sextant::identify {
namespace {

constexpr std::array laxer{AccuracyClass::float32_angle, AccuracyClass::float32_recurrence,
                           AccuracyClass::float16_angle, AccuracyClass::bfloat16_angle};
constexpr std::int64_t most_values = 1 << 16;

// Small questions at both ends of the claim and between.
std::vector<Question> questions_of(const EncodingModel& model) {
  const gen::PositionRange range = model.range();
  std::vector<Question> questions;
  // Positions that begin again at the claim's end are of no call that attention has.
  constexpr std::int64_t tokens = 4;
  const std::int64_t latest = std::max(range.first, range.last - tokens);
  for (const std::int64_t position : {range.first, range.first + 1000, range.first + 4091, range.last - 5}) {
    const Question question{
        .position = std::clamp(position, range.first, latest), .tokens = tokens, .batch = 2, .heads = 3, .fill = 7};
    if (question.tokens * question.batch * question.heads * model.judged_values() <= most_values)
      questions.push_back(question);
  }
  return questions;
}

// Positions [axes, tokens].
void renumber(std::vector<std::int64_t>& positions, std::int64_t axes, const Renumbered& renumbered) {
  const std::size_t tokens = positions.size() / static_cast<std::size_t>(axes);
  std::vector<std::int64_t> place(static_cast<std::size_t>(axes));
  for (std::size_t token = 0; token < tokens; ++token) {
    for (std::size_t axis = 0; axis < place.size(); ++axis) place[axis] = positions[axis * tokens + token];
    for (std::size_t axis = 0; axis < place.size(); ++axis)
      positions[axis * tokens + token] = renumbered(static_cast<std::int64_t>(axis), place);
  }
}

}  // namespace

AskedAnswers::AskedAnswers(Session& session, const Spec& claim)
    : axes_(axes_of(claim.encoding)), model_(model_of(claim)), questions_(questions_of(*model_)) {
  for (const Question& question : questions_) {
    calls_.push_back(model_->call_of(question));
    answers_.push_back(model_->ask(session, calls_.back()));
  }
}

void AskedAnswers::ask(Session& session, std::vector<std::int64_t> positions) {
  const gen::PositionRange range = model_->range();
  Call call = model_->call_of({.position = range.first, .fill = 7});
  call.positions = std::move(positions);
  answers_.push_back(model_->ask(session, call));
  calls_.push_back(std::move(call));
}

std::optional<double> AskedAnswers::meet(const Spec& tried, const CallTaken& taken) const {
  const auto model = model_of(tried);
  if (model->not_judged()) return std::nullopt;
  const auto judge = model->judge();
  double worst = 0;
  for (std::size_t i = taken.from; i < calls_.size(); ++i) {
    Call call = calls_[i];
    if (taken.positions) {
      renumber(call.positions, axes_, taken.positions);
      renumber(call.query_positions, axes_, taken.positions);
    }
    if (taken.weight && call.weight) call.weight = taken.weight(*call.weight);
    const std::optional<Tensor> answer = taken.answer ? taken.answer(answers_[i]) : answers_[i];
    if (!answer) return std::nullopt;
    const Judgement judgement = judge->values(call, *answer);
    if (judgement.within != reference::Certainty::yes) return std::nullopt;
    worst = std::max(worst, judgement.deviation.of_bound);
  }
  return worst;
}

FittedAnswers fitted_answers(Session& session, const Spec& spec, std::optional<Dtype> narrow) {
  const AskedAnswers asked(session, spec);
  std::vector<Spec> tries{spec};
  for (const AccuracyClass accuracy : laxer) {
    if (narrow &&
        accuracy != (*narrow == Dtype::float16 ? AccuracyClass::float16_angle : AccuracyClass::bfloat16_angle))
      continue;
    for (const Evaluation evaluation :
         {Evaluation::float32, Evaluation::table, Evaluation::dtype, Evaluation::dtype_accumulate}) {
      Spec& tried = tries.emplace_back(spec);
      tried.accuracy = accuracy;
      tried.evaluation = evaluation;
    }
  }
  std::optional<double> of_claim;
  std::string where;
  for (const Spec& tried : tries) {
    try {
      validate(tried);
    } catch (const SpecError&) {
      continue;  // evaluations that this dtype has not
    }
    const auto model = model_of(tried);
    if (model->not_judged()) continue;
    const auto judge = model->judge();
    double worst = 0;
    bool hold = true;
    for (std::size_t i = 0; i < asked.calls().size(); ++i) {
      const Judgement judgement = judge->values(asked.calls()[i], asked.answers()[i]);
      worst = std::max(worst, judgement.deviation.of_bound);
      if (hold && !of_claim && judgement.within != reference::Certainty::yes)
        where = fmt::format("answers at positions from {} on are up to {:.3g} times as far from it as {} allows",
                            position_grid_of(spec.encoding).text(asked.questions()[i].position),
                            judgement.deviation.of_bound, name_of(tried.accuracy));
      hold = hold && judgement.within == reference::Certainty::yes;
    }
    if (!of_claim) of_claim = worst;
    if (hold) return {tried, true, worst, {}};
  }
  return {spec, false, of_claim.value_or(0), where};
}

std::string recipe_of(Session& session, const Spec& spec) {
  const auto model = model_of(spec);
  const gen::PositionRange range = model->range();
  std::vector<Call> calls;
  for (const std::int64_t position : {range.first, range.first + 251, range.first + 4091, range.last - 5}) {
    calls.push_back(model->call_of({.position = std::clamp(position, range.first, range.last - 1),
                                    .tokens = 8,
                                    .batch = 1,
                                    .heads = 2,
                                    .fill = 11}));
  }
  std::vector<Tensor> answers;
  for (const Call& call : calls) answers.push_back(model->ask(session, call));
  for (const reference::Recipe& recipe : reference::recipes()) {
    const auto expected = reference::recipe_answer(recipe, spec);
    if (!expected) continue;
    const auto is_its = [&](const Call& call, const Tensor& answer) {
      return same_bits(expected->at(call.positions, call.vectors.empty() ? nullptr : call.vectors.data()), answer);
    };
    if (std::ranges::equal(calls, answers, is_its)) return std::string(recipe.name);
  }
  return {};
}

}  // namespace sextant::identify
