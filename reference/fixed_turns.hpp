#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

#include "reference/enclosure.hpp"

namespace sextant::reference {

/// An angle modulo one turn, in units of 2^-128 turn; arithmetic wraps.
__extension__ using Phase = unsigned __int128;

/// A frequency in turns per position, by the digits of a position in base 2^14: place[j] is what a position of 2^(14 j)
/// turns by, mod 1 turn. Each is cut out of the frequency itself, and below the true number by less than 1 + 2^-30
/// units.
struct FixedTurns {
  static constexpr int digit_bits = 14;

  std::array<Phase, 4> place;
};

/// w/(2 pi) for the angle w in radians per position that `radians(precision)` encloses. The precision is raised until
/// the enclosure is narrower than 2^-200 turn.
/// @throws std::domain_error if it never is.
template <class Radians>
FixedTurns fixed_turns(Radians radians);

/// The same from one enclosure; `narrow` is false, and the turns without meaning, if it is wider than 2^-200 turn.
struct FixedTurnsAttempt {
  FixedTurns turns;
  bool narrow;
};
FixedTurnsAttempt try_fixed_turns(const Enclosure& radians);

template <class Radians>
FixedTurns fixed_turns(Radians radians) {
  for (Precision precision{320}; precision.bits <= last_precision.bits; precision.bits *= 2) {
    const FixedTurnsAttempt attempt = try_fixed_turns(radians(precision));
    if (attempt.narrow) return attempt.turns;
  }
  throw std::domain_error("fixed_turns: the frequency cannot be enclosed narrowly");
}

/// frequency * position mod 1 turn: within 2^-112 turn of the true phase for |position| <= 2^54
/// (docs/proofs/fast-rotations.md, step 5). Three digits are never negative; the fourth is what is left, and has the
/// position's sign.
inline Phase phase_of(const FixedTurns& frequency, std::int64_t position) {
  constexpr int bits = FixedTurns::digit_bits;
  Phase sum = 0;
  for (std::size_t j = 0; j < 3; ++j) {
    sum += frequency.place[j] * (static_cast<std::uint64_t>(position) & ((std::uint64_t{1} << bits) - 1));
    position >>= bits;
  }
  return sum + frequency.place[3] * static_cast<Phase>(position);
}

/// angle / (2 pi) mod 1 for an angle in radians given exactly: within 2^-112 turn. Domain: |angle| <= 2^64.
/// @throws std::domain_error outside of it, NaN included.
Phase turns_of_angle(double angle);

}  // namespace sextant::reference
