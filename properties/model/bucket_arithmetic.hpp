#pragma once

#include "properties/model/budget.hpp"
#include "reference/relative_bias.hpp"

namespace sextant {

/// What the logarithms of distances may be formed in: the arithmetic that a spec claims of angles.
inline reference::BucketArithmetic bucket_arithmetic_of(const Spec& spec) {
  return {angle_roundoff(spec.accuracy), spec.libm};
}

}  // namespace sextant
