#include "properties/verdict/diagnosis.hpp"

#include <algorithm>

#include "properties/verdict/bound_text.hpp"

namespace sextant {

bool asks_for_diagnosis(std::span<const PropertyResult> results) {
  return std::ranges::any_of(results, [](const PropertyResult& result) {
    const bool is_refused = result.verdict == Verdict::crashed && result.reason.starts_with("reported an error");
    const bool is_open = result.verdict == Verdict::undecided && result.unsupported > 0;
    return is_violated_law(result) || ((is_refused || is_open) && result.level != Level::advice);
  });
}

std::string_view name_of(DiagnosedStage stage) {
  switch (stage) {
    case DiagnosedStage::position: return "position";
    case DiagnosedStage::frequency: return "frequency";
    case DiagnosedStage::angle: return "angle";
    case DiagnosedStage::table: return "table";
    case DiagnosedStage::rotation: return "rotation";
    case DiagnosedStage::rounding: return "rounding";
    case DiagnosedStage::arithmetic: return "arithmetic";
    case DiagnosedStage::other: return "other";
  }
  return "";
}

bool contradicts(const Diagnosis& diagnosis, std::string_view stage) {
  const auto agrees = [&](const DiagnosedDifference& difference) {
    switch (difference.stage) {
      // An angle of another position is another angle.
      case DiagnosedStage::position: return stage == "angle";
      case DiagnosedStage::arithmetic: return true;
      // What has no stage of its own looks like one or another, which would be told as a second cause.
      case DiagnosedStage::other: return false;
      default: return stage == name_of(difference.stage);
    }
  };
  return !diagnosis.differences.empty() && std::ranges::none_of(diagnosis.differences, agrees);
}

std::string words_of(const Diagnosis& diagnosis) {
  std::string text;
  for (const DiagnosedDifference& difference : diagnosis.differences) {
    if (!text.empty()) text += "; ";
    text += difference.words;
  }
  return text;
}

std::string remedy_of(const Diagnosis& diagnosis) {
  if (diagnosis.spec_json.empty()) return "";
  std::string changes;
  for (const std::string& change : diagnosis.changes) changes += (changes.empty() ? "" : ", ") + change;
  if (diagnosis.is_as_asked)
    return "asked as claimed, it answers by " + (changes.empty() ? "another claim" : changes) +
           " (a second, short audit found " + errors_text(diagnosis.of_bound) +
           "). It reads its spec, so change the code, not the claim";
  const std::string claim = changes.empty() ? "a claim of what is computed" : "with " + changes + " the claim";
  if (!diagnosis.is_verified) return claim + " was not seen to hold in a second, short audit";
  return claim + " holds: a second, short audit found " + errors_text(diagnosis.of_bound);
}

}  // namespace sextant
