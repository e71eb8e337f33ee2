#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

struct RoundedValues {
  std::string words;
  DiagnosedStage stage = DiagnosedStage::rounding;
  bool are_truncated = false;
};

/// Which values are rounded to a format narrower than the spec's dtype, or truncated: "cosines and sines are rounded to
/// bfloat16", "the rotation is computed in float16", "results are truncated to bfloat16, not rounded to nearest"; empty
/// where neither is seen, or the encoding is no list of pairs. The spec names all else that the subject computes.
///
/// A sine or cosine of a nonzero integer times a frequency is a number of a narrow format by chance only: of 16 bits
/// fewer, once in 65536. Truncation shows in errors that all have one sign and reach a unit in the last place.
///
/// @throws SubjectFailure, Interrupted.
RoundedValues rounded_values(Session& session, const Spec& spec);

}  // namespace sextant::identify
