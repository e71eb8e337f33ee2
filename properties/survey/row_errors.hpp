#pragma once

#include <cmath>
#include <limits>

#include "properties/model/encoded_pairs.hpp"

namespace sextant {

/// At least so much is a value off: what the enclosure of the truth leaves open is not held against it. Infinity where
/// it is not finite.
inline double error_of(double value, const reference::DoubleDoubleWithin& truth) {
  return std::isfinite(value) ? magnitude(reference::DoubleDoubleWithin::exactly(value) - truth).lower
                              : std::numeric_limits<double>::infinity();
}

/// How far the angle of pair `i` is from the true one, in (-pi, pi].
inline double angle_error(const PairValues& value, const EncodedPairs::Truth& truth, std::size_t i) {
  return std::atan2(value.sin * truth.cos[i].high - value.cos * truth.sin[i].high,
                    value.cos * truth.cos[i].high + value.sin * truth.sin[i].high);
}

}  // namespace sextant
