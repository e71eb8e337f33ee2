#include "attack/numbers/element.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace sextant::attack {

ElementFormat element_format(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return {64, 53, -1022};
    case Dtype::float32: return {32, 24, -126};
    case Dtype::float16: return {16, 11, -14};
    case Dtype::bfloat16: return {16, 8, -126};
    default: throw std::invalid_argument("element_format: no floating dtype");
  }
}

double value_of(const ElementFormat& format, Bits bits) {
  const Bits rest = magnitude(format, bits);
  const double sign = is_negative(format, bits) ? -1.0 : 1.0;
  if (rest > format.infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (rest == format.infinity()) return sign * std::numeric_limits<double>::infinity();
  const auto exponent = static_cast<int>(rest >> format.stored());
  const Bits fraction = rest & ((Bits{1} << format.stored()) - 1);
  const Bits significand = exponent == 0 ? fraction : fraction | (Bits{1} << format.stored());
  return sign * std::ldexp(static_cast<double>(significand),
                           (exponent == 0 ? 1 : exponent) - 1 + format.least - format.stored());
}

Bits bits_of(const ElementFormat& format, double value) {
  const Bits sign = std::signbit(value) ? format.sign() : 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) return format.quiet_nan();
  if (std::isinf(value)) return sign | format.infinity();
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), format.least);
  const auto significand = static_cast<Bits>(std::ldexp(size, format.stored() - exponent));
  // The hidden bit of a normal number adds one to its exponent field.
  const Bits bits = (static_cast<Bits>(exponent - format.least) << format.stored()) + significand;
  if (value_of(format, bits) != size) throw std::invalid_argument("bits_of: no value of the format");
  return sign | bits;
}

namespace {

// The real at which rounding changes from the element of this magnitude to the next one above. Exact: it has one bit
// more than the format, and long double's exponents reach further than any format's.
long double border_above(const ElementFormat& format, Bits size) {
  const long double value = value_of(format, size);
  if (size == format.largest()) return value + std::ldexp(1.0L, format.greatest() - format.precision);
  return (value + static_cast<long double>(value_of(format, size + 1))) / 2;
}

}  // namespace

bool certainly_rounds_to(const ElementFormat& format, Bits bits, long double value, long double error) {
  // Sums of value and error are rounded; twice the error covers that as long as it is above the value's last place.
  constexpr int digits = std::numeric_limits<long double>::digits;
  if (digits < 64 || !std::isfinite(value) || !(error >= std::fabs(value) * std::ldexp(1.0L, 2 - digits))) return false;
  if (is_nan(format, bits)) return false;
  const bool negative = is_negative(format, bits);
  const long double size = negative ? -value : value;
  const long double reach = 2 * error;
  const Bits candidate = magnitude(format, bits);
  if (!(size - reach > 0)) return false;  // the sign is not known
  if (candidate != format.infinity() && !(size + reach < border_above(format, candidate))) return false;
  return candidate == 0 || size - reach > border_above(format, candidate - 1);
}

}  // namespace sextant::attack
