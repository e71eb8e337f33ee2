#include "attack/numbers/rounding.hpp"

#include <algorithm>

namespace sextant::attack {

Bits rounded(const ElementFormat& format, mpfr_srcptr value) {
  const Bits sign = mpfr_signbit(value) != 0 ? format.sign() : 0;
  if (mpfr_zero_p(value) != 0) return sign;
  if (mpfr_inf_p(value) != 0) return sign | format.infinity();
  // |value| is in [2^(exponent - 1), 2^exponent).
  const mpfr_exp_t exponent = mpfr_get_exp(value);
  if (exponent > format.greatest() + 2) return sign | format.infinity();
  if (exponent < format.least - format.precision - 2) return sign;
  const mpfr_exp_t place = std::max<mpfr_exp_t>(exponent - 1, format.least) - format.stored();
  Real scaled(mpfr_get_prec(value));
  mpfr_abs(scaled.get(), value, MPFR_RNDN);
  mpfr_mul_2si(scaled.get(), scaled.get(), -place, MPFR_RNDN);
  Real whole(64);  // holds every integer that comes, so that this is the one rounding
  mpfr_rint(whole.get(), scaled.get(), MPFR_RNDN);
  const auto significand = static_cast<Bits>(mpfr_get_uj(whole.get(), MPFR_RNDN));
  // A significand that reached the next power of two carries into the exponent; the hidden bit adds one to it.
  const Bits bits = (static_cast<Bits>(place - (format.least - format.stored())) << format.stored()) + significand;
  return sign | std::min(bits, format.infinity());
}

std::optional<Bits> rounded(const ElementFormat& format, const Interval& interval) {
  if (mpfr_nan_p(interval.low.get()) != 0 || mpfr_nan_p(interval.high.get()) != 0) return std::nullopt;
  const Bits low = rounded(format, interval.low.get());
  const Bits high = rounded(format, interval.high.get());
  return low == high ? std::optional(low) : std::nullopt;
}

Bits nearest(const ElementFormat& format, const Enclose& enclose) {
  for (long bits = first_precision; bits <= last_precision; bits *= 2) {
    const auto interval = enclose(bits);
    if (!interval) continue;
    if (const auto value = rounded(format, *interval)) return *value;
  }
  throw Undecided("a value stays open at the last precision");
}

}  // namespace sextant::attack
