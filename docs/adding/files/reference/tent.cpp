#include "reference/tent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace sextant::reference {

Enclosure code(const Tent& encoding, std::int64_t position, std::int64_t channel, Precision precision) {
  if (channel < 0 || channel >= encoding.dim) throw std::out_of_range(fmt::format("tent: no channel {}", channel));
  const std::int64_t half_period = std::int64_t{1} << channel;
  const std::int64_t above = std::abs(position) % (2 * half_period);
  const std::int64_t distance = std::min(above, 2 * half_period - above);
  return Enclosure(half_period - distance, precision) / Enclosure(half_period, precision);
}

}  // namespace sextant::reference
