#include "properties/identify/frequency_format.hpp"

#include <cmath>

namespace sextant::identify {

std::string_view name_of(FrequencyFormat format) {
  switch (format) {
    case FrequencyFormat::float32: return "float32";
    case FrequencyFormat::running_product: return "a float32 product that runs over the pairs";
    case FrequencyFormat::float16: return "float16";
    case FrequencyFormat::bfloat16: return "bfloat16";
  }
  return "";
}

double left_open(FrequencyFormat format, std::size_t pair, const MeasuredTurn& turn) {
  constexpr double u = 0x1p-24;
  double relative = (6 + 2 * std::fabs(std::log(turn.radians))) * u;
  double absolute = turn.uncertainty;
  if (format == FrequencyFormat::running_product) relative += 2 * static_cast<double>(pair) * u;
  if (format == FrequencyFormat::float16) relative += 0x1p-11, absolute += 0x1p-25;
  if (format == FrequencyFormat::bfloat16) relative += 0x1p-8;
  return absolute + turn.radians * relative;
}

}  // namespace sextant::identify
