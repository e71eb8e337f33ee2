#include "properties/diagnose/answers_apart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/diagnose/places/asked_places.hpp"
#include "properties/gen/position.hpp"
#include "properties/identify/state/kept_state.hpp"
#include "properties/model/model.hpp"
#include "properties/model/question.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

constexpr std::int64_t tokens_asked = 8;

std::int64_t count_of(bool (*is)(double), const Tensor& answer) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < answer.elements(); ++i) count += is(answer.at(i)) ? 1 : 0;
  return count;
}

// Of causal attention's answer, [batch, heads, tokens, width], whether the first token's values are so and no others.
bool is_first_token_alone(bool (*is)(double), const Spec& claim, const Tensor& answer) {
  const auto* attention = held<Attention>(claim);
  if (attention == nullptr || !attention->causal || answer.shape.size() != 4) return false;
  for (std::int64_t i = 0; i < answer.elements(); ++i) {
    if (is(answer.at(i)) != (i / answer.shape[3] % answer.shape[2] == 0)) return false;
  }
  return true;
}

bool is_constant(const Tensor& answer) {
  for (std::int64_t i = 1; i < answer.elements(); ++i) {
    if (answer.at(i) != answer.at(0)) return false;
  }
  return answer.elements() > 1;
}

// By what is kept from call to call, where asked calls bear it out.
DiagnosedDifference state_told(const Subject& subject, const Spec& claim) {
  try {
    if (const auto state = kept_state(subject, claim, claim)) return {state->words, "P4", state->stage};
  } catch (const SubjectFailure&) {
    // That it depends on something is known.
  }
  return {std::string(depends_on_calls), "P4", DiagnosedStage::position};
}

std::optional<DiagnosedDifference> told(const Subject& subject, const Spec& claim) {
  const auto model = model_of(claim);
  const gen::PositionRange range = model->range();
  const auto asked_from = [](std::int64_t position) {
    return Question{.position = position, .tokens = tokens_asked, .heads = 2, .fill = 7};
  };
  const Question near = asked_from(gen::simplest_position(range));
  const Question far = asked_from(std::max(near.position, range.last - tokens_asked));
  if (!model->fits(near) || !model->fits(far)) return std::nullopt;
  const Call near_call = model->call_of(near);
  const Call far_call = model->call_of(far);
  const auto session = subject.open(claim);
  const auto answered = [&](const Call& call) { return model->ask(*session, call); };
  const Tensor first = answered(near_call);
  const auto told_of = [&](std::string_view what, std::int64_t count) {
    return DiagnosedDifference{
        fmt::format("values are {}: {} of the {} of a call of {} tokens from position {} on", what, count,
                    first.elements(), tokens_asked, position_grid_of(claim.encoding).text(near.position)),
        "", DiagnosedStage::other};
  };
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (is_first_token_alone(is_nan, claim, first))
    return DiagnosedDifference{
        "the first token's values alone are NaN, as where the causal mask hides a query's own key and leaves it none",
        "", DiagnosedStage::other};
  if (const std::int64_t count = count_of(is_nan, first); count > 0) return told_of("NaN", count);
  // Masked scores are claimed to be infinite; nothing else is, of inputs as these.
  const auto is_infinite = [](double value) { return std::isinf(value); };
  if (const std::int64_t count = count_of(is_infinite, first);
      count > 0 && operation_of(claim.encoding) != Operation::bias)
    return told_of("infinite", count);
  if (const auto difference = apart(first, answered(near_call), claim.dtype))
    return DiagnosedDifference{fmt::format("answers to the same question differ, by up to {:.2g}", *difference), "",
                               DiagnosedStage::rounding};
  const Tensor later = answered(far_call);
  if (far.position != near.position && first.at(0) != 0 && is_constant(first) && is_constant(later) &&
      first.at(0) == later.at(0))
    return DiagnosedDifference{fmt::format("every value is {:g}, whatever is asked", first.at(0)), "",
                               DiagnosedStage::rounding};
  const bool is_changed = apart(first, answered(near_call), claim.dtype).has_value();
  const auto fresh = subject.open(claim);
  if (is_changed || apart(later, model->ask(*fresh, far_call), claim.dtype)) return state_told(subject, claim);
  return std::nullopt;
}

// Images of as many patches from 0 on, of other sides.
void add_images(const EncodingModel& model, std::vector<Call>& calls) {
  constexpr std::int64_t patches = 12;
  const std::int64_t axes = axes_of(model.spec().encoding);
  const Question question{.position = model.range().first, .tokens = patches, .fill = 7};
  // A claim that names its extents has grids of its own below.
  if (!model.fits(question) || grid_of(model.spec()).is_known()) return;
  for (const std::int64_t columns : {4, 3, 6}) {
    Call& call = calls.emplace_back(model.call_of(question));
    for (std::int64_t i = 0; i < std::ssize(call.positions); ++i) {
      const std::int64_t axis = i / patches;
      const std::int64_t cell = i % patches;
      call.positions[static_cast<std::size_t>(i)] = model.range().first + (axis + 1 == axes   ? cell % columns
                                                                           : axis + 2 == axes ? cell / columns
                                                                                              : 0);
    }
  }
}

