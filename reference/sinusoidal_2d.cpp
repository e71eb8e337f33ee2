#include "reference/sinusoidal_2d.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant::reference {

Sinusoidal2dReference::Sinusoidal2dReference(const Sinusoidal2d& encoding)
    : encoding_(encoding), half_(half_of(encoding)) {}

const Rotation& Sinusoidal2dReference::rotation(const GridPosition& position, GridAxis axis, std::int64_t pair,
                                                Precision precision) {
  return half_.rotation(axis == GridAxis::height ? position.row : position.column, pair, precision);
}

Enclosure Sinusoidal2dReference::code(const GridPosition& position, std::int64_t channel, Precision precision) {
  for (const GridAxis axis : {GridAxis::height, GridAxis::width}) {
    for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair) {
      const Channels channels = channels_of_pair(encoding_, axis, pair);
      if (channel == channels.first) return rotation(position, axis, pair, precision).sin;
      if (channel == channels.second) return rotation(position, axis, pair, precision).cos;
    }
  }
  throw std::out_of_range(fmt::format("sinusoidal_2d: no channel {}", channel));
}

}  // namespace sextant::reference
