#pragma once

#include <cmath>
#include <limits>

namespace sextant {

/// The value; of every NaN the quiet one without sign and payload, since those that operations make and carry differ
/// between instruction sets.
inline double canonical(double value) { return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value; }

}  // namespace sextant
