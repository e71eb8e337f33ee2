#pragma once

#include <nlohmann/json.hpp>

#include "properties/verdict/tally.hpp"
#include "reports/json_object.hpp"

namespace sextant {

/// What a shard's report and an event log keep of a property's cases. What is absent is left out.
nlohmann::ordered_json tally_json(const Tally& tally);

/// The inverse. @throws ReadError, naming the field.
Tally tally_of(const JsonObject& json);

/// A property that a run has not judged to its end, as an event log keeps it, and the inverse.
nlohmann::ordered_json underway_json(const Underway& underway);
Underway underway_of(const JsonObject& json);

}  // namespace sextant
