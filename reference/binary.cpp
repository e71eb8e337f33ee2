#include "reference/binary.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant::reference {

std::int64_t digit(const Binary& encoding, std::int64_t position, std::int64_t channel) {
  // dim is at most 63, so the shift is defined.
  if (position < 0 || (position >> encoding.dim) != 0) {
    throw std::out_of_range(fmt::format("binary: position {} has no {} binary digits", position, encoding.dim));
  }
  if (channel < 0 || channel >= encoding.dim) throw std::out_of_range(fmt::format("binary: no channel {}", channel));
  const std::int64_t bit = (position >> channel) % 2;
  return encoding.normalize ? 2 * bit - 1 : bit;
}

Enclosure code(const Binary& encoding, std::int64_t position, std::int64_t channel, Precision precision) {
  return {digit(encoding, position, channel), precision};
}

}  // namespace sextant::reference
