#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/verdict/verdict.hpp"

namespace sextant {

/// What of the computation a difference is of, as a survey tells the stage that an error comes from; positions are what
/// it begins with. `arithmetic` is another accuracy class, whichever stage it comes from. Masks, weights and what else
/// is of none of them are `other`.
enum class DiagnosedStage { position, frequency, angle, table, rotation, rounding, arithmetic, other };
std::string_view name_of(DiagnosedStage stage);

/// One difference between what is claimed and what is computed.
struct DiagnosedDifference {
  std::string words;  ///< "claims pairing half, computes interleaved"
  std::string row;    ///< where the mechanism was seen, a row of docs/bug-zoo.md: "C2"; may be empty
  DiagnosedStage stage = DiagnosedStage::other;
};

/// Why a claim is violated, as far as the subject's answers tell (properties/identify/).
struct Diagnosis {
  std::vector<DiagnosedDifference> differences;
  std::string spec_json;             ///< the claim that it would meet; empty where no spec says it
  std::vector<std::string> changes;  ///< of that claim, "rope_theta 500000 instead of 10000"
  std::string command;               ///< the command line that audits it; empty where none is known
  bool is_verified = false;          ///< whether a short audit of that claim held
  bool is_as_asked = false;          ///< whether it did not, and held of the answers to the claim that is violated
  double of_bound = 0;               ///< the worst value of that audit against its bound
};

/// Whether a law or a contract is violated, or the subject answered it with an error of its own, which is what is
/// diagnosed.
bool asks_for_diagnosis(std::span<const PropertyResult> results);

/// Whether an error that comes from a surveyed stage, "frequency", is none of what the differences are.
bool contradicts(const Diagnosis& diagnosis, std::string_view stage);

/// "claims pairing half, computes interleaved; base 10000 measured, 500000 claimed".
std::string words_of(const Diagnosis& diagnosis);

/// "with rope_theta 500000 instead of 10000 the claim holds: a second, short audit found errors up to 0.3 of the
/// bound"; of a subject that reads its spec, whose answers to the claim are those, that the code is to change; empty
/// without such a claim.
std::string remedy_of(const Diagnosis& diagnosis);

}  // namespace sextant
