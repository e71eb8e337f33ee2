#pragma once

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include "lib/numeric/dtype.hpp"

// The last tier: arithmetic of a fixed but arbitrary precision, by cpp_bin_float, for constants and for the rare value that double-double
// leaves open. It is slow, and it is asked for once in 2^25 values or less.

namespace sextant {

/// A floating-point number of `bits` bits.
template <unsigned bits>
using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<bits, boost::multiprecision::digit_base_2, void, std::int32_t>,
    boost::multiprecision::et_off>;

/// Held while Wide numbers are in use: Boost 1.74 fills constants such as cpp_bin_float's epsilon at first use, behind a plain flag.
std::unique_lock<std::mutex> wide_lock();

template <class W>
struct WideSinCos {
  W sin;
  W cos;
};

/// sin and cos of `angle` radians, |angle| <= 2^60, each within 2^-bits (2^14 + 2 |angle|) of that of the number given. The angle is reduced by
/// multiples of pi/2, whose error counts |angle| times; Boost's sin and cos are good to a few units in the last place below pi/4, and 2^14
/// are allowed for.
template <class W>
WideSinCos<W> wide_sin_cos(const W& angle) {
  const W& half_pi = boost::math::constants::half_pi<W>();
  const W quarters = round(angle / half_pi);
  const W rest = angle - quarters * half_pi;
  const W sine = sin(rest);
  const W cosine = cos(rest);
  switch (static_cast<std::int64_t>(quarters) & 3) {
    case 0: return {sine, cosine};
    case 1: return {cosine, W(-sine)};
    case 2: return {W(-sine), W(-cosine)};
    default: return {W(-cosine), sine};
  }
}

/// Where a tie goes.
enum class Tie { up, down };

/// The magnitude of `dtype` nearest to `magnitude` > 0, overflow to infinity.
template <class W>
double nearest_magnitude(Dtype dtype, const W& magnitude, Tie tie) {
  const Format format = format_of(dtype);
  const int exponent = std::max(static_cast<int>(ilogb(magnitude)), format.min_exponent);
  const int quantum = exponent - format.precision + 1;
  const W quanta = ldexp(magnitude, -quantum);
  const W integer = tie == Tie::up ? W(floor(quanta + 0.5)) : W(ceil(quanta - 0.5));
  const double rounded = std::ldexp(static_cast<double>(integer), quantum);  // exact: at most 2^53 quanta, none below the least one
  return rounded > largest_finite(dtype) ? std::numeric_limits<double>::infinity() : rounded;
}

/// The value of `dtype` that every real in [value - error, value + error] rounds to, overflow to infinity; nothing if they do not all
/// round alike or a tie is among them. An interval that reaches zero rounds to no one zero, so that the sign of a zero is always known.
template <class W>
std::optional<double> round_interval(Dtype dtype, const W& value, const W& error) {
  const W below = value - error;
  const W above = value + error;
  if (below <= 0 && above >= 0) return std::nullopt;
  const bool negative = below < 0;
  // A tie at the lower end goes up and one at the upper end down, so that the two agree only where no tie lies between them.
  const double lower = nearest_magnitude(dtype, negative ? W(-above) : below, Tie::up);
  const double upper = nearest_magnitude(dtype, negative ? W(-below) : above, Tie::down);
  if (lower != upper) return std::nullopt;
  return negative ? -lower : lower;
}

/// Ziv's strategy (1991): `attempt.template operator()<bits>()` with 256, 512, 1024 and 2048 bits until it returns a value; nothing if it never
/// does. The caller holds wide_lock().
template <class Attempt>
std::optional<double> until_decided(Attempt attempt) {
  if (const std::optional<double> value = attempt.template operator()<256>()) return value;
  if (const std::optional<double> value = attempt.template operator()<512>()) return value;
  if (const std::optional<double> value = attempt.template operator()<1024>()) return value;
  return attempt.template operator()<2048>();
}

}  // namespace sextant
