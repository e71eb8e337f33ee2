#pragma once

#include <nlohmann/json_fwd.hpp>

#include "properties/verdict/diagnosis.hpp"
#include "reports/json_object.hpp"

namespace sextant {

/// A diagnosis as reports and event logs hold it, and back. @throws ReadError.
nlohmann::ordered_json diagnosis_json(const Diagnosis& diagnosis);
Diagnosis diagnosis_of(const JsonObject& json);

}  // namespace sextant
