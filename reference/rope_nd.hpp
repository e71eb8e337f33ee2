#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/rope.hpp"

namespace sextant::reference {

/// Enclosures of rotary encoding over several axes, Wang et al. 2024 (Qwen2-VL), section 2.1, as lib/spec/rope_nd.hpp
/// states it. RopeReference::rotate applies its rotations. An object belongs to one thread.
class RopeNdReference {
 public:
  explicit RopeNdReference(const RopeNd& encoding);

  /// The rotation by w_i p_a, a the axis of pair i; `position` holds one coordinate per axis. The reference is good
  /// until the next call. @throws std::invalid_argument for another number of coordinates.
  const Rotation& rotation(std::span<const std::int64_t> position, std::int64_t pair, Precision precision);

  const RopeFrequencies& frequencies() const { return rope_.frequencies(); }
  const RopeNd& encoding() const { return encoding_; }

 private:
  RopeNd encoding_;
  std::vector<std::int64_t> axis_of_pairs_;
  RopeReference rope_;
};

}  // namespace sextant::reference
