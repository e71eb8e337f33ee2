// Frequencies of Fourier features in turns, and single values of them that vectors leave open.
//
//   1. A frequency is a power of two whose exponent is a rational number, a rational number, or an element of a weight:
//      formed at 256 bits, for large weights at 5000, and kept in units of 2^-192 turn.
//   2. One value: the angle is a fraction, exactly, times a power where that is irrational. Quarters of a turn are
//      taken off in integers where the unit is turns; then sine and cosine at 256, 1024 and 5000 bits, until both ends
//      of the interval round alike.
//
// Each function states its bound, with the inequality in a comment; that no value stays open is with exact_value in
// angles.hpp.

#include "lib/fourier/angles.hpp"

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>

#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/wide.hpp"
#include "lib/numeric/rounding.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

using boost::multiprecision::cpp_int;

constexpr unsigned places = 1074;  // of the least double

// A double in units of 2^-1074.
cpp_int in_least_units(double value) {
  int exponent = 0;
  const auto whole = static_cast<std::int64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
  const int shift = exponent - 53 + static_cast<int>(places);
  const cpp_int size =
      shift < 0 ? cpp_int(whole) >> static_cast<unsigned>(-shift) : cpp_int(whole) << static_cast<unsigned>(shift);
  return value < 0 ? cpp_int(-size) : size;
}

// lowest + (highest - lowest) j/(n - 1) in units of 2^-1074, times this.
std::int64_t parts_of_ladder(const Fourier& encoding) { return std::max<std::int64_t>(encoding.bands - 1, 1); }

cpp_int on_ladder(const Fourier& encoding, std::int64_t band) {
  return in_least_units(encoding.lowest) * (parts_of_ladder(encoding) - band) + in_least_units(encoding.highest) * band;
}

// How many halvings make a step of the positions.
unsigned step_places(const Fourier& encoding) { return static_cast<unsigned>(-std::ilogb(encoding.positions.step)); }

// A whole number cut to the bits of Real: within e = spacing_at_one of itself.
template <class Real>
Real real_of(const cpp_int& number) {
  if (number.is_zero()) return 0;
  const cpp_int size = abs(number);
  const unsigned bits = static_cast<unsigned>(msb(size)) + 1;
  constexpr unsigned most = std::numeric_limits<Real>::digits;
  const unsigned cut = bits > most ? bits - most : 0;
  const Real real = ldexp(Real(cpp_int(size >> cut)), static_cast<int>(cut));
  return number < 0 ? Real(-real) : real;
}

// 2 to the ladder's exponent. With e = spacing_at_one and the bounds of wide.hpp: the exponent, at most 32, is within 3
// e of itself, ln 2 within 2^9 e, and their product within e more: less than 2^14 e absolutely. exp adds (2^5 23 + 2^6)
// e: together within 2^15 e of itself.
template <class Real>
Real power_of_two(const Fourier& encoding, std::int64_t band) {
  if (const auto whole = whole_exponent(encoding, band)) return ldexp(Real(1), *whole);
  const Real exponent =
      real_of<Real>(on_ladder(encoding, band)) / ldexp(Real(parts_of_ladder(encoding)), static_cast<int>(places));
  return exp(Real(exponent * log(Real(2))));
}

// A frequency of an axis: within 2^15 e of itself.
template <class Real>
Real frequency(const Fourier& encoding, const Tensor* weight, std::int64_t axis, std::int64_t band) {
  switch (encoding.ladder) {
    case FrequencyLadder::powers_of_two: return power_of_two<Real>(encoding, band);
    case FrequencyLadder::linear:
      return real_of<Real>(on_ladder(encoding, band)) /
             ldexp(Real(parts_of_ladder(encoding)), static_cast<int>(places));
    case FrequencyLadder::weight: return Real(weight->at(axis * encoding.bands + band));
  }
  return 0;
}

