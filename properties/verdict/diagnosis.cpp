#include "properties/verdict/diagnosis.hpp"

#include <algorithm>
#include <cstdio>

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
  if (!diagnosis.is_verified) return "a claim of what is computed was not seen to hold";
  char share[32];
  std::snprintf(share, sizeof share, "%.2g", diagnosis.of_bound);
  return std::string("a claim of what is computed holds, its worst value at ") + share + " of the bound";
}

}  // namespace sextant
