#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/fixed_turns.hpp"

namespace sextant::reference {

/// How far apart two codes are whose positions differ by `offset`.
struct OffsetDistance {
  std::int64_t offset;
  double distance;
};

/// Codes that are pairs (sin w_i p, cos w_i p), or vectors that are turned by w_i p: D(k)^2 = sum over pairs of 4 sin^2
/// (k w_i / 2) whatever p is.
struct CodeDistances {
  std::int64_t searched;                ///< of the offsets 1, 2, ... so many were compared for `nearest`
  OffsetDistance nearest;               ///< the least D of those; of equal ones the first
  std::int64_t searched_for_aliases;    ///< likewise
  std::vector<OffsetDistance> aliases;  ///< the least local minima of D among them, the least first
};

/// D over the offsets 1 .. most_offset, found by structure (docs/proofs/code-distances.md): stretches of offsets are
/// left out whose slow pairs alone are further apart than what is known. A search ends early after 2^24 looks at a
/// pair, within some tenths of a second. D is within 2^-40 of itself.
/// @param frequencies  those of the pairs
/// @throws std::invalid_argument for no pairs, most_offset below 1 or beyond 2^54
CodeDistances code_distances(std::span<const FixedTurns> frequencies, std::int64_t most_offset, std::size_t aliases);

}  // namespace sextant::reference
