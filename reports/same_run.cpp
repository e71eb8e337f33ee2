#include "reports/same_run.hpp"

#include <fmt/format.h>

#include "reports/text.hpp"

namespace sextant {

std::optional<std::string> difference_of_runs(const Report& one, const Report& other) {
  std::optional<std::string> difference;
  const auto compare = [&](const char* what, const std::string& first, const std::string& second) {
    if (!difference && first != second) difference = printable(fmt::format("{}: {} and {}", what, first, second));
  };
  compare("versions of Sextant", one.sextant_version, other.sextant_version);
  compare("subjects", one.subject, other.subject);
  compare("subjects", fmt::format("{} {}", one.subject_name, one.subject_version),
          fmt::format("{} {}", other.subject_name, other.subject_version));
  compare("specs", one.spec_json, other.spec_json);
  compare("profiles", one.profile, other.profile);
  compare("seeds", std::to_string(one.seed), std::to_string(other.seed));
  compare("recipes", one.recipe, other.recipe);
  compare("amounts", amount_text(one.amount), amount_text(other.amount));
  compare("strictness", std::string(name_of(one.strictness)), std::string(name_of(other.strictness)));
  compare("commands", one.command, other.command);
  return difference;
}

}  // namespace sextant
