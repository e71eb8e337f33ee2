#include "properties/diagnose/laws/violated_gradients.hpp"

#include <string>
#include <utility>

#include "properties/diagnose/laws/wrong_attention_gradients.hpp"
#include "properties/diagnose/laws/wrong_rotation_gradients.hpp"
#include "properties/diagnose/laws/wrong_table_gradients.hpp"

namespace sextant::identify {

std::optional<DiagnosedDifference> violated_gradients(const Subject& subject, const Spec& claim, const Clues& clues) {
  std::string words;
  if (const PropertyResult* rotation = violated_named(clues, "rotation_gradient"))
    words = words_of_rotation_gradient(subject, claim, clues, failing_cases_of(*rotation));
  else if (violated_named(clues, "adjoint") != nullptr)
    words = words_of_rotation_gradient(subject, claim, clues, {});
  else if (violated_named(clues, "attention_gradient") != nullptr)
    words = words_of_attention_gradient(subject, claim);
  else if (violated_named(clues, "scatter_gradient") != nullptr)
    words = words_of_table_gradient(subject, claim);
  if (words.empty()) return std::nullopt;
  return DiagnosedDifference{std::move(words), "", DiagnosedStage::other};
}

}  // namespace sextant::identify
