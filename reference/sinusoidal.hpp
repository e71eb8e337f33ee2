#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"

namespace sextant::reference {

/// Enclosures of the sinusoidal encoding, Vaswani et al. 2017, section 3.5, as lib/spec/spec.hpp states it; positions
/// count steps (PositionGrid). An object belongs to one thread.
class SinusoidalReference {
 public:
  explicit SinusoidalReference(const Sinusoidal& encoding);

  /// The angle w_i (position + position_offset) with its sin and cos, before the scale. The reference is good
  /// until the next call.
  const Rotation& rotation(std::int64_t position, std::int64_t pair, Precision precision);

  /// That angle alone, at a tenth of the cost.
  Enclosure angle(std::int64_t position, std::int64_t pair, Precision precision) {
    return Enclosure(position + encoding_.position_offset, precision) * frequencies_.radians(pair, precision);
  }

  /// The rotation by w_i * offset that carries PE(p) to PE(p + offset). Likewise.
  const Rotation& shift(std::int64_t offset, std::int64_t pair, Precision precision);

  /// The certified fast tier of the same frequencies, without offset and scale.
  FastRotations fast() { return frequencies_.fast(); }

  const GeometricFrequencies& frequencies() const { return frequencies_; }
  const Sinusoidal& encoding() const { return encoding_; }

 private:
  Sinusoidal encoding_;
  GeometricFrequencies frequencies_;
};

}  // namespace sextant::reference
