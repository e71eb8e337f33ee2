#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// 1 less the distance of the position from the nearest multiple of 2^(channel+1), over 2^channel: exact.
/// @throws std::out_of_range unless 0 <= channel < dim.
Enclosure code(const Tent& encoding, std::int64_t position, std::int64_t channel, Precision precision);

}  // namespace sextant::reference
