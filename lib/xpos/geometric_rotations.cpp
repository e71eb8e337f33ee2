// A rotation times a power of its own, one pair at a time: what the vectors of xPos leave open.
//
//   1. In double: sine and cosine from an exact phase, the power by the C library's log and exp, with an interval that
//      must round to one value.
//   2. At position 0, where the angle is 0, the power times a may be a value or a tie: decided in integers.
//   3. At 256, 1024 and 5000 bits, until the interval rounds to one value.
//
// Why every value is decided: w p is algebraic, and not 0 but at position 0, so that e^{iwp} is transcendental
// (Lindemann), and with it a cos + b sin for all real algebraic a and b that are not both 0: such a number is a linear
// form in e^{iwp} and its inverse. The factor is algebraic. So the result is no value of a dtype and no tie. At
// position 0 it is the factor times a, which exact_product tells where it is a value or a tie.

#include "lib/xpos/geometric_rotations.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <numeric>
#include <optional>
#include <type_traits>

#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/wide.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

// The exponent of the factor is cut off where any float64 times it has left the range of float64 for good: the cut
// value and the true one then round alike, to an infinity or to a zero.
constexpr double largest_exponent = 20000;

using boost::multiprecision::cpp_int;

// The whole number whose n-th power is `value`, if there is one; value < 2^30.
std::optional<std::int64_t> whole_root(std::int64_t value, std::int64_t n) {
  if (value == 1 || n == 1) return value;
  if (n >= 30) return std::nullopt;
  const std::int64_t root = std::llround(std::pow(static_cast<double>(value), 1 / static_cast<double>(n)));
  if (pow(cpp_int(root), static_cast<unsigned>(n)) != value) return std::nullopt;
  return root;
}

struct OddPart {
  std::int64_t odd;
  std::int64_t twos;
};
OddPart odd_part(std::int64_t number) {
  std::int64_t twos = 0;
  for (; number % 2 == 0; number /= 2) ++twos;
  return {number, twos};
}

// The factor times a, a not 0, where that is an odd number of at most 2^107 times a power of two, as values of a dtype
// and ties between them are; nothing where it is not. The factor is r^(E/B), r = N/D in lowest terms. With E/B = g/h in
// lowest terms, h > 0, it is rational if and only if N and D are h-th powers, n^h and d^h: it is (n/d)^g then. Of a =
// m 2^e, m odd and below 2^53, the product is a power of two times m times odd parts of n and d to the power |g|, one
// above and one below, of which that below must divide m. An odd part is 1 or at least 3, and 3^68 > 2^107.
std::optional<Wide<256>> exact_product(const PowerScale& power, double a) {
  // B = m_B 2^e_B exactly; E/B = E / m_B 2^-e_B.
  int exponent = 0;
  const OddPart base =
      odd_part(static_cast<std::int64_t>(std::ldexp(std::frexp(power.exponent_denominator, &exponent), 53)));
  std::int64_t twos = exponent - 53 + base.twos;  // of B
  if (power.exponent_numerator == 0) return Wide<256>(a);
  const OddPart count = odd_part(std::abs(power.exponent_numerator));
  const std::int64_t common = std::gcd(count.odd, base.odd);
  twos -= count.twos;
  // g/h = (count.odd / base.odd) 2^-twos.
  if (base.odd / common >= 30 || twos >= 5) return std::nullopt;
  const std::int64_t h = base.odd / common << std::max<std::int64_t>(twos, 0);
  const std::int64_t shared = std::gcd(power.numerator, power.denominator);
  const auto n = whole_root(power.numerator / shared, h);
  const auto d = whole_root(power.denominator / shared, h);
  if (!n || !d) return std::nullopt;
  // A power of two whose exponent is held at 2^14 leaves the range of every dtype as the true one does.
  constexpr std::int64_t most = std::int64_t{1} << 14;
  const std::int64_t odd_count = count.odd / common;
  const std::int64_t g = twos < 0 && (twos < -14 || odd_count > most)
                             ? most
                             : std::min(odd_count << std::max<std::int64_t>(-twos, 0), most);
  const bool is_inverse = power.exponent_numerator < 0;
  const OddPart above = odd_part(is_inverse ? *d : *n);
  const OddPart below = odd_part(is_inverse ? *n : *d);
  if ((above.odd > 1 || below.odd > 1) && g > 68) return std::nullopt;
  int of_a = 0;
  const OddPart given = odd_part(static_cast<std::int64_t>(std::ldexp(std::frexp(std::fabs(a), &of_a), 53)));
  const cpp_int divisor = pow(cpp_int(below.odd), static_cast<unsigned>(g));
  if (given.odd % divisor != 0) return std::nullopt;
  const cpp_int odd = given.odd / divisor * pow(cpp_int(above.odd), static_cast<unsigned>(g));
  if (msb(odd) >= 107) return std::nullopt;
  const std::int64_t shift = of_a - 53 + given.twos + (above.twos - below.twos) * g;
  const Wide<256> size = ldexp(Wide<256>(odd), static_cast<int>(shift));
  return a < 0 ? Wide<256>(-size) : size;
}

}  // namespace

