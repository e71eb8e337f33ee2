#include "reference/rope.hpp"

namespace sextant::reference {

RopeReference::RopeReference(const Rope& encoding)
    : encoding_(encoding),
      frequencies_(encoding.rope_theta, 2,
                   encoding.rotary_layout == RotaryLayout::prefix ? encoding.rotary_dim : encoding.head_dim,
                   pairs(encoding)) {}

const Rotation& RopeReference::rotation(std::int64_t position, std::int64_t pair, Precision precision) {
  return frequencies_.rotation(encoding_.direction == Direction::clockwise ? -position : position, pair, precision);
}

RealPair RopeReference::rotate(const Rotation& rotation, const RealPair& x) {
  return {x.first * rotation.cos - x.second * rotation.sin, x.first * rotation.sin + x.second * rotation.cos};
}

}  // namespace sextant::reference
