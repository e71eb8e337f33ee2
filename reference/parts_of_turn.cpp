#include "reference/parts_of_turn.hpp"

#include <gmp.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sextant::reference {
namespace {

// A whole number that is freed.
class Whole {
 public:
  explicit Whole(std::int64_t value) { mpz_init_set_si(value_, value); }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  ~Whole() { mpz_clear(value_); }

  void raise(std::int64_t exponent) { mpz_pow_ui(value_, value_, static_cast<unsigned long>(exponent)); }
  void times(const Whole& other) { mpz_mul(value_, value_, other.value_); }
  void plus(const Whole& other) { mpz_add(value_, value_, other.value_); }
  void shift(std::int64_t bits) { mpz_mul_2exp(value_, value_, static_cast<mp_bitcnt_t>(bits)); }
  bool equals(const Whole& other) const { return mpz_cmp(value_, other.value_) == 0; }

 private:
  mpz_t value_;
};

// A double as a whole number of 2^-exponent.
struct Dyadic {
  explicit Dyadic(double value) {
    int power = 0;
    whole = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &power), 53));
    while (whole != 0 && whole % 2 == 0) {
      whole /= 2;
      ++power;
    }
    exponent = whole == 0 ? 0 : 53 - power;
  }

  std::int64_t whole;
  std::int64_t exponent = 0;
};

// (24 |q| stretch)^b = (j (extent + beyond))^b theta^a, a/b = 2i/n in lowest terms.
bool is_exactly(const PartOfTurn& part, std::int64_t j) {
  const std::int64_t common = std::gcd(2 * part.i, part.n);
  const std::int64_t a = 2 * part.i / common;
  const std::int64_t b = part.n / common;
  int exponent = 0;
  const auto significand = static_cast<std::int64_t>(std::ldexp(std::frexp(part.theta, &exponent), 53));
  const Dyadic beyond(part.beyond);
  const std::int64_t finer = std::max<std::int64_t>(beyond.exponent, 0);
  Whole divisor(part.extent);
  divisor.shift(finer);
  Whole added(beyond.whole);
  added.shift(finer - beyond.exponent);
  divisor.plus(added);
  Whole left(24);
  left.times(Whole(std::abs(part.q)));
  left.shift(finer);
  const Dyadic stretch(part.stretch);
  left.times(Whole(stretch.whole));
  stretch.exponent < 0 ? left.shift(-stretch.exponent) : divisor.shift(stretch.exponent);
  left.raise(b);
  Whole right(std::abs(j));
  right.times(divisor);
  right.raise(b);
  Whole base(significand);
  base.raise(a);
  right.times(base);
  const std::int64_t shift = (exponent - 53) * a;
  shift < 0 ? left.shift(-shift) : right.shift(shift);
  return left.equals(right);
}

// The sine of j/24 of a turn.
Enclosure sine_of_24ths(int j, const Enclosure& angle) {
  const Precision precision = angle.precision();
  const Enclosure half(0.5, precision);
  const Enclosure sign(j < 12 ? 1.0 : -1.0, precision);
  switch (j % 12) {
    case 0: return {0.0, precision};
    case 2:
    case 10: return sign * half;
    case 3:
    case 9: return sign * sqrt(half);
    case 6: return sign;
    default: return sin(angle);
  }
}

}  // namespace

std::optional<int> twenty_fourths(const PartOfTurn& part) {
  constexpr Precision precision{256};
  if (part.q == 0) return 0;
  const Enclosure w =
      exp(-log(Enclosure(part.theta, precision)) * Enclosure(2 * part.i, precision) / Enclosure(part.n, precision));
  const Enclosure j = Enclosure(std::int64_t{24}, precision) * Enclosure(part.q, precision) *
                      Enclosure(part.stretch, precision) * w /
                      (Enclosure(part.extent, precision) + Enclosure(part.beyond, precision));
  // |j| is at most 24 2^53; of an interval that holds a whole number the ends round to it.
  const std::int64_t whole = mpfr_get_si(j.lower_end(), MPFR_RNDN);
  if (whole == 0) return std::nullopt;
  const Enclosure candidate(whole, precision);
  if (certainly_above(j, candidate) || certainly_above(candidate, j) || !is_exactly(part, whole)) return std::nullopt;
  const auto rest = static_cast<int>(whole % 24);
  return rest < 0 ? rest + 24 : rest;
}

Rotation rotation_of_24ths(int j, Enclosure angle) {
  // The cosine is the sine a quarter of a turn ahead.
  const Enclosure ahead = angle + Enclosure::pi(angle.precision()) * Enclosure(0.5, angle.precision());
  Enclosure sine = sine_of_24ths(j, angle);
  Enclosure cosine = sine_of_24ths((j + 6) % 24, ahead);
  return {std::move(angle), std::move(sine), std::move(cosine), j % 6 == 3};
}

}  // namespace sextant::reference
