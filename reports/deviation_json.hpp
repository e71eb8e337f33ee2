#pragma once

#include <nlohmann/json.hpp>

#include "properties/verdict/verdict.hpp"
#include "reports/json_object.hpp"

namespace sextant {

/// Adds the errors of an example to its object: error_of_bound, error_absolute, error_ulps and, where there is one,
/// error_conditioned_ulps.
void add_deviation(nlohmann::ordered_json& example, const Deviation& deviation);

/// Those of an object; one that is older than conditioned ULPs has none. @throws ReadError.
Deviation deviation_of(const JsonObject& example);

}  // namespace sextant
