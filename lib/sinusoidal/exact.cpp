#include "lib/sinusoidal/exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/kernels/correct_rounding.hpp"

namespace sextant {
namespace {

// One attempt in W, with e = spacing_at_one and the bounds of wide.hpp. The exponent is at most 710 = log(base): its
// error, 710 (2^7 + 3) e, and that of exp, (2^5 710 + 2^6) e, make a relative one of w below 2^17 e. |position| <= 2^54
// and w <= 2^m: m is 0, or what a factor of angles above 1 makes it, 20 at most, and its product adds e. The angle errs
// by 2^(72 + m) e. Whole turns are taken off it, for those beyond 2^60 that wide_sin_cos does not take: pi's 2^9 e and
// two roundings, of a product as large as the angle, 2^(64 + m) e. So its sine errs by both and 2^13 e more.
// 2^(74 + m) e covers all of it and the product with the scale.
template <class W>
std::optional<double> attempt(Dtype dtype, const Sinusoidal& encoding, std::int64_t pair, std::int64_t position,
                              Component component) {
  const std::int64_t denominator = pairs(encoding) - encoding.downscale_freq_shift;
  const W power = pair == 0 ? W(1) : W(exp(-log(W(encoding.base)) * pair / denominator));
  const double factor = angles_per_step(encoding);
  W angle = power * factor * position;
  const W& two_pi = boost::math::constants::two_pi<W>();
  if (abs(angle) > 0x1p50) angle -= round(angle / two_pi) * two_pi;
  const WideSinCos<W> unit = wide_sin_cos(angle);
  const int m = std::max(0, std::ilogb(factor) + 1);
  const W error = std::fabs(encoding.scale) * ldexp(spacing_at_one<W>(), 74 + m);
  return rounded_alike(dtype,
                       Approximation<W>{(component == Component::sin ? unit.sin : unit.cos) * encoding.scale, error});
}

}  // namespace

std::optional<double> exact_value(Dtype dtype, const Sinusoidal& encoding, std::int64_t pair, std::int64_t position,
                                  Component component) {
  if (position == 0) return component == Component::sin ? 0.0 : round_to(dtype, encoding.scale);
  return until_decided([&]<class W>() { return attempt<W>(dtype, encoding, pair, position, component); });
}

}  // namespace sextant
