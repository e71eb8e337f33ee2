#include "reference/binary.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant::reference {

Enclosure code(const Binary& encoding, std::int64_t position, std::int64_t channel, Precision precision) {
  // dim is at most 63, so the shift is defined.
  if (position < 0 || (position >> encoding.dim) != 0) {
    throw std::out_of_range(fmt::format("binary: position {} has no {} binary digits", position, encoding.dim));
  }
  if (channel < 0 || channel >= encoding.dim) throw std::out_of_range(fmt::format("binary: no channel {}", channel));
  const std::int64_t digit = (position >> channel) % 2;
  return {encoding.normalize ? 2 * digit - 1 : digit, precision};
}

}  // namespace sextant::reference
