#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/fast_powers.hpp"
#include "reference/rope.hpp"

namespace sextant::reference {

/// Enclosures of xPos, Sun et al. 2022, section 3.2, as lib/spec/xpos.hpp states it. An object belongs to one thread.
class XposReference {
 public:
  explicit XposReference(const Xpos& encoding);

  /// The rotation by w_i * position. The reference is good until the next call.
  const Rotation& rotation(std::int64_t position, std::int64_t pair, Precision precision);

  /// What the exponent counts: the position less the centre, in a call of `length` (its largest position + 1).
  std::int64_t counted(std::int64_t position, std::int64_t length) const;

  /// What the role scales pair i by where the exponent counts `count`: zeta_i^(count/scale_base), or its inverse for a
  /// key.
  Enclosure scale(std::int64_t count, std::int64_t pair, Precision precision) const;

  /// By how much ln(scale) grows at each count.
  Enclosure log_step(std::int64_t pair, Precision precision) const;

  /// The certified fast tier of rotation, counterclockwise, and of scale by what is counted.
  FastRotations fast_rotations() { return rope_.fast(0); }
  FastPowers fast_scales() const;

  /// The pair rotated and scaled, in a call of `length`, which a centre of half the call looks at.
  RealPair turned(std::int64_t position, std::int64_t pair, const RealPair& x, Precision precision,
                  std::int64_t length = 0);

  const RopeFrequencies& frequencies() const { return rope_.frequencies(); }
  const Xpos& encoding() const { return encoding_; }

 private:
  Xpos encoding_;
  RopeReference rope_;
};

}  // namespace sextant::reference
