#include "reference/wide_value.hpp"

#include <gmp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sextant::reference {
namespace {

constexpr int width = 64;

__extension__ using Wide = unsigned __int128;  // which GCC and Clang have on every 64-bit target

// One end of an interval: truncated to 64 bits by MPFR, the last bit set if anything was cut off.
WideValue to_odd(mpfr_srcptr end) {
  if (mpfr_zero_p(end) != 0) return {};
  mpfr_t cut;
  mpfr_init2(cut, width);
  const bool inexact = mpfr_set(cut, end, MPFR_RNDZ) != 0;
  mpz_t integer;
  mpz_init(integer);
  const auto exponent = static_cast<int>(mpfr_get_z_2exp(integer, cut));
  mpz_abs(integer, integer);
  std::uint64_t significand = 0;
  mpz_export(&significand, nullptr, -1, sizeof significand, 0, 0, integer);
  mpz_clear(integer);
  const int sign = mpfr_sgn(cut) < 0 ? -1 : 1;
  mpfr_clear(cut);
  return {sign, significand | (inexact ? 1U : 0U), exponent};
}

// sign * magnitude * 2^exponent, magnitude > 0.
WideValue to_odd(int sign, Wide magnitude, int exponent) {
  const auto top = static_cast<std::uint64_t>(magnitude >> 64);
  const int bits =
      top != 0 ? 128 - std::countl_zero(top) : 64 - std::countl_zero(static_cast<std::uint64_t>(magnitude));
  const int shift = bits - width;
  if (shift <= 0) return {sign, static_cast<std::uint64_t>(magnitude << -shift), exponent + shift};
  const bool inexact = (magnitude & ((Wide{1} << shift) - 1)) != 0;
  return {sign, static_cast<std::uint64_t>(magnitude >> shift) | (inexact ? 1U : 0U), exponent + shift};
}

}  // namespace

double round_to(Dtype dtype, const WideValue& value) {
  if (value.significand == 0) return 0;
  const Format format = format_of(dtype);
  const int leading = value.exponent + width - 1;
  const int quantum = std::max(leading, format.min_exponent) - format.precision + 1;
  const int shift = quantum - value.exponent;  // at least 64 - 53
  std::uint64_t steps = 0;
  if (shift <= width) {
    const Wide significand = value.significand;
    const Wide half = Wide{1} << (shift - 1);
    steps = static_cast<std::uint64_t>(significand >> shift);
    const Wide rest = significand - (Wide{steps} << shift);
    if (rest > half || (rest == half && (steps & 1) != 0)) ++steps;
  }
  const double magnitude = std::ldexp(static_cast<double>(steps), quantum);
  return std::copysign(magnitude > largest_finite(dtype) ? std::numeric_limits<double>::infinity() : magnitude,
                       value.sign);
}

std::optional<WideValue> round_to_odd(const Enclosure& truth) {
  if (mpfr_number_p(truth.lower_end()) == 0 || mpfr_number_p(truth.upper_end()) == 0) return std::nullopt;
  // Rounding to odd is monotone, so that what both ends round to, everything between them does.
  const WideValue lower = to_odd(truth.lower_end());
  return lower == to_odd(truth.upper_end()) ? std::optional(lower) : std::nullopt;
}

namespace {

bool is_in_domain(double high, double error) { return std::fabs(high) >= error * 0x1p24 && std::isnormal(high); }

// The ends of an interval, rounded to odd: everything between them rounds to between these.
struct WideEnds {
  WideValue nearer;
  WideValue farther;
};

std::optional<WideEnds> wide_ends(double high, double low, double error) {
  // In units of 2^(E-120), E the exponent of high: high is an exact integer below 2^121; low, at most 2^67, is taken to
  // the unit below, and the error, at most 2^97, to the second above, which covers that.
  const double magnitude = std::fabs(high);
  if (!is_in_domain(high, error)) return std::nullopt;
  const int exponent = std::ilogb(magnitude);
  const int unit = exponent - 120;
  const Wide leading = Wide{static_cast<std::uint64_t>(std::ldexp(magnitude, 52 - exponent))} << 68;
  const double rest = std::floor(std::ldexp(high < 0 ? -low : low, -unit));
  const double radius = std::ceil(std::ldexp(error, -unit)) + 1;
  // Both are integers below 2^98, which Wide takes exactly; a negative one wraps, and so does the sum back.
  const Wide middle = leading + (rest < 0 ? Wide{0} - static_cast<Wide>(-rest) : static_cast<Wide>(rest));
  const int sign = high < 0 ? -1 : 1;
  return WideEnds{to_odd(sign, middle - static_cast<Wide>(radius), unit),
                  to_odd(sign, middle + static_cast<Wide>(radius), unit)};
}

}  // namespace

std::optional<WideValue> round_to_odd(double high, double low, double error) {
  const auto ends = wide_ends(high, low, error);
  return ends && ends->nearer == ends->farther ? std::optional(ends->nearer) : std::nullopt;
}

namespace {

// For nearly all numbers, and formats of fewer bits than a double's, ends in double do. The number is within
// r = |low| + error of high. With the margin m = 2 r + 2^-52 |high|, below |high| / 2 in the domain, high -+ m is
// computed within 2^-53 (|high| + m) <= 2^-52 |high| + r of itself: so the number lies between the two, and rounding is
// monotone.
std::optional<double> rounded_in_double(Dtype dtype, double high, double low, double error) {
  const double margin = 2 * (std::fabs(low) + error) + 0x1p-52 * std::fabs(high);
  const double value = round_to(dtype, high - margin);
  return value == round_to(dtype, high + margin) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<double> correctly_rounded(Dtype dtype, double high, double low, double error) {
  if (dtype != Dtype::float64 && is_in_domain(high, error)) {
    if (const auto value = rounded_in_double(dtype, high, low, error)) return value;
  }
  const auto ends = wide_ends(high, low, error);
  if (!ends) return std::nullopt;
  const double value = round_to(dtype, ends->nearer);
  return value == round_to(dtype, ends->farther) ? std::optional(value) : std::nullopt;
}

}  // namespace sextant::reference
