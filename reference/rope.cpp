#include "reference/rope.hpp"

#include <algorithm>
#include <stdexcept>

namespace sextant::reference {

std::int64_t sequence_length(std::span<const std::int64_t> positions) {
  return positions.empty() ? 0 : *std::ranges::max_element(positions) + 1;
}

RopeReference::RopeReference(const Rope& encoding) : frequencies_(encoding) {}

const Rotation& RopeReference::rotation(std::int64_t position, std::int64_t pair, std::int64_t sequence_length,
                                        Precision precision) {
  return frequencies_.rotation(encoding().direction == Direction::clockwise ? -position : position, pair,
                               sequence_length, precision);
}

const Rotation& RopeReference::rotation(std::int64_t position, std::int64_t pair, Precision precision) {
  if (length_limit(encoding().rope_scaling))
    throw std::logic_error("RopeReference::rotation: the frequencies depend on the length of the call");
  return rotation(position, pair, 0, precision);
}

RealPair RopeReference::rotate(const Rotation& rotation, const RealPair& x) {
  return {x.first * rotation.cos - x.second * rotation.sin, x.first * rotation.sin + x.second * rotation.cos};
}

}  // namespace sextant::reference
