// Pairs that the vectors leave open, one at a time.
//
//   1. NaN and infinities: by the signs of the true sine and cosine.
//   2. Multiples of 1/24 of a turn, where results may be exact or ties: in integers (exact_turns.hpp).
//   3. In double-double, with an interval that must round to one value.
//   4. At 256, 1024 and 5000 bits until it does. Elsewhere than at position 0 no result is a tie, so that this ends; at
//      position 0 a rational factor times x is rounded exactly.
//
// docs/proofs/rope.md, steps 5 and 20.

#include "lib/rope/settle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "lib/kernels/certify.hpp"
#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/rotation_error.hpp"
#include "lib/kernels/wide.hpp"
#include "lib/numeric/canonical_nan.hpp"
#include "lib/rope/wide_frequencies.hpp"

namespace sextant {
namespace {

enum class PairComponent { first, second };

// ---- Double-double, with std::fma (exact by the C standard, whatever the machine has). u = 2^-53; bounds in units of
// u^2.

Sum fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

Sum two_sum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

// Within 8 |x y|, as Multiply of lib/kernels/double_double-inl.h.
Sum product(const Sum& x, const Sum& y) {
  const double high = x.high * y.high;
  return fast_two_sum(high, std::fma(x.high, y.high, -high) + std::fma(x.high, y.low, x.low * y.high));
}

// Within 3 (|x| + |y|).
Sum sum(const Sum& x, const Sum& y) {
  const Sum highs = two_sum(x.high, y.high);
  return two_sum(highs.high, highs.low + (x.low + y.low));
}

// The double-double tier, for magnitudes of x in [2^-900, 2^900] and a in [2^-20, 2^20], where nothing that is lost to
// underflow, at most 2^-1072, comes near the bound: 256 u^2 of a m, m = |x0| + |x1| (docs/proofs/rope.md, step 5).
std::optional<double> by_double_double(const OpenPair& open, PairComponent component) {
  const double size = std::fabs(open.first) + std::fabs(open.second);
  if (!(size >= 0x1p-900 && size <= 0x1p900)) return std::nullopt;
  if (!(open.plan->factor.high >= 0x1p-20 && open.plan->factor.high <= 0x1p20)) return std::nullopt;
  const Sum a{open.plan->factor.high, open.plan->factor.low};
  const Sum cos = product(open.cos, a);
  const Sum sin = product(open.sin, a);
  const Sum value = component == PairComponent::first
                        ? sum(product(cos, {open.first, 0}), product(sin, {-open.second, 0}))
                        : sum(product(sin, {open.first, 0}), product(cos, {open.second, 0}));
  return round_interval(open.dtype, value.high, value.low, 0x1p-98 * a.high * size);
}

// ---- The last tier.

template <class Real>
struct WideRotation {
  WideSinCos<Real> turn;
  Real sin_error;
  Real cos_error;
};

template <class Real>
WideRotation<Real> wide_rotation(const OpenPair& open) {
  const auto& [ladder, index] = open.plan->ladders.places[static_cast<std::size_t>(open.pair)];
  const WideFrequencies<Real> frequencies(open.plan->ladders.ladders[static_cast<std::size_t>(ladder)],
                                          open.plan->length);
  if (!frequencies.decided()) return {{0, 0}, 1, 1};  // all that is known of a sine and a cosine
  const Approximation<Real> frequency = frequencies.radians(index);
  const Real angle = frequency.value * open.position;
  // Whole turns are taken off at full precision, so that the quotient inside wide_sin_cos stays small.
  const Real& two_pi = wide_two_pi<Real>();
  const WideSinCos<Real> turn = wide_sin_cos(Real(angle - round(angle / two_pi) * two_pi));
  // With e = spacing_at_one and the bounds of wide.hpp. The angle errs by that of the frequency, |position| times, by
  // the product's e, and by pi's 2^9 e and three operations where turns are taken off. What is left is at most pi, so
  // that wide_sin_cos errs by 2^13 e; where the angle is below 1/2 nothing is taken off, and the sine, of which there
  // are some as small as 2^-2048, is known relative to itself.
  const Real e = spacing_at_one<Real>();
  const Real of_angle =
      frequency.error * std::fabs(static_cast<double>(open.position)) * (1 + e) + abs(angle) * ldexp(e, 10);
  const Real absolute = ldexp(e, 13);
  return {turn, abs(angle) < 0.5 ? of_angle : Real(of_angle + absolute), of_angle + absolute};
}

template <class Real>
Approximation<Real> estimate(const OpenPair& open, PairComponent component) {
  const Real a = open.plan->factor.rational
                     ? Real(Real(open.plan->factor.rational->numerator) / open.plan->factor.rational->denominator)
                     : wide_attention_factor<Real>(open.plan->encoding);
  const Real own = component == PairComponent::first ? open.first : open.second;
  if (open.position == 0) return {a * own, ldexp(Real(abs(a * own)), 24 - bits_of<Real>())};
  const Real other = component == PairComponent::first ? Real(-Real(open.second)) : Real(open.first);
  const WideRotation<Real> rotation = wide_rotation<Real>(open);
  const Real from_own = own * rotation.turn.cos;
  const Real from_other = other * rotation.turn.sin;
  const Real inner = abs(own) * rotation.cos_error + abs(other) * rotation.sin_error;
  const Real roundings = ldexp(Real(abs(from_own) + abs(from_other)), 24 - bits_of<Real>());
  return {a * (from_own + from_other), a * (2 * inner + roundings)};
}

double by_wide(const OpenPair& open, PairComponent component) {
  if (open.position == 0 && open.plan->factor.rational) {
    // The one case with ties. x times the numerator has 106 bits, a tie times the denominator 60, so that two different
    // ones are 2^-170 apart, relatively: the quotient, correctly rounded, is on the right side of a tie or, where it is
    // one, exact.
    fill_wide_constants();
    const Wide<256> x = component == PairComponent::first ? open.first : open.second;
    return round_wide(open.dtype,
                      Wide<256>(x * open.plan->factor.rational->numerator / open.plan->factor.rational->denominator));
  }
  return correctly_rounded(open.dtype, [&]<class Real>() { return estimate<Real>(open, component); });
}

// A sine or cosine of j/24 of a turn that is rational, 0, 1/2 or 1 with its sign; nothing for others.
std::optional<double> rational_sine(int j) {
  if (j % 2 != 0) return std::nullopt;
  constexpr double thirty_degrees[] = {0, 0.5, NAN, 1, NAN, 0.5, 0, -0.5, NAN, -1, NAN, -0.5};
  const double sine = thirty_degrees[j / 2];
  return std::isnan(sine) ? std::nullopt : std::optional(sine);
}
std::optional<double> rational_cosine(int j) { return rational_sine((j + 6) % 24); }

// At a turn of j/24, what is exact: docs/proofs/rope.md, step 20. The attention factor is 1.
std::optional<double> exact_component(const OpenPair& open, int j, PairComponent component) {
  const double own = component == PairComponent::first ? open.first : open.second;
  const double other = component == PairComponent::first ? -open.second : open.first;
  if (j % 6 == 3) {
    // Sine and cosine are as large: they cancel or nothing is exact.
    const double of_own = j == 3 || j == 21 ? own : -own;
    const double of_other = j < 12 ? other : -other;
    return of_own == -of_other ? std::optional(0.0) : std::nullopt;
  }
  const auto sine = rational_sine(j);
  const auto cosine = rational_cosine(j);
  // A half is a double, or half way between two, and then of float64, which the product rounds.
  const auto rounded = [&](double part, double x) {
    return part == 0 || x == 0 ? 0.0 : round_to(open.dtype, part * x);
  };
  if (sine == 0 || (cosine && other == 0)) return rounded(*cosine, own);
  if (cosine == 0 || (sine && own == 0)) return rounded(*sine, other);
  return std::nullopt;
}

double finite_component(const OpenPair& open, PairComponent component) {
  if (open.position != 0) {
    if (const auto j = open.plan->exact_turns.twenty_fourths(open.pair, open.position)) {
      if (const auto value = exact_component(open, *j, component)) return *value;
    }
  }
  const bool zero = open.position == 0 ? (component == PairComponent::first ? open.first : open.second) == 0
                                       : open.first == 0 && open.second == 0;
  if (zero) return 0;
  if (open.position != 0) {
    if (const auto value = by_double_double(open, component)) return *value;
  }
  return by_wide(open, component);
}

// The signs of the true sin and cos, -1, 0 or 1. The nearest double has them too, as that of a zero where it
// underflows.
struct Signs {
  double sin;
  double cos;
};
Signs certain_signs(const OpenPair& open) {
  if (open.position == 0) return {0, 1};
  if (const auto j = open.plan->exact_turns.twenty_fourths(open.pair, open.position)) {
    const auto sine = rational_sine(*j);
    const auto cosine = rational_cosine(*j);
    if (sine == 0 || cosine == 0) return {*sine, *cosine};
  }
  if (std::min(std::fabs(open.sin.high), std::fabs(open.cos.high)) > 2 * precise_rotation_error) {
    return {std::copysign(1.0, open.sin.high), std::copysign(1.0, open.cos.high)};
  }
  const auto sine = [&]<class Real>() {
    const auto rotation = wide_rotation<Real>(open);
    return Approximation<Real>{rotation.turn.sin, rotation.sin_error};
  };
  const auto cosine = [&]<class Real>() {
    const auto rotation = wide_rotation<Real>(open);
    return Approximation<Real>{rotation.turn.cos, rotation.cos_error};
  };
  return {std::copysign(1.0, correctly_rounded(Dtype::float64, sine)),
          std::copysign(1.0, correctly_rounded(Dtype::float64, cosine))};
}

}  // namespace

SettledPair settle(const OpenPair& open) {
  if (std::isnan(open.first) || std::isnan(open.second)) {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }
  if (std::isinf(open.first) || std::isinf(open.second)) {
    const auto [sin, cos] = certain_signs(open);
    return {canonical(open.first * cos - open.second * sin), canonical(open.first * sin + open.second * cos)};
  }
  return {finite_component(open, PairComponent::first), finite_component(open, PairComponent::second)};
}

}  // namespace sextant
