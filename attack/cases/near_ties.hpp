#pragma once

#include <vector>

#include "attack/numbers/element.hpp"
#include "attack/numbers/interval.hpp"
#include "attack/numbers/random.hpp"

namespace sextant::attack {

/// Elements x0, x1 such that u x0 + v x1 lies next to a tie of the format.
struct NearTie {
  Bits x0;
  Bits x1;
};

/// Some such pairs, nearest first: of |x| <= 2^p integers times powers of two the distance is some 2^-2p half places,
/// 2^-159 of the value for float64. u and v are points of 700 bits and more.
std::vector<NearTie> near_ties(Random& random, const ElementFormat& format, const Real& u, const Real& v);

/// Integers X, 1 <= X < 2^53, such that X 2^exponent u lies next to a tie of the format, nearest first: within 2^-53
/// half places.
std::vector<std::int64_t> multiples_near_ties(Random& random, const ElementFormat& format, const Real& u, int exponent);

/// The bits that lattices need of a factor.
inline constexpr long factor_bits = 1280;

/// Positions p within +-2^53 for which `turns_per_position` p is next to `turns` modulo 1: within some 2^-53.
std::vector<std::int64_t> positions_near(Random& random, const Real& turns_per_position, const Real& turns);

}  // namespace sextant::attack
