#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// The digit floor(position / 2^channel) mod 2, or twice that less 1 where normalised.
/// @throws std::out_of_range unless 0 <= position < 2^dim and 0 <= channel < dim.
std::int64_t digit(const Binary& encoding, std::int64_t position, std::int64_t channel);

/// The same as an enclosure: exact.
Enclosure code(const Binary& encoding, std::int64_t position, std::int64_t channel, Precision precision);

}  // namespace sextant::reference
