#include "reference/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/numeric/ulp.hpp"

namespace sextant::reference {
namespace {

// ulp of one end. The exponent is read from MPFR, since rounding an end to double could lift it over a binade border.
// MPFR's significands lie in [1/2, 1), so its exponent is floor(log2 |x|) + 1.
double ulp_of_end(Dtype dtype, mpfr_srcptr end) {
  if (mpfr_nan_p(end) != 0) return std::numeric_limits<double>::quiet_NaN();
  if (mpfr_inf_p(end) != 0) return std::numeric_limits<double>::infinity();
  const Format format = format_of(dtype);
  const long exponent = mpfr_zero_p(end) != 0 ? format.min_exponent : static_cast<long>(mpfr_get_exp(end)) - 1;
  const long clamped = std::clamp<long>(exponent, format.min_exponent, format.max_exponent);
  return std::ldexp(1.0, static_cast<int>(clamped) - format.precision + 1);
}

// The end in units of its ulp, rounded to an integer by MPFR (ties to even), times that ulp: exact but for that one
// rounding, since the scaling is by a power of two and the result has at most `precision` bits (or is 2^e_max+1).
double round_end(Dtype dtype, mpfr_srcptr end) {
  if (mpfr_number_p(end) == 0) return mpfr_get_d(end, MPFR_RNDN);
  const double unit = ulp_of_end(dtype, end);
  mpfr_t scaled;
  mpfr_init2(scaled, mpfr_get_prec(end));
  mpfr_mul_2si(scaled, end, -std::ilogb(unit), MPFR_RNDN);
  mpfr_rint(scaled, scaled, MPFR_RNDN);
  const double steps = mpfr_get_d(scaled, MPFR_RNDN);
  mpfr_clear(scaled);
  const double value = steps * unit;
  if (std::fabs(value) > largest_finite(dtype)) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return value;
}

}  // namespace

Enclosure ulp(Dtype dtype, const Enclosure& truth) {
  const Enclosure magnitude = abs(truth);
  const Precision precision = truth.precision();
  return Enclosure::hull(Enclosure(ulp_of_end(dtype, magnitude.lower_end()), precision),
                         Enclosure(ulp_of_end(dtype, magnitude.upper_end()), precision));
}

std::optional<double> correctly_rounded(Dtype dtype, const Enclosure& truth) {
  const double low = round_end(dtype, truth.lower_end());
  const double high = round_end(dtype, truth.upper_end());
  // Zeros of either sign are the same real number.
  return low == high ? std::optional(low) : std::nullopt;
}

}  // namespace sextant::reference
