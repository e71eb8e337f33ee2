#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/places/judged_vectors.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// A rotation that is another one in some vectors: what explains every wrong vector that was judged, and of which right
/// ones it says the same as the claim.
struct ReadingOfPlace {
  std::string words;  ///< "positions are divided by the factor as whole numbers, rounded down"
  DiagnosedStage stage = DiagnosedStage::other;
  std::function<bool(const JudgedVector& vector)> differs;
};

/// The first of other_readings() and of other fields of the claim that explains what is wrong of a rotation. Nothing of
/// other encodings. @throws SubjectFailure, Interrupted.
std::optional<ReadingOfPlace> reading_of_wrong(const Subject& subject, const Spec& claim, const VectorJudge& judge);

}  // namespace sextant::identify
