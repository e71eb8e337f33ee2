#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/question.hpp"
#include "properties/verdict/verdict.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What a diagnosis is helped by; each may be absent.
struct Clues {
  const Subject* proposer = nullptr;          ///< what answers as a claim asks, by other means; it is judged itself
  std::vector<std::string> failing = {};      ///< tokens of cases of accuracy that are violations by themselves
  std::vector<PropertyResult> violated = {};  ///< of laws and contracts
};

/// The violated law or contract of that name; null if it is none of them.
const PropertyResult* violated_named(const Clues& clues, std::string_view id);

/// The cases that show a violation by themselves, the simplest and the worst, as tokens of accuracy: of accuracy, or of
/// a law that asks what accuracy asks.
std::vector<std::string> failing_cases_of(const PropertyResult& result);

/// The questions of accuracy that are violations by themselves.
std::vector<Question> failing_questions(const Spec& claim, const Clues& clues);

}  // namespace sextant::identify
