// One value of a table that neither vectors nor double-double decide: the frequency, the angle and its sine at 256,
// 1024 and 5000 bits, until an interval rounds to one value. The bounds stand beside attempt().

#include "lib/sinusoidal/exact.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>

#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/rational_power.hpp"
#include "lib/kernels/wide.hpp"

namespace sextant {
namespace {

// w_pair = base^(-numerator/denominator).
struct PairExponent {
  std::int64_t numerator;
  std::int64_t denominator;
};

PairExponent exponent_of(const Sinusoidal& encoding, std::int64_t pair) {
  return {pair, pairs(encoding) - encoding.downscale_freq_shift};
}

// One attempt in W, with e = spacing_at_one and the bounds of wide.hpp. The exponent is at most 710 = log(base): its
// error, 710 (2^7 + 3) e, and that of exp, (2^5 710 + 2^6) e, make a relative one of w below 2^17 e; those of the
// unit's sum, quotient and 2 pi, 2^9 e and some, and that of the factor of angles leave it below 2^18 e. |position| <=
// 2^54, and a count turns by at most 2^m: the angle errs by 2^(72 + m) e. Whole turns are taken off it, for those
// beyond 2^60 that wide_sin_cos does not take: pi's 2^9 e and two roundings, of a product as large, 2^(64 + m) e.
// So its sine errs by both and 2^13 e more, or (2^12 + 2^10 2^50) e where no turn is taken off. 2^(74 + m) e covers all
// of it and the product with the scale.
template <class W>
std::optional<double> attempt(Dtype dtype, const SinusoidalPlan& plan, std::int64_t pair, std::int64_t position,
                              Component component) {
  const Sinusoidal& encoding = plan.encoding;
  const auto [numerator, denominator] = exponent_of(encoding, pair);
  W frequency = pair == 0 ? W(1) : W(exp(-log(W(encoding.base)) * numerator / denominator));
  const double factor = angles_per_step(encoding);
  frequency *= factor;
  frequency /= W(plan.unit.whole) + W(plan.unit.part);
  const W& two_pi = wide_two_pi<W>();
  const bool in_turns = plan.unit.of == CountUnit::Of::turn;
  if (in_turns) frequency *= two_pi;
  W angle = frequency * position;
  if (abs(angle) > 0x1p50) angle -= round(angle / two_pi) * two_pi;
  const WideSinCos<W> unit = wide_sin_cos(angle);
  const double largest = factor * (in_turns ? 8 : 1) / (plan.unit.whole + plan.unit.part);
  const int m = std::max(0, std::ilogb(largest) + 2);
  const W error = std::fabs(encoding.scale) * ldexp(spacing_at_one<W>(), 74 + m);
  return rounded_alike(dtype,
                       Approximation<W>{(component == Component::sin ? unit.sin : unit.cos) * encoding.scale, error});
}

using boost::multiprecision::cpp_int;

// A double that is not negative as an integer in units of 2^-1074.
cpp_int in_units_of_doubles(double value) {
  int exponent = 0;
  const auto whole = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  const int shift = exponent - 53 + 1074;
  return shift < 0 ? cpp_int(whole) >> static_cast<unsigned>(-shift) : cpp_int(whole) << static_cast<unsigned>(shift);
}

// j mod 4, where the angle is j/4 of a turn: position factor / (w^-1 (whole + part)) of one.
std::optional<int> quarters_of_turn(const SinusoidalPlan& plan, std::int64_t pair, std::int64_t position) {
  if (position == 0) return 0;
  if (plan.unit.of != CountUnit::Of::turn) return std::nullopt;
  const auto [numerator, denominator] = exponent_of(plan.encoding, pair);
  const auto divisor = rational_power(plan.encoding.base, numerator, denominator);
  if (!divisor) return std::nullopt;
  const cpp_int turns = cpp_int(4) * position * in_units_of_doubles(angles_per_step(plan.encoding)) << 1074;
  const cpp_int parts =
      in_units_of_doubles(*divisor) * (in_units_of_doubles(plan.unit.whole) + in_units_of_doubles(plan.unit.part));
  if (turns % parts != 0) return std::nullopt;
  const auto rest = static_cast<int>(cpp_int(turns / parts % 4));
  return rest < 0 ? rest + 4 : rest;
}

}  // namespace

std::optional<double> exact_value(Dtype dtype, const SinusoidalPlan& plan, std::int64_t pair, std::int64_t position,
                                  Component component) {
  if (const auto quarter = quarters_of_turn(plan, pair, position)) {
    // The cosine is the sine a quarter of a turn ahead.
    const int j = component == Component::sin ? *quarter : (*quarter + 1) % 4;
    if (j % 2 == 0) return 0.0;
    return round_to(dtype, j == 1 ? plan.encoding.scale : -plan.encoding.scale);
  }
  return until_decided([&]<class W>() { return attempt<W>(dtype, plan, pair, position, component); });
}

}  // namespace sextant
