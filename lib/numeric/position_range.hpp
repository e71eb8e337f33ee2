#pragma once

#include <cstdint>

namespace sextant {

/// `count` positions first, first + step, first + 2 step, ...
struct PositionRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t step = 1;
};

}  // namespace sextant
