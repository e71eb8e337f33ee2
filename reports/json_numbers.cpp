#include "reports/json_numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "lib/numeric/hex_text.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

double parsed(const std::string& text) {
  if (text == "nan" || text == "-nan") return std::numeric_limits<double>::quiet_NaN();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw std::invalid_argument("expected a number");
  return value;
}

}  // namespace

ordered_json number_json(double value) { return {{"decimal", fmt::format("{}", value)}, {"hex", hex_text(value)}}; }

ordered_json short_number_json(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(fmt::format("{}", value));
}

double number_of(const ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return parsed(json.get<std::string>());
  if (json.is_object() && json.contains("hex") && json["hex"].is_string())
    return parsed(json["hex"].get<std::string>());
  throw std::invalid_argument("expected a number");
}

}  // namespace sextant
