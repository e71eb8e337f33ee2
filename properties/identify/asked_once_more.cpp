#include "properties/identify/asked_once_more.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lib/spec/operation.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

std::vector<Question> questions_of_other_extents(const gen::PositionRange& range) {
  const std::int64_t span = range.last - range.first;
  const auto many = [&](std::int64_t tokens) { return std::min(tokens, span); };
  return {{.position = range.first + std::min<std::int64_t>(1, span - 1), .fill = 7},
          {.position = range.first + std::min<std::int64_t>(301, span - 1), .batch = 2, .heads = 12, .fill = 7},
          {.position = range.first, .tokens = many(5), .batch = 6, .heads = 2, .fill = 7},
          {.position = range.first, .tokens = many(96), .batch = 2, .heads = 2, .fill = 7},
          {.position = range.first, .tokens = many(260), .fill = 7},
          {.position = range.last - many(200), .tokens = many(200), .fill = 7}};
}

std::string text_of(const Question& question, Operation operation) {
  std::string text = fmt::format("in a call of {} {} from position {} on", question.tokens,
                                 question.tokens == 1 ? "token" : "tokens", question.position);
  if (operation == Operation::rotate && question.batch * question.heads > 1)
    text += fmt::format(", of {} rows and {} heads,", question.batch, question.heads);
  return text + " answers are farther off than elsewhere";
}

}  // namespace

std::string answers_unlike(Session& session, const Spec& claim) {
  const auto model = model_of(claim);
  if (model->not_judged()) return {};
  const auto judge = model->judge();
  for (const Question& question : questions_of_other_extents(model->range())) {
    if (!model->fits(question)) continue;
    const Call call = model->call_of(question);
    try {
      if (judge->values(call, model->ask(session, call)).within == reference::Certainty::no)
        return text_of(question, operation_of(claim.encoding));
    } catch (const SubjectFailure&) {
      continue;
    }
  }
  return {};
}

}  // namespace sextant::identify
