#include "reports/diagnosis_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "reports/json_numbers.hpp"

namespace sextant {

using nlohmann::ordered_json;

ordered_json diagnosis_json(const Diagnosis& diagnosis) {
  ordered_json differences = ordered_json::array();
  for (const DiagnosedDifference& difference : diagnosis.differences)
    differences.push_back({{"words", difference.words}, {"row", difference.row}, {"stage", name_of(difference.stage)}});
  const bool has_spec = !diagnosis.spec_json.empty();
  return {{"differences", std::move(differences)},
          {"spec", has_spec ? ordered_json::parse(diagnosis.spec_json) : ordered_json()},
          {"changes", diagnosis.changes},
          {"command", diagnosis.command},
          {"verified", diagnosis.is_verified},
          {"as_asked", diagnosis.is_as_asked},
          {"error_of_bound", number_json(diagnosis.of_bound)}};
}

Diagnosis diagnosis_of(const JsonObject& json) {
  Diagnosis diagnosis;
  const ordered_json& list = json.at("differences");
  if (!list.is_array()) json.fail("differences", "expected a list");
  for (const ordered_json& one : list) {
    const JsonObject difference(one, fmt::format("{}[{}]", json.path("differences"), diagnosis.differences.size()));
    using enum DiagnosedStage;
    // Reports of earlier versions have none.
    const DiagnosedStage stage =
        difference.has("stage")
            ? difference.one_of("stage", {position, frequency, angle, table, rotation, rounding, arithmetic, other})
            : other;
    diagnosis.differences.push_back({difference.text("words"), difference.text("row"), stage});
  }
  if (json.has("spec")) {
    if (!json.at("spec").is_object()) json.fail("spec", "expected a spec");
    diagnosis.spec_json = json.at("spec").dump();
  }
  if (json.has("changes")) diagnosis.changes = json.texts("changes");
  if (json.has("command")) diagnosis.command = json.text("command");
  diagnosis.is_verified = json.truth("verified");
  if (json.has("as_asked")) diagnosis.is_as_asked = json.truth("as_asked");  // not in reports of earlier versions
  diagnosis.of_bound = json.number("error_of_bound");
  return diagnosis;
}

}  // namespace sextant
