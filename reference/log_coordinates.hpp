#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// Encloses the value of an axis at an offset, Liu et al. 2022, section 3.3, as lib/spec/log_coordinates.hpp states it:
/// a point where it is whole.
Enclosure log_coordinate(const LogCoordinates& encoding, std::int64_t axis, std::int64_t offset, Precision precision);

}  // namespace sextant::reference
