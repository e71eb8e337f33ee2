#include "reports/same_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "reports/text.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

void add_differences(const ordered_json& one, const ordered_json& other, const std::string& path,
                     std::vector<std::string>& differences) {
  std::vector<std::string> names;
  for (const ordered_json* object : {&one, &other}) {
    for (const auto& [name, value] : object->items()) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  const auto text = [](const ordered_json& object, const std::string& name) {
    return object.contains(name) ? object.at(name).dump() : "none";
  };
  for (const std::string& name : names) {
    if (text(one, name) == text(other, name)) continue;
    const bool are_objects =
        one.contains(name) && other.contains(name) && one.at(name).is_object() && other.at(name).is_object();
    if (are_objects) {
      add_differences(one.at(name), other.at(name), path + name + ".", differences);
    } else {
      differences.push_back(fmt::format("{}{} {} and {}", path, name, text(one, name), text(other, name)));
    }
  }
}

}  // namespace

std::string difference_of_specs(const std::string& one, const std::string& other) {
  std::vector<std::string> differences;
  add_differences(ordered_json::parse(one), ordered_json::parse(other), "", differences);
  return fmt::format("{}", fmt::join(differences, ", "));
}

std::optional<std::string> difference_of_runs(const Report& one, const Report& other) {
  std::vector<std::string> differences;
  const auto compare = [&](const char* what, const std::string& first, const std::string& second) {
    if (first != second) differences.push_back(printable(fmt::format("{}: {} and {}", what, first, second)));
  };
  compare("versions of Sextant", one.sextant_version, other.sextant_version);
  compare("subjects", one.subject, other.subject);
  if (differences.empty()) {
    compare("subjects", fmt::format("{} {}", one.subject_name, one.subject_version),
            fmt::format("{} {}", other.subject_name, other.subject_version));
  }
  if (const std::string specs = difference_of_specs(one.spec_json, other.spec_json); !specs.empty())
    differences.push_back(printable("specs: " + specs));
  compare("profiles", one.profile, other.profile);
  compare("seeds", std::to_string(one.seed), std::to_string(other.seed));
  compare("recipes", one.recipe, other.recipe);
  compare("amounts", amount_text(one.amount), amount_text(other.amount));
  compare("strictness", std::string(name_of(one.strictness)), std::string(name_of(other.strictness)));
  if (differences.empty()) compare("commands", one.command, other.command);
  if (differences.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(differences, "; "));
}

}  // namespace sextant
