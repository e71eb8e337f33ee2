#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/places/judged_vectors.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What the values of a weight are taken for, where every answer to some calls about weights of every magnitude and of
/// patterns is the right one of that, and not all are of the weight as given: "the weight's values are limited to
/// 65504", "the weight's subnormal numbers are taken for 0". Nothing of claims without a weight, or where nothing that
/// is tried explains them. @throws SubjectFailure, Interrupted.
std::optional<DiagnosedDifference> other_weight(const Subject& subject, const Spec& claim);

/// The same of single vectors, each of which is wrong: empty where they are the right ones of no other weight, or of
/// fewer than three positions.
std::string words_of_weight_there(const Spec& claim, const std::vector<ComparedVector>& compared);

}  // namespace sextant::identify
