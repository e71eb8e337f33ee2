#include "properties/verdict/diagnosis.hpp"

#include <algorithm>

#include "properties/verdict/bound_text.hpp"

namespace sextant {

bool asks_for_diagnosis(std::span<const PropertyResult> results) {
  return std::ranges::any_of(results, [](const PropertyResult& result) {
    return result.verdict == Verdict::violated && result.level != Level::advice;
  });
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
  const std::string claim = changes.empty() ? "a claim of what is computed" : "with " + changes + " the claim";
  if (!diagnosis.is_verified) return claim + " was not seen to hold in a second, short audit";
  return claim + " holds: a second, short audit, its worst value at " + bound_text(diagnosis.of_bound);
}

}  // namespace sextant
