#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sextant {

/// A double as {"decimal": "0.5", "hex": "0x1p-1"}: NaN and infinity can stand in it, and no digit is lost.
nlohmann::ordered_json number_json(double value);

/// A double in a long list: a number, or "nan", "inf", "-inf".
nlohmann::ordered_json short_number_json(double value);

/// The inverse of either. @throws std::invalid_argument for anything else.
double number_of(const nlohmann::ordered_json& json);

}  // namespace sextant
