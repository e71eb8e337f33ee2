#include "properties/identify/violated_gradients.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "properties/identify/wrong_attention_gradients.hpp"
#include "properties/identify/wrong_rotation_gradients.hpp"
#include "properties/identify/wrong_table_gradients.hpp"

namespace sextant::identify {
namespace {

// The cases of a law that asks what accuracy asks, as tokens of accuracy.
std::vector<std::string> as_cases_of_accuracy(const PropertyResult& result) {
  std::vector<std::string> tokens;
  for (const std::optional<Example>& example : {result.simplest, result.worst}) {
    if (!example || example->shown != Shown::alone) continue;
    const std::size_t colon = example->token.find(':');
    if (colon != std::string::npos) tokens.push_back("accuracy" + example->token.substr(colon));
  }
  return tokens;
}

}  // namespace

std::optional<DiagnosedDifference> violated_gradients(const Subject& subject, const Spec& claim, const Clues& clues) {
  const auto result_of = [&](std::string_view id) {
    return std::ranges::find(clues.violated, id, &PropertyResult::id);
  };
  std::string words;
  const auto rotation = result_of("rotation_gradient");
  const auto adjoint = result_of("adjoint");
  if (rotation != clues.violated.end())
    words = words_of_rotation_gradient(subject, claim, clues, as_cases_of_accuracy(*rotation));
  else if (adjoint != clues.violated.end())
    words = words_of_rotation_gradient(subject, claim, clues, {});
  else if (result_of("attention_gradient") != clues.violated.end())
    words = words_of_attention_gradient(subject, claim);
  else if (result_of("scatter_gradient") != clues.violated.end())
    words = words_of_table_gradient(subject, claim);
  if (words.empty()) return std::nullopt;
  return DiagnosedDifference{std::move(words), "", DiagnosedStage::other};
}

}  // namespace sextant::identify
