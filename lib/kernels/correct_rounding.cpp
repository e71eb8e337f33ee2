// Rounds a real number that is known to lie in an interval.
//
//   1. Both ends are rounded to the dtype; where they give the same value and sign, so does every number between them,
//      since rounding is monotone (Ziv 1991).
//   2. A number of hundreds of bits is scaled by a power of two, so that the dtype's last place becomes 1; its whole
//      part, and the comparison of the rest with one half, decide. Both are exact.
//
// The callers own the proof that the number lies in the interval.

#include "lib/kernels/correct_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant {
namespace {

bool same(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }

}  // namespace

std::optional<double> rounded_alike(Dtype dtype, const Interval& interval) {
  const double low = round_to(dtype, interval.low);
  const double high = round_to(dtype, interval.high);
  return same(low, high) ? std::optional(low) : std::nullopt;
}

// Nearest, ties to even, in units of the last place: the scaling is by a power of two and floor is exact, so the
// comparison with one half is the only decision.
template <class Real>
double round_wide(Dtype dtype, const Real& value) {
  const bool negative = signbit(value);
  if (value.is_zero()) return negative ? -0.0 : 0.0;
  const Format format = format_of(dtype);
  const Real magnitude = abs(value);
  const int exponent = std::max(ilogb(magnitude), format.min_exponent);
  if (exponent > format.max_exponent)
    return std::copysign(std::numeric_limits<double>::infinity(), negative ? -1.0 : 1.0);
  const int unit = exponent - format.precision + 1;
  const Real scaled = ldexp(magnitude, -unit);
  const Real whole = floor(scaled);
  const Real rest = scaled - whole;
  auto steps = static_cast<double>(whole);  // at most 2^53: exact
  const bool odd = std::fmod(steps, 2.0) != 0;
  if (rest > 0.5 || (rest == 0.5 && odd)) steps += 1;
  const double rounded = std::ldexp(steps, unit);
  const double finite = rounded > largest_finite(dtype) ? std::numeric_limits<double>::infinity() : rounded;
  return negative ? -finite : finite;
}

template <class Real>
std::optional<double> rounded_alike(Dtype dtype, const Approximation<Real>& approximation) {
  // The two ends are rounded to Real themselves: their own last places make the interval wide enough again.
  const Real margin = approximation.error + abs(approximation.value) * 4 * spacing_at_one<Real>();
  if (!isfinite(approximation.value) || !isfinite(margin)) return std::nullopt;
  const double low = round_wide(dtype, Real(approximation.value - margin));
  const double high = round_wide(dtype, Real(approximation.value + margin));
  return same(low, high) ? std::optional(low) : std::nullopt;
}

template double round_wide(Dtype, const Wide<256>&);
template double round_wide(Dtype, const Wide<1024>&);
template double round_wide(Dtype, const Wide<5000>&);
template std::optional<double> rounded_alike(Dtype, const Approximation<Wide<256>>&);
template std::optional<double> rounded_alike(Dtype, const Approximation<Wide<1024>>&);
template std::optional<double> rounded_alike(Dtype, const Approximation<Wide<5000>>&);

}  // namespace sextant