// sin and cos of the angle with the bounds of their absolute errors, and the factor with that of its relative one.
template <class Real>
struct GeometricRotations::Turn::Parts {
  Real sin;
  Real cos;
  Real sin_error;
  Real cos_error;
  Real factor;
  Real factor_error;
};

struct GeometricRotations::Turn::Precise : Parts<Wide<256>> {};

GeometricRotations::GeometricRotations(double base, std::int64_t width, std::int64_t count)
    : base_(base), width_(width), frequencies_(geometric_turns(base, 2, width, count)) {}

GeometricRotations::Turn::Turn(const GeometricRotations& owner, std::int64_t pair, std::int64_t position)
    : owner_(&owner),
      pair_(pair),
      position_(position),
      cheap_(sin_cos(phase_at(owner.frequencies_.at(static_cast<std::size_t>(pair)), position))) {}

GeometricRotations::Turn GeometricRotations::at(std::int64_t pair, std::int64_t position) const {
  const StandardArithmetic arithmetic;
  return {*this, pair, position};
}

GeometricRotations::Turn GeometricRotations::at(std::int64_t pair, std::int64_t position,
                                                const PowerScale& factor) const {
  const StandardArithmetic arithmetic;
  Turn turn(*this, pair, position);
  turn.power_ = factor;
  // The C library's log and exp are within 4 u = 2 ULP, which assumed_bounds_test.cpp holds them to. ln(n/d): the
  // quotient errs by u, which is u absolutely in the logarithm, so 5 u + u |ln| in all; |ln| >= 1/d > 2^-30 where it is
  // not 0 at all, so that stays below 2^-20 |ln|. Times the quotient of the exponent (2 u): the argument g errs by less
  // than |g| (5 u / |ln| + 8 u), and e^g by that, with 4 u of its own. Below 2^-1022 e^g errs by more: combine's
  // interval is then too narrow, but a float64 is left to more bits all the same, by its width of 2^-49 of the value,
  // and what is below 2^-1022 2^128 is 0 in the narrower dtypes either way.
  constexpr double u = 0x1p-53;
  const double logarithm = std::log(static_cast<double>(factor.numerator) / static_cast<double>(factor.denominator));
  const double exponent = static_cast<double>(factor.exponent_numerator) / factor.exponent_denominator * logarithm;
  turn.factor_ = std::exp(exponent);
  turn.factor_error_ = logarithm == 0 ? 4 * u : std::fabs(exponent) * (6 * u / std::fabs(logarithm) + 16 * u) + 8 * u;
  return turn;
}

