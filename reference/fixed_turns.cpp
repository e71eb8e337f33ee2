#include "reference/fixed_turns.hpp"

#include <gmp.h>

#include <cmath>

namespace sextant::reference {
namespace {

__extension__ using Wide = unsigned __int128;  // 64 x 64 -> 128 bits, which GCC and Clang have on every 64-bit target

FixedTurns negated(const FixedTurns& turns) {
  FixedTurns result{};
  Wide carry = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const Wide sum = Wide{~turns.limb[i]} + carry;
    result.limb[i] = static_cast<std::uint64_t>(sum);
    carry = sum >> 64;
  }
  return result;
}

// Modulo one turn.
FixedTurns times(const FixedTurns& turns, std::uint64_t factor) {
  FixedTurns product{};
  Wide carry = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Wide sum = Wide{turns.limb[i]} * factor + carry;
    product.limb[i] = static_cast<std::uint64_t>(sum);
    carry = sum >> 64;
  }
  return product;
}

// floor(2^320 / (2 pi)), least significant limb first.
const std::array<std::uint64_t, 5>& inverse_of_two_pi() {
  static const std::array<std::uint64_t, 5> digits = [] {
    constexpr Precision precision{512};
    const Enclosure inverse =
        Enclosure(std::int64_t{1}, precision) / (Enclosure(2.0, precision) * Enclosure::pi(precision));
    mpfr_t scaled;
    mpfr_init2(scaled, precision.bits);
    mpfr_mul_2si(scaled, inverse.lower_end(), 320, MPFR_RNDD);
    mpz_t integer;
    mpz_init(integer);
    mpfr_get_z(integer, scaled, MPFR_RNDD);
    std::array<std::uint64_t, 5> limbs{};
    mpz_export(limbs.data(), nullptr, -1, sizeof(std::uint64_t), 0, 0, integer);
    mpz_clear(integer);
    mpfr_clear(scaled);
    return limbs;
  }();
  return digits;
}

}  // namespace

FixedTurnsAttempt try_fixed_turns(const Enclosure& radians) {
  const Precision precision = radians.precision();
  const Enclosure turns = radians / (Enclosure(2.0, precision) * Enclosure::pi(precision));
  if (!(turns.width() < 0x1p-200)) return {{}, false};
  // floor(2^192 x) of the lower end is within one unit of 2^192 x for every x of so narrow an interval.
  mpfr_t scaled;
  mpfr_init2(scaled, mpfr_get_prec(turns.lower_end()));
  mpfr_mul_2si(scaled, turns.lower_end(), 192, MPFR_RNDD);
  mpz_t integer;
  mpz_init(integer);
  mpfr_get_z(integer, scaled, MPFR_RNDD);
  mpz_fdiv_r_2exp(integer, integer, 192);  // modulo one turn, never negative
  FixedTurns result{};
  std::size_t limbs = 0;
  mpz_export(result.limb.data(), &limbs, -1, sizeof(std::uint64_t), 0, 0, integer);
  mpz_clear(integer);
  mpfr_clear(scaled);
  return {result, true};
}

FixedTurns phase_of(const FixedTurns& frequency, std::int64_t position) {
  const std::uint64_t magnitude =
      position < 0 ? ~static_cast<std::uint64_t>(position) + 1 : static_cast<std::uint64_t>(position);
  const FixedTurns product = times(frequency, magnitude);
  return position < 0 ? negated(product) : product;
}

FixedTurns turns_of_angle(double angle) {
  if (!(std::fabs(angle) <= 0x1p64)) throw std::domain_error("turns_of_angle: the angle is beyond 2^64 radians");
  if (angle == 0) return {};
  // |angle| = m 2^e with an integer m < 2^53, e <= 12. The turns of one unit 2^e radian, to 2^-192, are a window into
  // 1/(2 pi): the bits of weight 2^(-1-e) to 2^(-192-e), which the 320 bits held reach for every e <= 128. Cutting the
  // window off errs by less than 2^-192, and the constant's own end by less than that again: in all by 2 m 2^-192 <
  // 2^-138.
  int exponent = 0;
  const auto m = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(angle), &exponent), 53));
  const int drop = 128 - (exponent - 53);
  FixedTurns unit{};
  const auto& digits = inverse_of_two_pi();
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t limb = i + static_cast<std::size_t>(drop / 64);
    const int shift = drop % 64;
    const std::uint64_t low = limb < digits.size() ? digits[limb] : 0;
    const std::uint64_t high = limb + 1 < digits.size() ? digits[limb + 1] : 0;
    unit.limb[i] = shift == 0 ? low : low >> shift | high << (64 - shift);
  }
  const FixedTurns product = times(unit, m);
  return angle < 0 ? negated(product) : product;
}

}  // namespace sextant::reference
