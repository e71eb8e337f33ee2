#pragma once

#include <cstdint>

#include "lib/spec/entry.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// What implementations of rope keep (cos_sin_cache, freqs_cis): row p holds a cos(p w_i) and a sin(p w_i) of each
/// frequency w_i of a rope, times its attention factor a where its scaling rule has one. A rule that looks at a length
/// is told the claim's max_position, whatever is asked. Of the rope its frequencies and its rule count: no channel is
/// paired, and the sense of a rotation is in how a table is applied.
struct RotaryTable {
  Rope rope;

  static const EncodingEntry<RotaryTable> entry;
};

/// Number of frequencies: half of a row's values.
std::int64_t pairs(const RotaryTable& encoding);

}  // namespace sextant
