#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/sinusoidal.hpp"

namespace sextant::reference {

/// A place on a grid: the two coordinates of a position, in the order of the protocol's [2, n].
struct GridPosition {
  std::int64_t row;
  std::int64_t column;
};

/// Enclosures of the 2-D sinusoidal encoding, He et al. 2021 (MAE), as lib/spec/sinusoidal_2d.hpp states it, on the
/// grid and beyond. An object belongs to one thread.
class Sinusoidal2dReference {
 public:
  explicit Sinusoidal2dReference(const Sinusoidal2d& encoding);

  /// The angle w_i row (height) or w_i column (width) with its sin and cos. The reference is good until the next call.
  const Rotation& rotation(const GridPosition& position, GridAxis axis, std::int64_t pair, Precision precision);

  /// What the channel holds. @throws std::out_of_range unless 0 <= channel < dim.
  Enclosure code(const GridPosition& position, std::int64_t channel, Precision precision);

  const GeometricFrequencies& frequencies() const { return half_.frequencies(); }
  const Sinusoidal2d& encoding() const { return encoding_; }

 private:
  Sinusoidal2d encoding_;
  SinusoidalReference half_;
};

}  // namespace sextant::reference
