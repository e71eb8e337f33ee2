#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"

namespace sextant::reference {

/// A pair of channels as reals.
struct RealPair {
  Enclosure first;
  Enclosure second;
};

/// Enclosures of the rotary encoding, Su et al. 2021, section 3.2.2, equation 15, as lib/spec/spec.hpp states it. An
/// object belongs to one thread.
class RopeReference {
 public:
  explicit RopeReference(const Rope& encoding);

  /// The rotation by w_i * position, or by its negative where the spec says clockwise. The reference is good until the next
  /// call.
  const Rotation& rotation(std::int64_t position, std::int64_t pair, Precision precision);

  /// (x0 cos - x1 sin, x0 sin + x1 cos).
  static RealPair rotate(const Rotation& rotation, const RealPair& x);

  const GeometricFrequencies& frequencies() const { return frequencies_; }
  const Rope& encoding() const { return encoding_; }

 private:
  Rope encoding_;
  GeometricFrequencies frequencies_;
};

}  // namespace sextant::reference
