#pragma once

#include <cstdint>
#include <optional>

#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"

namespace sextant::reference {

/// The angle 2 pi q stretch theta^(-2i/n) / (extent + beyond); beyond is at least 0, stretch above it.
struct PartOfTurn {
  std::int64_t q;
  std::int64_t extent;
  double theta;
  std::int64_t i;
  std::int64_t n;
  double beyond = 0;
  double stretch = 1;
};

/// j mod 24, at least 0, where the angle is j/24 of a turn, decided by whole numbers; nothing where it is no such part.
std::optional<int> twenty_fourths(const PartOfTurn& part);

/// The rotation by j/24 of a turn, whose angle is `angle`: sine and cosine that are 0, 1/2 or 1 are exact, and those of
/// odd eighths are as large as each other, which `is_diagonal` tells.
Rotation rotation_of_24ths(int j, Enclosure angle);

}  // namespace sextant::reference
