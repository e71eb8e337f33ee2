#pragma once

#include <cstdint>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "properties/model/encoded_pairs.hpp"

namespace sextant {

/// One vector for each of `count` pairs, (cos, sin) of 1 + i pi (3 - sqrt(5)) rounded to the dtype: of length 1 but for
/// that rounding, round in no format, each in another direction.
std::vector<PairValues> ordinary_vectors(std::int64_t count, Dtype dtype);

}  // namespace sextant
