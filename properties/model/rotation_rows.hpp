#pragma once

#include <cstdint>
#include <span>

#include "reference/fast_rotations.hpp"

namespace sextant {

/// Calls visit(i, row) with the rotations at positions[i] for each i in order: where many follow one by one by a sweep.
template <class Visit>
void each_rotation(const reference::FastRotations& rotations, std::span<const std::int64_t> positions, Visit visit) {
  constexpr std::size_t fewest_to_sweep = 8;
  reference::RotationRow alone = rotations.make_row();
  for (std::size_t first = 0; first < positions.size();) {
    std::size_t end = first + 1;
    while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
    if (end - first >= fewest_to_sweep) {
      rotations.sweep(positions[first], static_cast<std::int64_t>(end - first),
                      [&, first](std::int64_t position, const reference::RotationRow& row) {
                        visit(first + static_cast<std::size_t>(position - positions[first]), row);
                      });
    } else {
      for (std::size_t i = first; i < end; ++i) {
        rotations.at(positions[i], alone);
        visit(i, alone);
      }
    }
    first = end;
  }
}

}  // namespace sextant
