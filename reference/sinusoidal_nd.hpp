#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"

namespace sextant::reference {

/// Enclosures of the sinusoidal codes of several coordinates, as lib/spec/sinusoidal_nd.hpp states them, on the grid
/// and beyond. An object belongs to one thread.
class SinusoidalNdReference {
 public:
  explicit SinusoidalNdReference(const SinusoidalNd& encoding);

  /// The angle w_pair c of the coordinate of an axis at position p, with its sin and cos. The reference is good until
  /// the next call.
  const Rotation& rotation(std::int64_t position, std::int64_t axis, std::int64_t pair, Precision precision);

  /// The angle alone, at a tenth of the cost.
  Enclosure angle(std::int64_t position, std::int64_t axis, std::int64_t pair, Precision precision);

  /// What the angle grows by with each position: w_pair, divided by the axis' scale, or times 2 pi and divided by the
  /// last coordinate.
  Enclosure radians(std::int64_t axis, std::int64_t pair, Precision precision);

  /// What the channel holds where the position has these coordinates, one for each axis. @throws std::out_of_range
  /// unless 0 <= channel < dim.
  Enclosure code(std::span<const std::int64_t> position, std::int64_t channel, Precision precision);

  /// The certified fast tier of an axis: at p + position_offset.
  FastRotations fast(std::int64_t axis);

  /// The frequencies w_k of an axis in radians per unit of its coordinate.
  const GeometricFrequencies& frequencies(std::int64_t axis) const;

  const SinusoidalNd& encoding() const { return encoding_; }

 private:
  // What p + position_offset is divided by.
  Enclosure divisor(std::int64_t axis, Precision precision) const;
  bool normalized() const { return encoding_.coordinates == Coordinates::normalized; }

  SinusoidalNd encoding_;
  std::vector<GeometricFrequencies> frequencies_;  // of each axis
  std::optional<Rotation> kept_;
};

}  // namespace sextant::reference
