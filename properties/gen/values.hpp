#pragma once

#include <cstdint>
#include <vector>

#include "lib/numeric/tensor.hpp"

namespace sextant::gen {

/// 64 bits, a pure function of both.
std::uint64_t word(std::int64_t fill, std::int64_t index);

/// Element `index` of drawing `fill`: from [-1, 1) times a power of two from 2^-4 to 2^4, so that neighbours differ in
/// sign and magnitude.
double value(std::int64_t fill, std::int64_t index);

/// A tensor of such values, rounded to the dtype.
Tensor values(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill);

/// Values of every magnitude, where claims still hold on hardware that flushes subnormal products to zero: zeros, and
/// sizes from 2^10 above the normal numbers' last place to `most`.
Tensor values_of_every_magnitude(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill, double most);

/// The same sizes, one for each row of the first two axes: whole tokens are small or large. None is zero.
Tensor rows_of_every_magnitude(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill, double most);

}  // namespace sextant::gen
