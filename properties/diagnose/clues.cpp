#include "properties/diagnose/clues.hpp"

#include <algorithm>
#include <optional>

#include "properties/catalogue.hpp"
#include "properties/engine/case.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {

const PropertyResult* violated_named(const Clues& clues, std::string_view id) {
  const auto found = std::ranges::find(clues.violated, id, &PropertyResult::id);
  return found == clues.violated.end() ? nullptr : &*found;
}

std::vector<std::string> failing_cases_of(const PropertyResult& result) {
  std::vector<std::string> tokens;
  for (const std::optional<Example>& example : {result.simplest, result.worst}) {
    if (!example || example->shown != Shown::alone) continue;
    const std::size_t colon = example->token.find(':');
    if (colon != std::string::npos) tokens.push_back("accuracy" + example->token.substr(colon));
  }
  return tokens;
}

std::vector<Question> failing_questions(const Spec& claim, const Clues& clues) {
  const auto accuracy = property_named("accuracy");
  std::vector<Question> questions;
  for (const std::string& token : clues.failing)
    questions.push_back(values_of(model_of(claim)->question_fields(), read_token(token, accuracy->fields(claim))));
  return questions;
}

}  // namespace sextant::identify
