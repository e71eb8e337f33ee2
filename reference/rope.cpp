#include "reference/rope.hpp"

#include <algorithm>
#include <stdexcept>

namespace sextant::reference {

std::int64_t sequence_length(std::span<const std::int64_t> positions) {
  return positions.empty() ? 0 : *std::ranges::max_element(positions) + 1;
}

std::vector<std::int64_t> row_lengths(LengthScope scope, std::span<const std::int64_t> positions, std::int64_t batch) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch), sequence_length(positions));
  const std::size_t n = positions.size() / std::max<std::size_t>(lengths.size(), 1);
  for (std::size_t row = 0; scope == LengthScope::row && row < lengths.size(); ++row)
    lengths[row] = sequence_length(positions.subspan(row * n, n));
  return lengths;
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
  if (rotation.is_diagonal) {
    // So that what cancels is 0.
    const auto with_sign_of = [&](const Enclosure& sign, const Enclosure& value) {
      return sign.lower() < 0 ? -value : value;
    };
    const Enclosure size = abs(rotation.cos);
    return {size * (with_sign_of(rotation.cos, x.first) - with_sign_of(rotation.sin, x.second)),
            size * (with_sign_of(rotation.sin, x.first) + with_sign_of(rotation.cos, x.second))};
  }
  return {x.first * rotation.cos - x.second * rotation.sin, x.first * rotation.sin + x.second * rotation.cos};
}

}  // namespace sextant::reference
