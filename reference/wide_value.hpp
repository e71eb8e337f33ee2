#pragma once

#include <cstdint>
#include <optional>

#include "lib/numeric/dtype.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// A real number t rounded to odd at 64 bits of significand: t itself if it has so few bits, else of its two neighbours
/// the one whose last bit is 1. Rounding that to nearest in a format of at most 62 bits gives the nearest value to t
/// (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded sums", theorem 1), so that one truth serves every
/// dtype without double rounding: the last bit keeps apart what lies on, below and above each midpoint.
///
/// The value is sign * significand * 2^exponent; the significand's top bit is set, or it is 0. Exponents are unbounded,
/// so that subnormals are rounded once too.
struct WideValue {
  int sign = 1;
  std::uint64_t significand = 0;
  int exponent = 0;

  friend bool operator==(const WideValue&, const WideValue&) = default;
};

/// The value of the dtype nearest to the real number that `value` stands for, ties to even (IEEE 754-2019, 4.3.1):
/// overflow gives an infinity, underflow a zero of the number's sign. Zero itself is +0.
double round_to(Dtype dtype, const WideValue& value);

/// The real number in `truth`, rounded to odd; nothing while the interval's ends round apart, or if it is not finite.
std::optional<WideValue> round_to_odd(const Enclosure& truth);

/// The real number within `error` of high + low, rounded to odd, for |low| <= 2^-53 |high| and error >= 0; nothing
/// while that is open, and where |high| is 0 or below 2^24 error.
std::optional<WideValue> round_to_odd(double high, double low, double error);

/// The value of the dtype nearest to the real number within `error` of high + low; nothing while that is open. Domain
/// as above. It may know where round_to_odd does not, next to a value of 64 bits that the dtype has.
std::optional<double> correctly_rounded(Dtype dtype, double high, double low, double error);

}  // namespace sextant::reference
