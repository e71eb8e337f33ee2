#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/places/dividing_place.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// By which angles the vectors of a place are turned, of encodings whose pairs have one angle each. In calls of so many
/// tokens and more: "calls of 17 and more tokens: positions are multiplied by 16 / n in a call of n tokens, as where
/// they are interpolated, and the rest is right". At positions from one on: "positions from 8192 on turn on from there
/// by other frequencies, base^(-2i / 64), the exponents of the whole head, and the rest is right". Empty where angles
/// are no such ones in every call that is asked. @throws SubjectFailure, Interrupted.
std::string words_of_angles_there(const Subject& subject, const Spec& claim, const WrongPlace& place);

}  // namespace sextant::identify
