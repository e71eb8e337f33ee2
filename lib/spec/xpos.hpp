#pragma once

#include "lib/spec/entry.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// Which side of the score x is: `rotate` gets one of them, and they are scaled by opposite powers.
enum class Role { query, key };

/// Sun et al. 2022 (arXiv 2212.10554), section 3.2, algorithm 1: pair i turns as in rope and is scaled by
/// zeta_i^(p/scale_base) in a query, by its inverse in a key, zeta_i = (2i/n + 0.4) / 1.4, n the width that rope's
/// frequencies divide by. Channels that no frequency turns keep their value. The released code
/// (torchscale/component/xpos_relative_position.py) has the same zeta as (arange(0, n, 2) + 0.4 n) / (1.4 n), but
/// counts the exponent's positions from the middle of the sequence, which leaves scores as they are and rotated vectors
/// not: here both count from 0. The paper's vectors pair neighbours (pairing interleaved).
struct Xpos {
  Rope rope;
  double scale_base = 512;
  Role role = Role::query;

  static const EncodingEntry<Xpos> entry;
};

}  // namespace sextant
