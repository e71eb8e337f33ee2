#pragma once

#include <cstdint>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/gen/order.hpp"
#include "properties/gen/position.hpp"

namespace sextant::gen {

/// Extents of the input of `rotate`.
struct Extents {
  std::int64_t batch;
  std::int64_t tokens;
  std::int64_t heads;
};

/// x of shape [batch, tokens, heads, head_dim], a pure function of `fill`. With 0, every pair is (1, 0), so that the
/// answer reads (cos, sin), and channels that no frequency turns are 1. Otherwise each channel is drawn from [-1, 1)
/// times a power of two from 2^-4 to 2^4 and rounded to the dtype, so that neighbours differ in sign and magnitude.
Tensor vectors(const Rope& encoding, Dtype dtype, const Extents& extents, std::int64_t fill);

/// How far apart the rows of a batch start.
inline constexpr std::int64_t batch_row_distance = 7;

/// Positions [batch, tokens], all in the range: token t of batch row b is steps(order, b, t, tokens) from first,
/// wrapping round at the range's end. One by one that is first + t + 7 b, so that rows differ.
std::vector<std::int64_t> positions(const PositionRange& range, std::int64_t first, const Extents& extents,
                                    Order order = Order::one_by_one);

}  // namespace sextant::gen