// Bounds of exp, log, pi and wide_sin_cos as wide.hpp states them; e = spacing_at_one.
template <class Real>
GeometricRotations::Turn::Parts<Real> GeometricRotations::Turn::parts() const {
  const Real e = spacing_at_one<Real>();
  const Real two_pi = 2 * wide_pi<Real>();
  Parts<Real> parts;
  Real angle;
  Real angle_error;
  if constexpr (std::is_same_v<Real, Wide<256>>) {
    // The fixed-point phase, exact in Real, is within |p| 2^-192 turn, less than |p| 2^-189 radians; one product more
    // is far below the 1.
    const Turns phase = phase_at(owner_->frequencies_[static_cast<std::size_t>(pair_)], position_);
    const bool negative = bit_test(phase, 191);
    const Turns magnitude = negative ? Turns(Turns(0) - phase) : phase;
    angle = ldexp(Real(boost::multiprecision::cpp_int(magnitude)), -192) * two_pi;
    if (negative) angle = -angle;
    angle_error = ldexp(Real(abs(Real(position_)) + 1), -188);
  } else {
    // w = e^(-2 i/n ln base): the exponent is at most 710 < 2^10, so its error, 2^10 (2^7 + 3) e, is a relative one of
    // w below 2^18 e; with exp's own, below 2^15 e, pi's, counted twice, and four operations below 2^19 e. Whole turns
    // are taken off exactly but for one rounding below them.
    const Real frequency = exp(-log(Real(owner_->base_)) * (2 * pair_) / owner_->width_);
    const Real turns = frequency * position_ / two_pi;
    const Real rest = turns - floor(Real(turns + 0.5));
    angle = rest * two_pi;
    angle_error = abs(Real(frequency * position_)) * ldexp(e, 21);
  }
  // |angle| <= pi: (2^12 + 2^10 pi) e < 2^13 e.
  const WideSinCos<Real> unit = wide_sin_cos(angle);
  parts.sin = unit.sin;
  parts.cos = unit.cos;
  parts.sin_error = angle_error + (abs(angle) < 0.5 ? Real(abs(parts.sin) * ldexp(e, 4)) : ldexp(e, 13));
  parts.cos_error = angle_error + ldexp(e, 13);

  // ln(n/d) errs by 2^7 e |ln| + e; |ln| > 2^-30 where it is not 0, so by less than 2^31 e |ln|, and the exponent g, at
  // most 20000 < 2^15 where it is not cut off, by less than 2^47 e; exp's own is below 2^20 e.
  parts.factor = 1;
  parts.factor_error = 0;
  if (power_) {
    const Real exponent = log(Real(power_->numerator) / power_->denominator) * power_->exponent_numerator /
                          Real(power_->exponent_denominator);
    const Real cut = std::clamp(exponent, Real(-largest_exponent), Real(largest_exponent));
    parts.factor = exp(cut);
    parts.factor_error = ldexp(e, 48);
  }
  return parts;
}

double GeometricRotations::Turn::unrounded(double a, double b) const { return std::fma(a, cheap_.cos, b * cheap_.sin); }

double GeometricRotations::Turn::combine(Dtype dtype, double a, double b) {
  const StandardArithmetic arithmetic;
  if (is_identity()) return round_to(dtype, a);
  // With u = 2^-53: sin_cos is within 2 ULP <= 4 u of each; the product b sin, the sum and the product with the factor
  // round once each. So the error is at most (4 + 1 + 1 + 1) u M + factor_error M, M = factor (|a cos| + |b sin|), to
  // first order; 16 u M leaves room for the second, for the roundings in M and in the interval's own ends, which are u
  // M. The phase is within |p| 2^-192 turn, which moves sin and cos by less than |p| 2^-189. Underflow adds 2^-1074 at
  // three places.
  const double product = b * cheap_.sin;
  const double inner = std::fma(a, cheap_.cos, product);
  const double value = factor_ * inner;
  if (a == 0 && b == 0) return round_to(dtype, value);
  const double size = factor_ * (std::fabs(a * cheap_.cos) + std::fabs(product));
  const double phase_error = std::fabs(static_cast<double>(position_)) * 0x1p-189;
  const double error = size * (0x1p-49 + 2 * factor_error_) +
                       factor_ * (std::fabs(a) * phase_error + std::fabs(b) * phase_error) + (factor_ + 1) * 0x1p-1072;
  if (const auto rounded = rounded_alike(dtype, Interval{value - error, value + error})) return *rounded;
  if (position_ == 0) {
    if (a == 0) return round_to(dtype, inner);
    if (const auto exact = exact_product(*power_, a)) return round_wide(dtype, *exact);
  }

  return correctly_rounded(dtype, [&]<class Real>() -> Approximation<Real> {
    Parts<Real> fresh;
    if constexpr (std::is_same_v<Real, Wide<256>>) {
      if (!precise_) precise_ = std::make_shared<const Precise>(Precise{parts<Real>()});
      fresh = *precise_;
    } else {
      fresh = parts<Real>();
    }
    // Two products, a sum and a product with the factor: 4 e of the absolute values' sum.
    const Real e = spacing_at_one<Real>();
    const Real from_a = a * fresh.cos;
    const Real from_b = b * fresh.sin;
    const Real total = abs(from_a) + abs(from_b);
    const Real inner_error = std::fabs(a) * fresh.cos_error + std::fabs(b) * fresh.sin_error + total * 8 * e;
    return {fresh.factor * (from_a + from_b), fresh.factor * (inner_error + total * fresh.factor_error) * 2};
  });
}

}  // namespace sextant
