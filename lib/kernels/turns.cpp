// Frequencies as integers in units of 2^-192 turn, so that a phase, position times frequency modulo one turn, is exact.
//
//   1. Frequencies of a geometric ladder are products of one ratio, computed at 256 bits and rounded to the unit.
//   2. Phases are products of integers modulo 2^192.
//   3. Sine and cosine of a phase: quarters of a turn are taken off exactly, the rest, at most an eighth of a turn, is
//      two doubles times 2 pi, and the C library's functions are corrected by the second of them.
//
// The bounds stand beside the code.

#include "lib/kernels/turns.hpp"

#include <cmath>
#include <stdexcept>

#include "lib/kernels/wide.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

// With e = 2^-255, and the bounds of wide.hpp: the exponent, at most 710, errs by 710 (2^7 + 3) e < 2^17 e, and exp of
// it by 2^15 e more. So the ratio of neighbours is within 2^18 e of itself, and i < 2^19 products within i times that:
// below 2^-217 of themselves. The unit's sum and quotient and the factor err by 3 e more, and a frequency is at most
// 2^23 turns: below 2^-194 turn, where 2^-192 is asked for. The rounding to a multiple of it adds half of that. Whole
// turns are left out exactly.
using W = Wide<256>;

// 2*pi as an unevaluated sum of two doubles: the second is the first's rounding error.
// ci/constants: pair = 2*pi
constexpr double two_pi_high = 6.283185307179586;
constexpr double two_pi_low = 2.4492935982947064e-16;

}  // namespace

std::vector<Turns> geometric_turns(double base, std::int64_t numerator, std::int64_t denominator, std::int64_t count,
                                   const CountUnit& unit, double factor) {
  if (!(base >= 1) || std::isinf(base))
    throw std::invalid_argument("geometric_turns: base must be finite and at least 1");
  if (count > 1 && denominator <= 0) throw std::invalid_argument("geometric_turns: denominator must be positive");
  if (!(unit.part >= 0 && unit.whole >= 0 && unit.whole + unit.part >= 0.125 && std::isfinite(unit.whole + unit.part)))
    throw std::invalid_argument("geometric_turns: a unit must be divided by 1/8 or more");
  if (!(factor > 0 && factor <= 0x1p20)) throw std::invalid_argument("geometric_turns: factor must be in (0, 2^20]");
  const StandardArithmetic arithmetic;
  fill_wide_constants();
  // w_{i+1} = ratio w_i: one exponential for all of them.
  const W ratio = count > 1 ? W(exp(-log(W(base)) * numerator / denominator)) : W(1);
  const boost::multiprecision::cpp_int whole = boost::multiprecision::cpp_int(1) << 192;
  W turn = W(whole) * factor;
  if (unit.of == CountUnit::Of::radian) turn /= 2 * wide_pi<W>();
  turn /= W(unit.whole) + W(unit.part);
  std::vector<Turns> turns;
  turns.reserve(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  for (std::int64_t i = 0; i < count; ++i) {
    turns.emplace_back(Turns(boost::multiprecision::cpp_int(round(turn)) & (whole - 1)));
    turn *= ratio;
  }
  return turns;
}

Turns phase_at(const Turns& frequency, std::int64_t position) {
  const std::uint64_t magnitude =
      position < 0 ? ~static_cast<std::uint64_t>(position) + 1 : static_cast<std::uint64_t>(position);
  const Turns phase = frequency * magnitude;
  return position < 0 ? Turns(Turns(0) - phase) : phase;
}

SinCos sin_cos(const Turns& phase) {
  // phase = quarter/4 + rest with |rest| <= 1/8 turn, all exact, so that sin is accurate relative to itself near its
  // zeros and the library sees |angle| <= pi/4 only.
  const Turns shifted = phase + (Turns(1) << 189);
  const auto quarter = static_cast<unsigned>(shifted >> 190);
  Turns rest = phase - (Turns(quarter) << 190);
  const bool negative = bit_test(rest, 191);
  if (negative) rest = Turns(0) - rest;

  double high = 0;
  double low = 0;
  if (!rest.is_zero()) {
    // The top 53 bits and the 53 after them: 106 bits of the angle in turns.
    const auto top = msb(rest);
    const auto shift = static_cast<unsigned>(top >= 106 ? top - 105 : 0);
    const Turns leading = rest >> shift;
    const Turns mask = (Turns(1) << 53) - 1;
    const int exponent = static_cast<int>(shift) - 192;
    high = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(leading >> 53)), exponent + 53);
    low = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(leading & mask)), exponent);
  }
  const double angle = high * two_pi_high;
  double correction = std::fma(high, two_pi_high, -angle) + (high * two_pi_low + low * two_pi_high);
  if (negative) correction = -correction;
  const double reduced = negative ? -angle : angle;

  // sin(a + c) = sin a + c cos a and cos(a + c) = cos a - c sin a, up to c^2/2 < 2^-104 |angle|.
  const double sine_at = std::sin(reduced);
  const double cosine_at = std::cos(reduced);
  const double sine = std::fma(correction, cosine_at, sine_at);
  const double cosine = std::fma(-correction, sine_at, cosine_at);
  switch (quarter & 3U) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

}  // namespace sextant
