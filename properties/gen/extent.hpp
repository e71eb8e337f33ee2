#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <span>

#include "properties/gen/vectors.hpp"

namespace sextant::gen {

/// What a call may hold at most.
struct LargestCall {
  Extents extents;
  std::int64_t vectors;  ///< batch * tokens * heads
};

/// Heads, rows, patches of images and tokens that models and their users have, beside powers of two, rising.
std::span<const std::int64_t> usual_extents();

/// Extents of the sizes that kernels have paths for: one of the three is large, and now and then a second; each a power
/// of two, one less or one more, one that models have (12 heads, 197 patches, 1500 tokens), or log-uniform up to its
/// limit. The others are small, and mostly differ.
rc::Gen<Extents> extents(const LargestCall& largest);

}  // namespace sextant::gen
