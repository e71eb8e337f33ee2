#pragma once

#include <rapidcheck.h>

#include <cstdint>

#include "properties/gen/vectors.hpp"

namespace sextant::gen {

/// What a call may hold at most.
struct LargestCall {
  Extents extents;
  std::int64_t vectors;  ///< batch * tokens * heads
};

/// Extents of the sizes that kernels have paths for: one of the three is large, and now and then a second; each a power
/// of two, one less or one more, or log-uniform up to its limit. The others are small, and mostly differ.
rc::Gen<Extents> extents(const LargestCall& largest);

}  // namespace sextant::gen
