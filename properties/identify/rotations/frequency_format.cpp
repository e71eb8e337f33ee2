#include "properties/identify/rotations/frequency_format.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::identify {

std::string_view words_of(FrequencyFormat format) {
  switch (format) {
    case FrequencyFormat::float64:
    case FrequencyFormat::float32: return "";
    case FrequencyFormat::running_product: return "frequencies come from a float32 product that runs over the pairs";
    case FrequencyFormat::float16: return "frequencies are rounded to float16";
    case FrequencyFormat::bfloat16: return "frequencies are rounded to bfloat16";
  }
  return "";
}

std::optional<Dtype> dtype_of(FrequencyFormat format) {
  if (format == FrequencyFormat::float16) return Dtype::float16;
  if (format == FrequencyFormat::bfloat16) return Dtype::bfloat16;
  return std::nullopt;
}

int digits_of(FrequencyFormat format) {
  switch (format) {
    case FrequencyFormat::float64:
    case FrequencyFormat::float32: return 0;
    case FrequencyFormat::running_product: return 2;
    case FrequencyFormat::float16: return 4;
    case FrequencyFormat::bfloat16: return 5;
  }
  return 0;
}

bool shows_float64(std::span<const MeasuredTurn> turns) {
  constexpr std::ptrdiff_t enough = 3;
  return std::ranges::count_if(turns, [](const MeasuredTurn& turn) {
           return turn.uncertainty < 0x1p-29 * std::fabs(turn.radians);
         }) >= enough;
}

bool are_numbers_of(FrequencyFormat format, std::span<const MeasuredTurn> turns, double unit) {
  const std::optional<Dtype> dtype = dtype_of(format);
  if (!dtype) return true;
  return std::ranges::all_of(turns, [&](const MeasuredTurn& turn) {
    const double value = std::fabs(turn.radians * unit);
    if (*dtype == Dtype::float16 && value < 0x1p-14) return true;  // its least numbers, which round absolutely
    const double off = turn.uncertainty * unit + value * 0x1p-22;
    return std::fabs(value - round_to(*dtype, value)) <= off;
  });
}

double left_open(FrequencyFormat format, std::size_t pair, const MeasuredTurn& turn) {
  const double u = format == FrequencyFormat::float64 ? 0x1p-53 : 0x1p-24;
  double relative = (6 + 2 * std::fabs(std::log(turn.radians))) * u;
  double absolute = turn.uncertainty;
  if (format == FrequencyFormat::running_product) relative += 2 * static_cast<double>(pair) * u;
  if (format == FrequencyFormat::float16) relative += 0x1p-11, absolute += 0x1p-25;
  if (format == FrequencyFormat::bfloat16) relative += 0x1p-8;
  return absolute + turn.radians * relative;
}

}  // namespace sextant::identify
