#include "reference/sinusoidal.hpp"

namespace sextant::reference {
namespace {

GeometricFrequencies frequencies_of(const Sinusoidal& encoding) {
  const std::int64_t count = pairs(encoding);
  return {encoding.base,
          2,
          2 * (count - encoding.downscale_freq_shift),
          count,
          {.scale = encoding.angle_scale, .step = encoding.positions.step}};
}

}  // namespace

SinusoidalReference::SinusoidalReference(const Sinusoidal& encoding)
    : encoding_(encoding), frequencies_(frequencies_of(encoding)) {}

const Rotation& SinusoidalReference::shift(std::int64_t offset, std::int64_t pair, Precision precision) {
  return frequencies_.rotation(offset, pair, precision);
}

const Rotation& SinusoidalReference::rotation(std::int64_t position, std::int64_t pair, Precision precision) {
  return shift(position + encoding_.position_offset, pair, precision);
}

}  // namespace sextant::reference
