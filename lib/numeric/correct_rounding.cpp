#include "lib/numeric/correct_rounding.hpp"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <cmath>
#include <mutex>

namespace sextant {
namespace {

bool same(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }

// Nearest, ties to even, in units of the last place: the scaling is by a power of two and floor is exact, so the comparison with one
// half is the only decision.
template <class Real>
double nearest(Dtype dtype, const Real& value) {
  const bool negative = signbit(value);
  if (value.is_zero()) return negative ? -0.0 : 0.0;
  const Format format = format_of(dtype);
  const Real magnitude = abs(value);
  const int exponent = std::max(ilogb(magnitude), format.min_exponent);
  if (exponent > format.max_exponent) return std::copysign(std::numeric_limits<double>::infinity(), negative ? -1.0 : 1.0);
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
void fill_constants_of() {
  using Limits = std::numeric_limits<Real>;
  Real sink = Limits::epsilon() + (Limits::min)() + (Limits::max)() + Limits::round_error() + Limits::infinity() + Limits::quiet_NaN();
  sink += boost::math::constants::pi<Real>();
  sink += log(Real(3)) + exp(Real(-5)) + sin(Real(5)) + cos(Real(5)) + pow(Real(3), Real(0.3));
}

}  // namespace

std::optional<double> rounded_alike(Dtype dtype, const Interval& interval) {
  const double low = round_to(dtype, interval.low);
  const double high = round_to(dtype, interval.high);
  return same(low, high) ? std::optional(low) : std::nullopt;
}

template <class Real>
std::optional<double> rounded_alike(Dtype dtype, const Approximation<Real>& approximation) {
  // The two ends are rounded to Real themselves: their own last places make the interval wide enough again.
  const Real margin = approximation.error + abs(approximation.value) * 4 * spacing_at_one<Real>();
  if (!isfinite(approximation.value) || !isfinite(margin)) return std::nullopt;
  const double low = nearest(dtype, Real(approximation.value - margin));
  const double high = nearest(dtype, Real(approximation.value + margin));
  return same(low, high) ? std::optional(low) : std::nullopt;
}

template std::optional<double> rounded_alike(Dtype, const Approximation<WideFloat<192>>&);
template std::optional<double> rounded_alike(Dtype, const Approximation<WideFloat<384>>&);
template std::optional<double> rounded_alike(Dtype, const Approximation<WideFloat<768>>&);

void fill_wide_constants() {
  static std::once_flag filled;
  std::call_once(filled, [] {
    fill_constants_of<WideFloat<192>>();
    fill_constants_of<WideFloat<384>>();
    fill_constants_of<WideFloat<768>>();
  });
}

}  // namespace sextant
