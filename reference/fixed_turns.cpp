#include "reference/fixed_turns.hpp"

#include <gmp.h>

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
  FixedTurns product{};
  Wide carry = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Wide sum = Wide{frequency.limb[i]} * magnitude + carry;
    product.limb[i] = static_cast<std::uint64_t>(sum);
    carry = sum >> 64;
  }
  return position < 0 ? negated(product) : product;
}

}  // namespace sextant::reference
