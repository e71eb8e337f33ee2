#include "properties/identify/asked_once_more.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "lib/spec/of.hpp"
#include "lib/spec/operation.hpp"
#include "lib/spec/position_grid.hpp"
#include "properties/gen/order.hpp"
#include "properties/identify/rotations/other_lengths.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// On both sides of where a rule that looks at lengths begins, up to twice that and beyond, of one token and of several.
std::vector<Question> questions_of_lengths(const gen::PositionRange& range, std::int64_t limit) {
  std::vector<Question> questions;
  constexpr std::int64_t few = 4;
  for (const std::int64_t length : {limit / 2, limit - 1, limit, limit + 1, limit + limit / 4, limit + limit / 2,
                                    2 * limit - 1, 2 * limit, 2 * limit + 65, 3 * limit, 5 * limit, 11 * limit + 7}) {
    for (const std::int64_t tokens : {std::int64_t{1}, few}) {
      const std::int64_t first = length - tokens;
      if (first >= range.first && length <= range.last)
        questions.push_back({.position = first, .tokens = tokens, .fill = 7});
    }
  }
  return questions;
}

std::vector<Question> questions_of_other_extents(const gen::PositionRange& range) {
  const std::int64_t span = range.last - range.first;
  const auto many = [&](std::int64_t tokens) { return std::min(tokens, span); };
  return {{.position = range.first + std::min<std::int64_t>(1, span - 1), .fill = 7},
          {.position = range.first + std::min<std::int64_t>(301, span - 1), .batch = 2, .heads = 12, .fill = 7},
          {.position = range.first + std::min<std::int64_t>(3, span - 1), .tokens = many(2), .fill = 7},
          {.position = range.first + std::min<std::int64_t>(3, span - 1), .tokens = many(3), .fill = 7},
          {.position = range.first, .tokens = many(5), .batch = 6, .heads = 2, .fill = 7},
          {.position = range.first, .tokens = many(96), .batch = 2, .heads = 2, .fill = 7},
          {.position = range.first, .tokens = many(260), .fill = 7},
          {.position = range.last - many(200), .tokens = many(200), .fill = 7}};
}

// Beyond what a whole number of 32 bits holds, with a sign and without one.
std::vector<Question> questions_beyond_32_bits(const gen::PositionRange& range) {
  std::vector<Question> questions;
  constexpr std::int64_t few = 4;
  for (const std::int64_t position : {(std::int64_t{1} << 31) + 5, (std::int64_t{1} << 32) + 301}) {
    if (position >= range.first && position + few <= range.last)
      questions.push_back({.position = position, .tokens = few, .fill = 7});
  }
  return questions;
}

// A call that the subject refuses tells nothing.
bool is_off(Session& session, const EncodingModel& model, Judge& judge, const Call& call) {
  try {
    return judge.values(call, model.ask(session, call)).within == reference::Certainty::no;
  } catch (const SubjectFailure&) {
    return false;
  }
}

// Of rotations, calls whose positions do not rise one by one, near the start and far from it.
std::string in_other_orders(Session& session, const EncodingModel& model, Judge& judge) {
  if (operation_of(model.spec().encoding) != Operation::rotate || axes_of(model.spec().encoding) != 1) return {};
  struct Ordered {
    gen::Order order;
    std::string_view words;
  };
  constexpr Ordered orders[] = {{gen::Order::descending, "fall"},
                                {gen::Order::shuffled, "rise and fall"},
                                {gen::Order::with_gaps, "rise by three"},
                                {gen::Order::twice_each, "stand there twice each"}};
  const gen::PositionRange range = model.range();
  for (const std::int64_t position : {range.first + 301, range.first + (range.last - range.first) / 2}) {
    for (const Ordered& one : orders) {
      const Question question{.position = position,
                              .tokens = 12,
                              .batch = 2,
                              .heads = 2,
                              .fill = 7,
                              .order = static_cast<std::int64_t>(one.order)};
      if (position >= range.last || !model.admits(question)) continue;
      if (is_off(session, model, judge, model.accuracy_call(question)))
        return fmt::format("in a call from position {} on whose positions {} answers are farther off than elsewhere",
                           position_grid_of(model.spec().encoding).text(position), one.words);
    }
  }
  return {};
}

// Of rotations, a row of near positions behind the farthest one: what is counted from a row's first is rounded there.
std::string behind_the_last(Session& session, const EncodingModel& model, Judge& judge) {
  if (operation_of(model.spec().encoding) != Operation::rotate || axes_of(model.spec().encoding) != 1) return {};
  const gen::PositionRange range = model.range();
  constexpr std::int64_t tokens = 5;
  const Question question{.position = range.first, .tokens = tokens, .heads = 2, .fill = 7};
  if (range.last - range.first < 2 * tokens || !model.fits(question)) return {};
  Call call = model.call_of(question);
  call.positions.front() = range.last - 1;
  return is_off(session, model, judge, call) ? "in a call whose first position is the last that is claimed, and whose "
                                               "others are the first, answers are "
                                               "farther off than elsewhere"
                                             : "";
}

// Of rotations, rows that begin with several zeros, as where padding on the left has them.
std::string in_padded_rows(Session& session, const EncodingModel& model, Judge& judge) {
  if (operation_of(model.spec().encoding) != Operation::rotate || axes_of(model.spec().encoding) != 1) return {};
  const Question question{.position = 0, .tokens = 5, .batch = 2, .heads = 2, .fill = 7};
  if (!model.fits(question) || model.range().first > 0 || model.range().last < question.tokens) return {};
  Call call = model.call_of(question);
  call.positions = {0, 0, 0, 1, 2, 0, 0, 1, 2, 3};
  return is_off(session, model, judge, call)
             ? "in a call whose rows begin with several zeros answers are farther off than elsewhere"
             : "";
}

