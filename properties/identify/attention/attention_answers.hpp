#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/place_of_calls.hpp"
#include "properties/identify/identification.hpp"
#include "properties/model/attention_case.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What ordinary answers of attention show, held against every right value of the claim.
struct AttentionAnswers {
  enum class Are { right, wrong } are = Are::right;
  std::optional<Fault> fault;  ///< what explains those that are wrong
  std::string condition;       ///< the end of its sentence on where it is so; empty where it is so everywhere
  std::optional<Spec> spec;  ///< the claim that they meet, where one does: the fault, or its fields, say how it differs
  Confidence confidence = Confidence::high;  ///< that it is this one
  /// Where none does, what they are of: "head 3 alone is wrong"; empty where the wrong ones are not parted from others.
  std::string of_heads;   ///< or of batch rows
  std::string of_tokens;  ///< "queries from token 64 of a call on are wrong, those before are right"
  PlaceOfCalls of_calls;  ///< "values are wrong in calls with padding, and right in those without"
};

/// Whether all those calls are answered as a claim has it, which may be another one than the session is of.
/// @throws what attend does, but for calls that few subjects support.
bool meet_ordinary_calls(Session& session, const Spec& claim);

/// Of whole calls, short and long, of one with padding and of a step; those that a subject does not support are passed
/// over. @throws what attend does, but for these.
AttentionAnswers attention_answers(Session& session, const Spec& claim);

}  // namespace sextant::identify
