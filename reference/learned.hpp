#pragma once

#include <cstdint>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// weight[position, channel], exactly. `weight` is [max_positions, dim].
/// @throws std::invalid_argument for a weight of another shape, std::out_of_range unless 0 <= position < max_positions
/// and 0 <= channel < dim.
Enclosure code(const Learned& encoding, const Tensor& weight, std::int64_t position, std::int64_t channel,
               Precision precision);

}  // namespace sextant::reference