// A frequency per count in turns: with the unit's pi, the step and the divisor within 2^16 e of itself.
template <class Real>
Turns turns_of_count(const Fourier& encoding, const Tensor* weight, std::int64_t axis, std::int64_t band) {
  Real turn = frequency<Real>(encoding, weight, axis, band) * encoding.positions.step / divisor_of(encoding, axis);
  if (encoding.angle_unit == AngleUnit::radian) turn /= 2 * wide_pi<Real>();
  if (encoding.angle_unit == AngleUnit::half_turn) turn /= 2;
  const bool negative = turn < 0;
  const cpp_int units(round(ldexp(Real(abs(turn)), 192)));
  const Turns size(cpp_int(units & ((cpp_int(1) << 192) - 1)));
  return negative ? Turns(Turns(0) - size) : size;
}

}  // namespace

std::optional<int> whole_exponent(const Fourier& encoding, std::int64_t band) {
  if (encoding.ladder != FrequencyLadder::powers_of_two) return std::nullopt;
  const cpp_int exponent = on_ladder(encoding, band);
  const cpp_int one = cpp_int(parts_of_ladder(encoding)) << places;
  if (exponent % one != 0) return std::nullopt;
  return static_cast<int>(exponent / one);
}

bool bands_double(const Fourier& encoding) {
  if (encoding.ladder != FrequencyLadder::powers_of_two) return false;
  return in_least_units(encoding.highest) - in_least_units(encoding.lowest) == cpp_int(encoding.bands - 1) << places;
}

// At 256 bits 2^16 e of a turn below 2^40 is 2^-199. A weight may be as large as doubles are: at 5000 bits 2^16 e of
// 2^1024 is less than 2^-3900.
std::vector<Turns> turns_of_counts(const Fourier& encoding, const Tensor* weight, std::int64_t axis) {
  const StandardArithmetic arithmetic;
  fill_wide_constants();
  std::vector<Turns> turns;
  for (std::int64_t band = 0; band < encoding.bands; ++band) {
    const bool far = weight != nullptr && !(std::fabs(weight->at(axis * encoding.bands + band)) <= 0x1p40);
    turns.push_back(far ? turns_of_count<Wide<5000>>(encoding, weight, axis, band)
                        : turns_of_count<Wide<256>>(encoding, weight, axis, band));
  }
  return turns;
}

namespace {

// Frequency times coordinate as a fraction, but for a factor where the frequency is irrational.
struct Fraction {
  cpp_int numerator;
  cpp_int denominator;  // positive
  bool times_power = false;
};

Fraction fraction_of(const FourierValue& value) {
  const Fourier& encoding = value.encoding;
  const unsigned step = step_places(encoding);
  if (encoding.ladder == FrequencyLadder::weight) {
    // The axes' divisors in common.
    Fraction sum{0, cpp_int(1) << (step + places)};
    for (std::int64_t axis = 0; axis < encoding.axes; ++axis) sum.denominator *= divisor_of(encoding, axis);
    for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
      cpp_int term = in_least_units(value.weight->at(axis * encoding.bands + value.band)) *
                     value.counts[static_cast<std::size_t>(axis)];
      for (std::int64_t other = 0; other < encoding.axes; ++other) {
        if (other != axis) term *= divisor_of(encoding, other);
      }
      sum.numerator += term;
    }
    return sum;
  }
  Fraction fraction{value.counts[static_cast<std::size_t>(value.axis)], cpp_int(divisor_of(encoding, value.axis))
                                                                            << step};
  if (encoding.ladder == FrequencyLadder::linear) {
    fraction.numerator *= on_ladder(encoding, value.band);
    fraction.denominator *= cpp_int(parts_of_ladder(encoding)) << places;
  } else if (const auto exponent = whole_exponent(encoding, value.band)) {
    (*exponent < 0 ? fraction.denominator : fraction.numerator) <<= static_cast<unsigned>(std::abs(*exponent));
  } else {
    fraction.times_power = true;
  }
  return fraction;
}

cpp_int floor_of(const cpp_int& numerator, const cpp_int& denominator) {
  cpp_int quotient = numerator / denominator;
  if (numerator < 0 && quotient * denominator != numerator) --quotient;
  return quotient;
}

// The component of a rotation by `quarters` quarters of a turn and what has this sine and cosine.
template <class Real>
Real turned(const Real& sine, const Real& cosine, int quarters, FourierFunction function) {
  // A cosine is the sine a quarter ahead.
  switch ((quarters + (function == FourierFunction::cos ? 1 : 0)) % 4) {
    case 0: return sine;
    case 1: return cosine;
    case 2: return -sine;
    default: return -cosine;
  }
}

