#pragma once

#include <optional>
#include <string>
#include <vector>

#include "properties/identify/fitted_answers.hpp"
#include "properties/verdict/diagnosis.hpp"

namespace sextant::identify {

/// Another claim that a subject may meet, of the sizes of the one that it was opened under.
struct TriedClaim {
  Spec spec;
  std::string words;  ///< what it is called in place of the fields that differ; may be empty
  DiagnosedStage stage = DiagnosedStage::other;
};

struct MetClaim {
  TriedClaim claim;
  double of_bound = 0;  ///< the worst value against its bound
};

/// The claim itself, without words, where every answer meets it, else the first of `list` that every answer meets under
/// its own class and evaluation; those that are no valid spec, or of which no bound is known, are passed over. Nothing
/// where none is met.
std::optional<MetClaim> first_met(const AskedAnswers& asked, const Spec& claim, std::vector<TriedClaim> list);

/// What a subject computes that no spec says, as a claim of the same axes about calls and answers that are taken for
/// others.
struct OtherReading {
  std::string words;
  DiagnosedStage stage = DiagnosedStage::other;
  Spec spec;
  CallTaken taken = {};
};

/// The first of `list` that every answer meets; those that are no valid spec are passed over. Nothing where none is.
const OtherReading* first_reading(const AskedAnswers& asked, const std::vector<OtherReading>& list);

/// What tokens' places are taken for, in words, where every answer to a claim is right of those: "all axes have the
/// positions of the first". Empty where answers are right of the places as given, or of none that is tried.
std::string other_places(const AskedAnswers& asked, const Spec& claim);

/// The axis whose positions each one has, where every answer is right of such an order of the axes and not of the
/// claim's; empty otherwise.
std::vector<std::int64_t> exchanged_axes(const AskedAnswers& asked, const Spec& claim);

/// "axis 0 has those of 2, axis 2 has those of 0".
std::string order_text(const std::vector<std::int64_t>& order);

}  // namespace sextant::identify
