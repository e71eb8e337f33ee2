#include "lib/sinusoidal/exact.hpp"

#include <cmath>
#include <limits>

#include "lib/kernels/correct_rounding.hpp"

namespace sextant {
namespace {

// One attempt in W, with e = spacing_at_one and the bounds of wide.hpp. The exponent is at most 710 = log(base): its
// error, 710 (2^7 + 3) e, and that of exp, (2^5 710 + 2^6) e, make a relative one of w below 2^17 e. |position| <= 2^54
// and w <= 1: the angle errs by 2^72 e, its sine by that and (2^12 + 2^10 2^54) e more. 2^74 e covers all of it and the
// product with the scale.
template <class W>
std::optional<double> attempt(Dtype dtype, const Sinusoidal& encoding, std::int64_t pair, std::int64_t position,
                              Component component) {
  const bool by_dim = encoding.denominator == Denominator::dim;
  const std::int64_t numerator = by_dim ? 2 * pair : pair;
  const std::int64_t denominator = by_dim ? encoding.dim : encoding.dim / 2 - 1;
  const W frequency = pair == 0 ? W(1) : W(exp(-log(W(encoding.base)) * numerator / denominator));
  const WideSinCos<W> unit = wide_sin_cos(W(frequency * position));
  const W error = std::fabs(encoding.scale) * ldexp(spacing_at_one<W>(), 74);
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
