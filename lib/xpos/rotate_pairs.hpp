#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/rope.hpp"
#include "lib/xpos/geometric_rotations.hpp"

namespace sextant {

/// Which channels of a head are turned, and where the results go.
struct PairedChannels {
  std::vector<Channels> from;         ///< of each pair, in the input
  std::vector<Channels> to;           ///< of each pair, in the output
  std::vector<Passthrough> unturned;  ///< the other channels
};

/// (x0, x1) -> (x0 cos - x1 sin, x0 sin + x1 cos), or its transpose.
enum class Sense { counterclockwise, clockwise };

/// A pair of values of a dtype.
struct TurnedPair {
  double first;
  double second;
};

/// One pair by one turn: the nearest values of the dtype to the real numbers (GeometricRotations::Turn::combine). A
/// pair with NaN or infinity has what the formula gives in float64, without the turn's factor, NaN as the positive
/// quiet one; a pair of zeros that, too.
TurnedPair turned_pair(GeometricRotations::Turn& turn, Sense sense, Dtype dtype, double first, double second);

/// Turns each pair of each head of each token of `x`, [..., heads, head_dim] row-major, into `out`, of the same shape
/// and dtype, by turn_of(token, pair) as turned_pair does, on any number of threads. Channels that no frequency turns,
/// and all of them where the turn is the identity, are copied bit for bit. Precondition: x and out do not overlap, and
/// are as large as `tokens` and `heads` say.
void rotate_pairs(const PairedChannels& channels, Sense sense, const Tensor& x, std::int64_t tokens, std::int64_t heads,
                  const std::function<GeometricRotations::Turn(std::int64_t token, std::int64_t pair)>& turn_of,
                  std::span<std::byte> out);

}  // namespace sextant
