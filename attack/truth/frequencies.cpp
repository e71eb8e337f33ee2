#include "attack/truth/frequencies.hpp"

#include <cmath>
#include <limits>
#include <list>
#include <numbers>

#include "attack/numbers/rounding.hpp"

namespace sextant::attack {
namespace {

using Words = std::array<std::uint64_t, 3>;

Words negated(const Words& words) {
  Words result{};
  unsigned __int128 carry = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    carry += ~words[i];
    result[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  return result;
}

// words * position modulo 2^192.
Words times(const Words& words, std::int64_t position) {
  const std::uint64_t size =
      position < 0 ? 0 - static_cast<std::uint64_t>(position) : static_cast<std::uint64_t>(position);
  Words result{};
  unsigned __int128 carry = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    carry += static_cast<unsigned __int128>(words[i]) * size;
    result[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  return position < 0 ? negated(result) : result;
}

}  // namespace

std::optional<Interval> Frequencies::radians(std::int64_t pair, long bits) const {
  if (bits != first_precision) return formula_(pair, bits);
  auto& own = first_.at(static_cast<std::size_t>(pair));
  if (!own) own = formula_(pair, bits);
  return own;
}

std::optional<SineAndCosine> Frequencies::turned(std::int64_t pair, std::int64_t position, long bits) const {
  const auto frequency = radians(pair, bits);
  if (!frequency) return std::nullopt;
  return sine_and_cosine(*frequency * exactly(bits, position));
}

Words Frequencies::turns(std::int64_t pair) const {
  auto& own = turns_.at(static_cast<std::size_t>(pair));
  if (own) return *own;
  for (long bits = first_precision; bits <= last_precision; bits *= 2) {
    const auto frequency = radians(pair, bits);
    if (!frequency) continue;
    Interval turns = *frequency / (pi(bits) * exactly(bits, 2.0));
    Real width = width_of(turns);
    mpfr_mul_2si(width.get(), width.get(), 192, MPFR_RNDU);
    if (mpfr_cmp_d(width.get(), 1) >= 0) continue;
    mpfr_frac(turns.low.get(), turns.low.get(), MPFR_RNDN);  // of a positive number, exactly
    Words words{};
    Real word(bits);
    for (std::size_t i = 3; i-- > 0;) {
      mpfr_mul_2si(turns.low.get(), turns.low.get(), 64, MPFR_RNDN);
      mpfr_floor(word.get(), turns.low.get());
      words[i] = mpfr_get_uj(word.get(), MPFR_RNDN);
      mpfr_sub(turns.low.get(), turns.low.get(), word.get(), MPFR_RNDN);
    }
    own = words;
    return words;
  }
  throw Undecided("a frequency stays open at the last precision");
}

std::optional<QuickTurn> Frequencies::quickly_turned(std::int64_t pair, std::int64_t position) const {
  if (std::numeric_limits<long double>::digits < 64) return std::nullopt;
  Words phase = times(turns(pair), position);
  // The nearest quarter of a turn, and what is left, within +-1/8.
  const std::uint64_t quarter = ((phase[2] >> 61) + 1) >> 1;
  phase[2] -= quarter << 62;
  const bool negative = (phase[2] >> 63) != 0;
  if (negative) phase = negated(phase);
  const long double left = std::ldexp(static_cast<long double>(phase[2]), -64) +
                           std::ldexp(static_cast<long double>(phase[1]), -128) +
                           std::ldexp(static_cast<long double>(phase[0]), -192);
  if (left < 0x1p-68L) return std::nullopt;
  const long double angle = (negative ? -left : left) * (2 * std::numbers::pi_v<long double>);
  const long double s = std::sin(angle);
  const long double c = std::cos(angle);
  switch (quarter & 3) {
    case 0: return QuickTurn{s, c};
    case 1: return QuickTurn{c, -s};
    case 2: return QuickTurn{-s, -c};
    default: return QuickTurn{-c, s};
  }
}

std::shared_ptr<const Frequencies> kept_frequencies(const std::string& name, const std::function<Frequencies()>& make) {
  // A few encodings are asked in turn, some of them under names that never come back.
  constexpr std::size_t most = 24;
  static std::list<std::pair<std::string, std::shared_ptr<const Frequencies>>> kept;
  for (auto entry = kept.begin(); entry != kept.end(); ++entry) {
    if (entry->first != name) continue;
    kept.splice(kept.begin(), kept, entry);
    return entry->second;
  }
  kept.emplace_front(name, std::make_shared<const Frequencies>(make()));
  if (kept.size() > most) kept.pop_back();
  return kept.front().second;
}

Interval inverse_power(double base, std::int64_t numerator, std::int64_t denominator, long bits) {
  if (numerator == 0) return exactly(bits, 1.0);
  // All pairs of an encoding ask for one logarithm.
  static double kept_base = 0;
  static Interval kept{Real(2), Real(2)};
  if (base != kept_base || bits != kept.bits()) {
    kept = log(exactly(bits, base));
    kept_base = base;
  }
  return exp(-(kept * exactly(bits, numerator) / exactly(bits, denominator)));
}

}  // namespace sextant::attack
