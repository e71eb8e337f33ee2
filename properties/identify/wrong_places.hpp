#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "properties/verdict/verdict.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What a diagnosis is helped by; each may be absent.
struct Clues {
  const Subject* proposer = nullptr;          ///< what answers as a claim asks, by other means; it is judged itself
  std::vector<std::string> failing = {};      ///< tokens of cases of accuracy that are violations by themselves
  std::vector<PropertyResult> violated = {};  ///< of laws and contracts
};

/// What wrong values have in common that no right one has: "the last token of a call is not rotated, and the rest is
/// right", "pair 14 (channels 14 and 46) is wrong, and the rest is right", "all values are 1.5 times what they should
/// be". It is told of accuracy's own verdicts on each vector of some calls (judged_vectors.hpp) and, of some wrong
/// ones, on each channel. Nothing where no such place divides all of them, or there is no proposer. @throws
/// SubjectFailure, Interrupted.
std::optional<DiagnosedDifference> wrong_places(const Subject& subject, const Spec& claim, const Clues& clues);

}  // namespace sextant::identify