// Of rotations, batches of a few rows whose positions differ, some of as many rows as tokens or heads.
std::string in_other_batches(Session& session, const EncodingModel& model, Judge& judge) {
  if (operation_of(model.spec().encoding) != Operation::rotate) return {};
  struct Extents {
    std::int64_t batches;
    std::int64_t tokens;
    std::int64_t heads;
  };
  constexpr Extents asked[] = {{3, 1, 2}, {4, 1, 1}, {3, 2, 1}, {3, 3, 2}, {4, 4, 1}, {2, 4, 4}, {4, 3, 4}, {5, 2, 2}};
  const gen::PositionRange range = model.range();
  const std::int64_t span = std::min<std::int64_t>(range.last - range.first, 251);
  for (const auto& [batches, tokens, heads] : asked) {
    const Question question{.position = range.first, .tokens = tokens, .batch = batches, .heads = heads, .fill = 7};
    if (!model.fits(question)) continue;
    Call call = model.call_of(question);
    for (std::size_t i = 0; i < call.positions.size(); ++i)
      call.positions[i] = range.first + (static_cast<std::int64_t>(i) * 97 + 57) % span;
    if (is_off(session, model, judge, call))
      return fmt::format(
          "in a call of {} rows, {} {} and {} {} whose positions lie in no order answers are farther off "
          "than elsewhere",
          batches, tokens, tokens == 1 ? "token" : "tokens", heads, heads == 1 ? "head" : "heads");
  }
  return {};
}

// Of grids, the longest call of some hundred cells that accuracy begins with, and one of half as many: tables that are
// cut into tiles are wrong in such calls first.
std::string in_many_cells(Session& session, const EncodingModel& model, Judge& judge) {
  if (axes_of(model.spec().encoding) < 2 || operation_of(model.spec().encoding) == Operation::attend) return {};
  constexpr std::int64_t most_cells = 1024;
  const auto longest_of = [&](std::int64_t most) {
    std::optional<Question> found;
    for (const Question& question : model.first_questions()) {
      if (question.tokens <= most && (!found || question.tokens > found->tokens) && model.admits(question))
        found = question;
    }
    return found;
  };
  const std::optional<Question> longest = longest_of(most_cells);
  if (!longest) return {};
  for (const auto& question : {longest, longest_of(longest->tokens / 2)}) {
    if (question && is_off(session, model, judge, model.accuracy_call(*question)))
      return fmt::format("in a call of {} tokens answers are farther off than elsewhere", question->tokens);
  }
  return {};
}

// Of rotations, large vectors: what is limited or infinite in a format of 16 bits shows in those alone, as do sums of
// squares; and, of heads that are normalized, small ones, whose squares vanish.
std::string in_other_magnitudes(Session& session, const EncodingModel& model, Judge& judge) {
  const Spec& spec = model.spec();
  const Operation operation = operation_of(spec.encoding);
  const bool turns = operation == Operation::rotate || operation == Operation::qk_norm_rope;
  if (!turns || spec.dtype == Dtype::float16) return {};
  const Question question{
      .position = std::max<std::int64_t>(model.range().first, 0), .tokens = 3, .heads = 2, .fill = 7};
  if (!model.fits(question)) return {};
  struct Magnitude {
    double times;
    std::string_view words;
  };
  std::vector<Magnitude> asked{{0x1p17, "large"}};
  if (is_of<QkNormRope>(spec)) asked.push_back({0x1p-10, "small"});
  for (const auto& [times, words] : asked) {
    Call call = model.call_of(question);
    for (Tensor& x : call.vectors) {
      for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, x.at(i) * times);
    }
    if (is_off(session, model, judge, call))
      return fmt::format("where vectors are {}, {:.3g} times the ordinary ones, answers are farther off than elsewhere",
                         words, times);
  }
  return {};
}

std::string words_of_question(const Question& question, const Spec& claim) {
  std::string text =
      fmt::format("in a call of {} {} from position {} on", question.tokens, question.tokens == 1 ? "token" : "tokens",
                  position_grid_of(claim.encoding).text(question.position));
  if (operation_of(claim.encoding) == Operation::rotate && question.batch * question.heads > 1)
    text += fmt::format(", of {} rows and {} heads,", question.batch, question.heads);
  return text + " answers are farther off than elsewhere";
}

}  // namespace

std::string answers_unlike(Session& session, const Spec& claim) {
  const auto model = model_of(claim);
  if (model->not_judged()) return {};
  const auto judge = model->judge();
  std::vector<Question> questions = questions_of_other_extents(model->range());
  std::ranges::move(questions_beyond_32_bits(model->range()), std::back_inserter(questions));
  const Rope* rope = rope_of(claim);
  if (const auto limit = rope == nullptr ? std::nullopt : length_limit(rope->rope_scaling))
    std::ranges::move(questions_of_lengths(model->range(), *limit), std::back_inserter(questions));
  for (const Question& question : questions) {
    if (model->fits(question) && is_off(session, *model, *judge, model->call_of(question)))
      return words_of_question(question, claim);
  }
  if (std::string words = in_padded_rows(session, *model, *judge); !words.empty()) return words;
  if (std::string words = behind_the_last(session, *model, *judge); !words.empty()) return words;
  if (std::string words = in_many_cells(session, *model, *judge); !words.empty()) return words;
  if (std::string words = in_other_magnitudes(session, *model, *judge); !words.empty()) return words;
  if (std::string words = in_other_batches(session, *model, *judge); !words.empty()) return words;
  return in_other_orders(session, *model, *judge);
}

}  // namespace sextant::identify
