#include "lib/numeric/turns.hpp"

#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <mutex>
#include <stdexcept>

namespace sextant {
namespace {

// 113 decimal digits carry 375 bits: 192 for the fraction and a wide margin for the few operations below.
using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<113>, boost::multiprecision::et_off>;

// 2*pi as an unevaluated sum of two doubles: the second is the first's rounding error.
constexpr double two_pi_high = 6.283185307179586;
constexpr double two_pi_low = 2.4492935982947064e-16;

}  // namespace

std::vector<Turns> geometric_turns(double base, std::int64_t numerator, std::int64_t denominator, std::int64_t count) {
  if (!(base >= 1) || std::isinf(base)) throw std::invalid_argument("geometric_turns: base must be finite and at least 1");
  if (count > 1 && denominator <= 0) throw std::invalid_argument("geometric_turns: denominator must be positive");
  // Boost 1.74 fills constants such as cpp_bin_float's epsilon at first use, behind a plain flag: one thread at a time.
  static std::mutex boost_constants;
  const std::lock_guard lock(boost_constants);
  const Wide unit = Wide(boost::multiprecision::cpp_int(1) << 192) / (2 * boost::math::constants::pi<Wide>());
  const Wide log_base = log(Wide(base));
  std::vector<Turns> turns;
  turns.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const Wide exponent = i == 0 ? Wide(0) : Wide(i) * numerator / denominator;
    turns.emplace_back(Turns(boost::multiprecision::cpp_int(round(unit * exp(-log_base * exponent)))));
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
    const unsigned shift = top >= 106 ? top - 105 : 0;
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

  // sin(a + c) = sin a + c cos a and cos(a + c) = cos a - c sin a, up to c^2/2 < 2^-104.
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
