#include "app/subject_argument.hpp"

#include <string_view>
#include <vector>

#include "properties/mutants/mutant.hpp"
#include "properties/mutants/recipe_subject.hpp"

namespace sextant {
namespace {

std::vector<SubjectKind> all_kinds() {
  const std::span<const SubjectKind> offered = subject_kinds();
  std::vector<SubjectKind> kinds(offered.begin(), offered.end());
  kinds.push_back(
      {"mutant", "mutant:NAME", [](const std::string&, const std::string& mutant, const Spec&, const OpenOptions&) {
         return mutants::open(mutant);
       }});
  kinds.push_back(
      {"recipe", "recipe:NAME", [](const std::string&, const std::string& recipe, const Spec&, const OpenOptions&) {
         return mutants::open_recipe(recipe);
       }});
  return kinds;
}

}  // namespace

std::unique_ptr<Subject> subject_from_argument(const std::string& name, const Spec& spec, const OpenOptions& options) {
  return open_subject(all_kinds(), name, spec, options);
}

std::string subject_usage() { return usage_of(all_kinds()); }

std::vector<std::string> subject_beginnings() {
  std::vector<std::string> beginnings;
  for (const SubjectKind& kind : all_kinds())
    beginnings.push_back(std::string(kind.prefix) + (kind.usage.find(':') == std::string_view::npos ? "" : ":"));
  return beginnings;
}

}  // namespace sextant
