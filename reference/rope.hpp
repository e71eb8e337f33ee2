#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"
#include "reference/rope_scaling.hpp"

namespace sextant::reference {

/// A pair of channels as reals.
struct RealPair {
  Enclosure first;
  Enclosure second;
};

/// The length of a call on these positions, which some scaling rules depend on: the largest + 1. 0 for none.
std::int64_t sequence_length(std::span<const std::int64_t> positions);

/// What each of `batch` rows of a call takes for that length: the call's, or its own. `positions` are [batch, n]; of
/// more axes for the call's alone.
std::vector<std::int64_t> row_lengths(LengthScope scope, std::span<const std::int64_t> positions, std::int64_t batch);

/// Enclosures of the rotary encoding, Su et al. 2021, section 3.2.2, equation 15, as lib/spec/spec.hpp states it, under
/// its scaling rule (reference/rope_scaling.hpp). The encoded pair is attention_factor * rotate(rotation, x). An object
/// belongs to one thread.
class RopeReference {
 public:
  explicit RopeReference(const Rope& encoding);

  /// The rotation by w_i * position, or by its negative where the spec says clockwise, at `sequence_length`
  /// (row_lengths). The reference is good until the next call.
  const Rotation& rotation(std::int64_t position, std::int64_t pair, std::int64_t sequence_length, Precision precision);

  /// Its angle alone, at a tenth of the cost.
  Enclosure angle(std::int64_t position, std::int64_t pair, std::int64_t sequence_length, Precision precision) {
    return Enclosure(encoding().direction == Direction::clockwise ? -position : position, precision) *
           frequencies_.radians(pair, sequence_length, precision);
  }

  /// The rotation for a scaling rule that does not depend on the length of the call.
  /// @throws std::logic_error for one that does (length_limit).
  const Rotation& rotation(std::int64_t position, std::int64_t pair, Precision precision);

  /// The certified fast tier of rotation by w_i * position (counterclockwise, without the attention factor) in a call
  /// of `sequence_length`.
  FastRotations fast(std::int64_t sequence_length) {
    return FastRotations::of(
        [&](std::int64_t pair, Precision precision) { return frequencies_.radians(pair, sequence_length, precision); },
        pairs(encoding()));
  }

  /// (x0 cos - x1 sin, x0 sin + x1 cos).
  static RealPair rotate(const Rotation& rotation, const RealPair& x);

  /// What the rotated pair is multiplied by in a call of `sequence_length`: 1 but for yarn and longrope.
  const Enclosure& attention_factor(std::int64_t sequence_length, Precision precision) {
    return frequencies_.attention_factor(sequence_length, precision);
  }

  /// The same for a rule whose factor does not depend on the length.
  /// @throws std::logic_error for one whose factor does.
  const Enclosure& attention_factor(Precision precision) { return frequencies_.attention_factor(precision); }

  const RopeFrequencies& frequencies() const { return frequencies_; }
  const Rope& encoding() const { return frequencies_.encoding(); }

 private:
  RopeFrequencies frequencies_;
};

}  // namespace sextant::reference
