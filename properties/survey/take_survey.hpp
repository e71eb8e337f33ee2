#pragma once

#include "lib/spec/spec.hpp"
#include "properties/verdict/survey.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// Measures a subject for the report's pictures, in a session of its own: of encodings made of pairs (sin, cos)
/// everything, of other codes the codes, of biases the bias. What the subject does not answer is left out.
/// @throws Interrupted.
Survey take_survey(const Subject& subject, const Spec& spec);

}  // namespace sextant
