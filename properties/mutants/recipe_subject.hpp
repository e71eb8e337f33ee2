#pragma once

#include <memory>
#include <string_view>

#include "lib/spec/spec.hpp"
#include "reference/recipe.hpp"
#include "subjects/function.hpp"
#include "subjects/subject.hpp"

namespace sextant::mutants {

/// What a recipe answers to calls under a spec.
FunctionSubject::Call recipe_call(const reference::Recipe& recipe, const Spec& spec);

/// Recipe `name` (reference/recipe.hpp), bit for bit, as a subject: `recipe:NAME` answers encode of sinusoidal and
/// rotate of rope, and is unsupported where no deployed code of its kind is known.
/// @throws SubjectNameError if there is none.
std::unique_ptr<Subject> open_recipe(std::string_view name);

}  // namespace sextant::mutants
