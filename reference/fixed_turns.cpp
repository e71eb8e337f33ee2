#include "reference/fixed_turns.hpp"

#include <gmp.h>

#include <cmath>

#include "reference/work_limit.hpp"

namespace sextant::reference {
namespace {

// |angle| = m 2^e with an integer m < 2^53. Up to 2^64 radians e is at most 11; from e = -182 downwards the angle is
// below 2^-131 turn, a fraction of a unit.
constexpr int least_exponent = -181;
constexpr int greatest_exponent = 12;

// The turns of 2^e radians.
const FixedTurns& power_of_two_radians(int e) {
  static const auto turns = [] {
    const WithoutWorkLimit whoever_asks_first;
    std::array<FixedTurns, greatest_exponent - least_exponent + 1> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double radians = std::ldexp(1.0, static_cast<int>(i) + least_exponent);
      all[i] = fixed_turns([=](Precision precision) { return Enclosure(radians, precision); });
    }
    return all;
  }();
  return turns[static_cast<std::size_t>(e - least_exponent)];
}

}  // namespace

FixedTurnsAttempt try_fixed_turns(const Enclosure& radians) {
  const Precision precision = radians.precision();
  const Enclosure turns = radians / (Enclosure(2.0, precision) * Enclosure::pi(precision));
  if (!(turns.width() < 0x1p-200)) return {{}, false};
  // The lower end is below every number of so narrow an interval by less than 2^-200 turn: at most 2^(3*14 + 128 - 200)
  // = 2^-30 units of a place. The places are cut out of its binary expansion.
  FixedTurns result{};
  mpfr_t lower;
  mpfr_init2(lower, mpfr_get_prec(turns.lower_end()));
  mpz_t units;
  mpz_init(units);
  for (std::size_t j = 0; j < result.place.size(); ++j) {
    mpfr_mul_2si(lower, turns.lower_end(), 128 + static_cast<long>(j) * FixedTurns::digit_bits, MPFR_RNDD);
    mpfr_get_z(units, lower, MPFR_RNDD);
    mpz_fdiv_r_2exp(units, units, 128);  // modulo one turn, never negative
    std::array<std::uint64_t, 2> halves{};
    mpz_export(halves.data(), nullptr, -1, sizeof halves[0], 0, 0, units);
    result.place[j] = Phase{halves[1]} << 64 | halves[0];
  }
  mpz_clear(units);
  mpfr_clear(lower);
  return {result, true};
}

Phase turns_of_angle(double angle) {
  if (!(std::fabs(angle) <= 0x1p64)) throw std::domain_error("turns_of_angle: the angle is beyond 2^64 radians");
  int exponent = 0;
  const double fraction = std::frexp(angle, &exponent);
  if (exponent - 53 < least_exponent) return 0;
  return phase_of(power_of_two_radians(exponent - 53), static_cast<std::int64_t>(std::ldexp(fraction, 53)));
}

}  // namespace sextant::reference
