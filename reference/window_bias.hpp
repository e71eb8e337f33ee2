#pragma once

#include <cstdint>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// The row of the weight for two tokens of a window, Liu et al. 2021, section 3.2, as lib/spec/window_bias.hpp states
/// it. Domain: positions from 0 to position_count - 1.
std::int64_t window_row(const WindowBias& encoding, std::int64_t query, std::int64_t key);

/// weight[window_row(query, key), head], exactly. `weight` is [rows, heads].
/// @throws std::invalid_argument for a weight of another shape, std::out_of_range unless 0 <= head < heads and both
/// positions are tokens of the window.
Enclosure bias(const WindowBias& encoding, const Tensor& weight, std::int64_t query, std::int64_t key,
               std::int64_t head, Precision precision);

}  // namespace sextant::reference
