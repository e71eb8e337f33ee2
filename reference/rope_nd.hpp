#pragma once

#include <cstdint>
#include <optional>
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

  /// The rotation by radians(i) counted(p_a), a the axis of pair i, or by its negative where the spec says clockwise,
  /// in a call of `sequence_length`; `position` holds one coordinate per axis. The reference is good until the next
  /// call. @throws std::invalid_argument for another number of coordinates.
  const Rotation& rotation(std::span<const std::int64_t> position, std::int64_t pair, std::int64_t sequence_length,
                           Precision precision);

  /// The same for a scaling rule that does not depend on the length of the call.
  /// @throws std::logic_error for one that does (length_limit).
  const Rotation& rotation(std::span<const std::int64_t> position, std::int64_t pair, Precision precision);

  /// Its angle alone, at a tenth of the cost.
  Enclosure angle(std::span<const std::int64_t> position, std::int64_t pair, std::int64_t sequence_length,
                  Precision precision);

  /// What counted(coordinate) is multiplied by in a call of that length: w_i, and where coordinates are normalized
  /// 2 pi w_i scale / extent, extent in the counts of shifted coordinates.
  Enclosure radians(std::int64_t pair, std::int64_t sequence_length, Precision precision);

  const Enclosure& attention_factor(std::int64_t sequence_length, Precision precision) {
    return ladders_.front().frequencies.attention_factor(sequence_length, precision);
  }
  /// The same for a rule whose factor does not depend on the length.
  /// @throws std::logic_error for one whose factor does.
  const Enclosure& attention_factor(Precision precision) {
    return ladders_.front().frequencies.attention_factor(precision);
  }

  /// The frequencies of a ladder's rotary encoding.
  struct LadderFrequencies {
    RopeFrequencies frequencies;
    std::int64_t extent;  ///< as in Ladder
    double stretch;       ///< likewise
  };
  /// The ladders that the frequencies come from, and which of whose frequencies each pair has.
  std::span<const LadderFrequencies> ladders() const { return ladders_; }
  std::span<const Ladders::Place> places() const { return places_; }

  std::int64_t axis_of(std::int64_t pair) const { return axis_of_pairs_.at(static_cast<std::size_t>(pair)); }

  const RopeNd& encoding() const { return encoding_; }

 private:
  LadderFrequencies& ladder_of(std::int64_t pair);
  std::int64_t turned_count(std::span<const std::int64_t> position, std::int64_t pair) const;

  RopeNd encoding_;
  std::vector<std::int64_t> axis_of_pairs_;
  std::vector<Ladders::Place> places_;
  std::vector<LadderFrequencies> ladders_;
  std::optional<Rotation> normalized_;  // the last rotation by a normalized coordinate
};

}  // namespace sextant::reference
