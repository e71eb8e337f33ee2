#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/rope.hpp"

namespace sextant::reference {

/// Enclosures of rotary encoding over several axes, Wang et al. 2024 (Qwen2-VL), section 2.1, as lib/spec/rope_nd.hpp
/// states it. RopeReference::rotate applies its rotations; the encoded pair is attention_factor times that. An object
/// belongs to one thread.
class RopeNdReference {
 public:
  explicit RopeNdReference(const RopeNd& encoding);

  /// The rotation by w_i p_a, a the axis of pair i, or by its negative where the spec says clockwise, in a call of
  /// `sequence_length`; `position` holds one coordinate per axis. The reference is good until the next call.
  /// @throws std::invalid_argument for another number of coordinates.
  const Rotation& rotation(std::span<const std::int64_t> position, std::int64_t pair, std::int64_t sequence_length,
                           Precision precision);

  /// The same for a scaling rule that does not depend on the length of the call.
  /// @throws std::logic_error for one that does (length_limit).
  const Rotation& rotation(std::span<const std::int64_t> position, std::int64_t pair, Precision precision);

  /// w_i in a call of that length, whatever the direction. The reference is good until the next call.
  const Enclosure& radians(std::int64_t pair, std::int64_t sequence_length, Precision precision);

  const Enclosure& attention_factor(Precision precision) { return ladders_.front().attention_factor(precision); }

  /// The rotary encodings that the frequencies come from, and which of whose frequencies each pair has.
  std::span<const RopeFrequencies> ladders() const { return ladders_; }
  std::span<const Ladders::Place> places() const { return places_; }

  const RopeNd& encoding() const { return encoding_; }

 private:
  RopeFrequencies& ladder_of(std::int64_t pair);

  RopeNd encoding_;
  std::vector<std::int64_t> axis_of_pairs_;
  std::vector<Ladders::Place> places_;
  std::vector<RopeFrequencies> ladders_;
};

}  // namespace sextant::reference
