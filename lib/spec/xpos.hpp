#pragma once

#include <cstdint>
#include <variant>

#include "lib/spec/entry.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// Which side of the score x is: `rotate` gets one of them, and they are scaled by opposite powers.
enum class Role { query, key };

/// Half of a call's length n = its largest position + 1, of all batch rows together, rounded to a whole position.
enum class HalfOfCall { floor, ceil };

/// Sun et al. 2022 (arXiv 2212.10554), section 3.2, algorithm 1: pair i turns as in rope and is scaled by
/// zeta_i^((p - c)/scale_base) in a query, by its inverse in a key, zeta_i = (2i/n + 0.4) / 1.4, n the width that
/// rope's frequencies divide by. Channels that no frequency turns keep their value. The paper's vectors pair neighbours
/// (pairing interleaved), and its positions count from 0.
///
/// c is the centre, from which the exponent's positions count and the angle's do not; a score does not depend on it,
/// while its query and its key have the same. Released code counts from the middle of the sequence, so that powers stay
/// near 1: torchscale 0.3 (component/xpos_relative_position.py: -(length + offset) // 2, which rounds up) from
/// ceil(n/2), x-transformers 2.31 (max_pos // 2) and rotary-embedding-torch 0.9 (len(t) // 2) from floor(n/2).
struct Xpos {
  Rope rope;
  double scale_base = 512;
  Role role = Role::query;
  std::variant<std::int64_t, HalfOfCall> centre = std::int64_t{0};

  static const EncodingEntry<Xpos> entry;
};

}  // namespace sextant
