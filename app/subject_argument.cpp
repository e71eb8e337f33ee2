#include "app/subject_argument.hpp"

#include "properties/mutants/mutant.hpp"
#include "properties/mutants/recipe_subject.hpp"

namespace sextant {

std::unique_ptr<Subject> subject_from_argument(const std::string& name, const Spec& spec, const OpenOptions& options) {
  constexpr std::string_view mutant = "mutant:";
  constexpr std::string_view recipe = "recipe:";
  if (name.starts_with(mutant)) return mutants::open(std::string_view(name).substr(mutant.size()));
  if (name.starts_with(recipe)) return mutants::open_recipe(std::string_view(name).substr(recipe.size()));
  return open_subject(name, spec, options);
}

}  // namespace sextant
