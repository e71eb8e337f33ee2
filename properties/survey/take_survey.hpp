#pragma once

#include "lib/spec/spec.hpp"
#include "properties/verdict/survey.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What a survey is taken for: a summary's class, stage, horizon and errors, which a call or two tell; or also what the
/// report's pictures show.
enum class SurveyFor { summary, pictures };

/// Measures a subject in a session of its own: of encodings made of pairs (sin, cos) everything, of other codes the
/// codes, of biases the bias, these two for pictures alone. What the subject does not answer is left out.
/// @throws Interrupted.
Survey take_survey(const Subject& subject, const Spec& spec, SurveyFor purpose);

}  // namespace sextant
