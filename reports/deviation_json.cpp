#include "reports/deviation_json.hpp"

#include "reports/json_numbers.hpp"

namespace sextant {

void add_deviation(nlohmann::ordered_json& example, const Deviation& deviation) {
  example["error_of_bound"] = number_json(deviation.of_bound);
  example["error_absolute"] = number_json(deviation.absolute);
  example["error_ulps"] = number_json(deviation.ulps);
  if (deviation.conditioned_ulps) example["error_conditioned_ulps"] = number_json(*deviation.conditioned_ulps);
}

Deviation deviation_of(const JsonObject& example) {
  Deviation deviation{example.number("error_of_bound"), example.number("error_absolute"), example.number("error_ulps")};
  if (example.has("error_conditioned_ulps")) deviation.conditioned_ulps = example.number("error_conditioned_ulps");
  return deviation;
}

}  // namespace sextant
