#pragma once

#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/places/wrong_places.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// The gradient of a rotation is the rotation by the opposite angle, so that a subject that answers `rotate` with its
/// gradients is diagnosed as one that rotates. Empty where nothing is told of it. `failing` are tokens of cases of
/// accuracy, which rotation_gradient has too. @throws SubjectFailure, Interrupted.
std::string words_of_rotation_gradient(const Subject& subject, const Spec& claim, const Clues& clues,
                                       const std::vector<std::string>& failing);

}  // namespace sextant::identify
