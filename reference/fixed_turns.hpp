#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

#include "reference/enclosure.hpp"

namespace sextant::reference {

/// An angle modulo one turn, floor-rounded to 2^-192 turn: limb[2] holds the most significant 64 bits. Arithmetic
/// wraps.
struct FixedTurns {
  std::array<std::uint64_t, 3> limb;
};

/// w/(2 pi) mod 1 for the angle w in radians that `radians(precision)` encloses: within 2^-192 turn of it. The
/// precision is raised until the enclosure is narrower than that.
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

/// frequency * position mod 1 turn, exactly the product of the two numbers held: within |position| * 2^-192 turn of the
/// true phase.
FixedTurns phase_of(const FixedTurns& frequency, std::int64_t position);

/// angle / (2 pi) mod 1 for an angle in radians given exactly: within 2^-138 turn. Domain: |angle| <= 2^64.
/// @throws std::domain_error outside of it, NaN included.
FixedTurns turns_of_angle(double angle);

}  // namespace sextant::reference
