#include "lib/sinusoidal/exact.hpp"

#include <cmath>
#include <limits>

#include "lib/numeric/correct_rounding.hpp"

namespace sextant {
namespace {

// One attempt in W of `bits` bits, in units of 2^-bits. log(base), at most 710, times an exponent of at most 1: the exponential errs by less than
// 2^12 of itself. |position| <= 2^54 and w <= 1: the angle errs by 2^66, its reduction by 2^57, its sine by that and 2^14 of its own. 2^72 covers
// all of it and the product with the scale.
template <class W>
std::optional<double> attempt(Dtype dtype, const Sinusoidal& encoding, std::int64_t pair, std::int64_t position, Component component) {
  const bool by_dim = encoding.denominator == Denominator::dim;
  const std::int64_t numerator = by_dim ? 2 * pair : pair;
  const std::int64_t denominator = by_dim ? encoding.dim : encoding.dim / 2 - 1;
  const W frequency = pair == 0 ? W(1) : W(exp(-log(W(encoding.base)) * numerator / denominator));
  const WideSinCos<W> unit = wide_sin_cos(W(frequency * position));
  const W error = ldexp(W(std::fabs(encoding.scale)), 72 - std::numeric_limits<W>::digits);
  return rounded_alike(dtype, Approximation<W>{(component == Component::sin ? unit.sin : unit.cos) * encoding.scale, error});
}

}  // namespace

std::optional<double> exact_value(Dtype dtype, const Sinusoidal& encoding, std::int64_t pair, std::int64_t position, Component component) {
  if (position == 0) return component == Component::sin ? 0.0 : round_to(dtype, encoding.scale);
  return until_decided([&]<class W>() { return attempt<W>(dtype, encoding, pair, position, component); });
}

}  // namespace sextant