// Of a rational number of turns, whose quarters are taken off exactly. The angle that is left, up to pi/4, is within
// 2^10 e of itself; so is its sine, and with its own error within 2^11 e; the cosine within 2^12 e.
template <class Real>
std::optional<double> of_turns(const Fraction& fraction, AngleUnit unit, FourierFunction function, Dtype dtype) {
  const cpp_int quarters_over = fraction.numerator * (unit == AngleUnit::turn ? 4 : 2);
  const cpp_int whole = floor_of(2 * quarters_over + fraction.denominator, 2 * fraction.denominator);
  const cpp_int rest = quarters_over - whole * fraction.denominator;
  const auto quarters = static_cast<int>(whole - 4 * floor_of(whole, 4));
  const Real angle = real_of<Real>(rest) / real_of<Real>(fraction.denominator) * wide_half_pi<Real>();
  const Real value = turned(Real(sin(angle)), Real(cos(angle)), quarters, function);
  if (value.is_zero()) return 0.0;
  return rounded_alike(dtype, Approximation<Real>{value, Real(abs(value) * ldexp(spacing_at_one<Real>(), 12))});
}

// Any other. The angle errs by 2^17 e of itself: the fraction's 3 e, the power's 2^15 e and the unit's 2^9 e. Whole
// turns are taken off one that wide_sin_cos does not take: pi's 2^9 e and two roundings of it. With (2^12 + 2^10
// |angle|) e of the functions that is less than (2^13 + 2^18 |angle|) e.
template <class Real>
std::optional<double> of_angle(const Fraction& fraction, const FourierValue& from, FourierFunction function,
                               Dtype dtype) {
  Real angle = real_of<Real>(fraction.numerator) / real_of<Real>(fraction.denominator);
  if (fraction.times_power) angle *= power_of_two<Real>(from.encoding, from.band);
  if (from.encoding.angle_unit == AngleUnit::half_turn) angle *= wide_pi<Real>();
  if (from.encoding.angle_unit == AngleUnit::turn) angle *= wide_two_pi<Real>();
  const Real error = (ldexp(Real(1), 13) + abs(angle) * ldexp(Real(1), 18)) * spacing_at_one<Real>();
  const Real& two_pi = wide_two_pi<Real>();
  if (abs(angle) > 0x1p50) angle -= round(angle / two_pi) * two_pi;
  // What is left of an angle beyond this precision says nothing.
  if (error > 1) return std::nullopt;
  const WideSinCos<Real> at = wide_sin_cos(angle);
  return rounded_alike(dtype, Approximation<Real>{turned(at.sin, at.cos, 0, function), error});
}

}  // namespace

double exact_value(const FourierValue& value, FourierFunction function, Dtype dtype) {
  const Fraction fraction = fraction_of(value);
  if (fraction.numerator.is_zero()) return function == FourierFunction::sin ? 0 : 1;
  const AngleUnit unit = value.encoding.angle_unit;
  const bool in_turns = unit != AngleUnit::radian && !fraction.times_power;
  const auto found = until_decided([&]<class Real>() {
    return in_turns ? of_turns<Real>(fraction, unit, function, dtype)
                    : of_angle<Real>(fraction, value, function, dtype);
  });
  if (!found) throw std::domain_error("fourier: a value stays undecided at 5000 bits");
  return *found;
}

// The quotient is the double nearest to count/divisor; where it is not that itself and ends in 0, the neighbour on the
// other side ends in 1 and is rounded further as the number itself would be (certify.cpp). Steps move exponents alone,
// above the least of every dtype: 2^-60.
double rounded_coordinate(std::int64_t count, double step, std::int64_t divisor, Dtype dtype) {
  const auto numerator = static_cast<double>(count);
  const auto below = static_cast<double>(divisor);
  double quotient = numerator / below;
  const double excess = std::fma(quotient, below, -numerator);
  if (dtype != Dtype::float64 && excess != 0 && (std::bit_cast<std::uint64_t>(quotient) & 1U) == 0) {
    quotient = std::nextafter(
        quotient, excess > 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  }
  return round_to(dtype, quotient * step);
}

}  // namespace sextant