// Calls that a cache under a poor key takes for each other: of the same tokens elsewhere, of another weight at the same
// positions, a step further on, of other extents, and grids that begin and end alike.
std::vector<Call> calls_mistaken(const EncodingModel& model) {
  const gen::PositionRange range = model.range();
  const std::int64_t near = gen::simplest_position(range);
  const auto from = [&](std::int64_t position) {
    return Question{.position = std::clamp(position, range.first, std::max(range.first, range.last - tokens_asked)),
                    .tokens = tokens_asked,
                    .heads = 2,
                    .fill = 7};
  };
  std::vector<Question> questions{from(near), from(range.last), from(near + 1), from(near + 100), from(near)};
  questions[4].fill = 8;
  for (const std::int64_t position : {near, near + 1}) {
    Question& one = questions.emplace_back(from(position));
    one.tokens = 1;
  }
  Question& several = questions.emplace_back(from(near));
  several.tokens = 5;
  several.batch = 3;
  constexpr std::int64_t long_call = 5000;
  const Operation operation = operation_of(model.spec().encoding);
  const bool is_of_rows = operation == Operation::encode || operation == Operation::rotate;
  const bool has_places = is_of_rows || operation == Operation::attend;
  // Of biases and attention it has squares of that.
  if (is_of_rows) questions.emplace_back(from(near)).tokens = long_call;
  questions.push_back(from(near + 1));
  std::vector<Call> calls;
  for (const Question& question : questions) {
    if (model.fits(question)) calls.push_back(model.call_of(question));
  }
  if (has_places) {
    // Positions that begin and end alike.
    calls.push_back(model.call_of(from(near)));
    constexpr auto row = static_cast<std::size_t>(tokens_asked);
    for (const std::size_t inner : {std::size_t{1}, std::size_t{3}}) {
      Call other = model.call_of(from(near));
      for (std::size_t start = 0; start + row <= other.positions.size(); start += row)
        std::swap(other.positions[start + inner], other.positions[start + inner + 1]);
      calls.push_back(std::move(other));
    }
  }
  if (has_places && axes_of(model.spec().encoding) > 1) add_images(model, calls);
  // A weight that begins alike.
  if (Call other = model.call_of(from(near)); other.weight) {
    for (std::int64_t i = 1; i < other.weight->elements(); ++i) other.weight->set(i, -other.weight->at(i));
    calls.push_back(model.call_of(from(near)));
    calls.push_back(std::move(other));
  }
  constexpr std::size_t most_grids = 4;
  const std::size_t most_calls = calls.size() + most_grids;
  for (const Question& question : model.questions_of_same_ends()) {
    if (calls.size() == most_calls) break;
    if (model.admits(question)) calls.push_back(model.accuracy_call(question));
  }
  return calls;
}

}  // namespace

namespace {

// The number of the first of equal calls in a session that is not answered as the first one is; nothing if none is.
std::optional<std::int64_t> first_unlike(Session& session, const EncodingModel& model, const Question& question,
                                         std::int64_t most) {
  const Call call = model.call_of(question);
  const Tensor first = model.ask(session, call);
  for (std::int64_t number = 2; number <= most; ++number) {
    if (apart(first, model.ask(session, call), model.spec().dtype)) return number;
  }
  return std::nullopt;
}

// What becomes of a call that is asked again and again, of one token and of several.
std::optional<DiagnosedDifference> counted_calls(const Subject& subject, const EncodingModel& model) {
  constexpr std::int64_t most = 300;
  const std::int64_t position = gen::simplest_position(model.range());
  for (const std::int64_t tokens : {std::int64_t{1}, tokens_asked}) {
    const Question question{.position = position, .tokens = tokens, .heads = 2, .fill = 7};
    if (!model.fits(question)) continue;
    const auto number = first_unlike(*subject.open(model.spec()), model, question, most);
    if (!number) continue;
    // In another session it is of the same number, or not of the calls' number.
    if (first_unlike(*subject.open(model.spec()), model, question, most) != number) return std::nullopt;
    const auto late = subject.open(model.spec());
    Question other = question;
    other.position = position + 1;
    const bool fits = model.fits(other);
    for (std::int64_t i = 1; i < *number && fits; ++i) model.ask(*late, model.call_of(other));
    const bool is_of_number =
        fits && apart(model.ask(*late, model.call_of(question)),
                      model.ask(*subject.open(model.spec()), model.call_of(question)), model.spec().dtype);
    return DiagnosedDifference{
        fmt::format("answers depend on {}: from the session's call number {} on calls of {} {} are answered otherwise",
                    is_of_number ? "how many calls came before" : "how often a call was asked before", *number, tokens,
                    tokens == 1 ? "token" : "tokens"),
        "H8", DiagnosedStage::position};
  }
  return std::nullopt;
}

}  // namespace

std::optional<DiagnosedDifference> dependent_answers(const Subject& subject, const Spec& claim) {
  try {
    const auto model = model_of(claim);
    const auto kept = subject.open(claim);
    for (const Call& call : calls_mistaken(*model)) {
      const Tensor answer = model->ask(*kept, call);
      const auto fresh = subject.open(claim);
      if (apart(answer, model->ask(*fresh, call), claim.dtype)) return state_told(subject, claim);
    }
    if (depends_on_order(subject, claim)) return state_told(subject, claim);
    return counted_calls(subject, *model);
  } catch (const SubjectFailure&) {
    return std::nullopt;
  }
}

std::optional<DiagnosedDifference> unusable_answers(const Subject& subject, const Spec& claim) {
  try {
    return told(subject, claim);
  } catch (const SubjectFailure&) {
    return std::nullopt;
  }
}

}  // namespace sextant::identify
