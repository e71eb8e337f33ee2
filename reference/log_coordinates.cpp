#include "reference/log_coordinates.hpp"

namespace sextant::reference {

// Logarithms of base 8 of two integers, subtracted.
Enclosure log_coordinate(const LogCoordinates& encoding, std::int64_t axis, std::int64_t offset, Precision precision) {
  if (offset == 0) return {0.0, precision};
  const std::int64_t distance = offset < 0 ? -offset : offset;
  // Whole where 1 + x is a power of 8.
  std::int64_t numerator = 8 * distance + divisor(encoding, axis);
  std::int64_t power = 0;
  while (numerator % 8 == 0 && numerator / 8 >= divisor(encoding, axis)) {
    numerator /= 8;
    ++power;
  }
  Enclosure value(power, precision);
  if (numerator != divisor(encoding, axis)) {
    const Enclosure above = log(Enclosure(8 * distance + divisor(encoding, axis), precision));
    value = (above - log(Enclosure(divisor(encoding, axis), precision))) / log(Enclosure(8.0, precision));
  }
  return offset < 0 ? -value : value;
}

}  // namespace sextant::reference
