#pragma once

#include <array>
#include <cstddef>

namespace sextant {

/// sin and cos of k/512 turn, k = 0 .. 511, as double-doubles: high is the nearest double, and high + low is within
/// 2^-106.
struct UnitCircle {
  static constexpr std::size_t points = 512;
  std::array<double, points> sin_high;
  std::array<double, points> sin_low;
  std::array<double, points> cos_high;
  std::array<double, points> cos_low;
};

/// Computed at first use; constant since.
const UnitCircle& unit_circle();

}  // namespace sextant
