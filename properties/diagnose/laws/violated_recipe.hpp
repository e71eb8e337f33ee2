#pragma once

#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/places/wrong_places.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Which calls, rows of a batch or heads do not have the bits of the recipe that recipe_identity names, where all
/// others have them, and of which other recipe they are if those of one alone: "calls of more than 128 tokens have not
/// the bits of float32 but those of float32-exponential, and the rest has". Nothing without such a place. @throws
/// SubjectFailure, Interrupted.
std::optional<DiagnosedDifference> violated_recipe(const Subject& subject, const Spec& claim, const Clues& clues);

/// Of the law of bounds: what comes back in place of 1, where that is all that is wrong. @throws likewise.
std::optional<DiagnosedDifference> violated_bounds(const Subject& subject, const Spec& claim, const Clues& clues);

}  // namespace sextant::identify
