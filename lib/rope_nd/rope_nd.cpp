#include "lib/rope_nd/rope_nd.hpp"

#include "lib/numeric/checks.hpp"

namespace sextant {
namespace {

const RopeNd& checked(const RopeNd& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  return encoding;
}

PairedChannels channels_of(const RopeNd& encoding) {
  const Rope rope = along_diagonal(encoding);
  PairedChannels channels;
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) channels.from.push_back(channels_of_pair(rope, rope.pairing, pair));
  channels.to = channels.from;
  return channels;
}

}  // namespace

RopeNdEncoder::RopeNdEncoder(const RopeNd& encoding)
    : encoding_(checked(encoding)),
      axis_of_pairs_(axis_of_pairs(encoding)),
      channels_(channels_of(encoding)),
      rotations_(encoding.rope_theta, encoding.head_dim, pairs(encoding)) {}

void RopeNdEncoder::turn(const char* function, Sense sense, const Tensor& x, std::span<const std::int64_t> positions,
                         std::span<std::byte> out) const {
  check_heads(function, x, encoding_.head_dim);
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  check_count(function, positions, axes(encoding_) * tokens);
  check_range(function, positions);
  check_bytes(function, out, x.elements(), x.dtype);
  check_apart(function, x.data, out);
  const auto turn_of = [&](std::int64_t token, std::int64_t pair) {
    const std::int64_t axis = axis_of_pairs_[static_cast<std::size_t>(pair)];
    return rotations_.at(pair, positions[static_cast<std::size_t>(axis * tokens + token)]);
  };
  rotate_pairs(channels_, sense, x, tokens, x.shape[2], turn_of, out);
}

void RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  turn("RopeNdEncoder::rotate", Sense::counterclockwise, x, positions, out);
}

Tensor RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  rotate(x, positions, y.data);
  return y;
}

Tensor RopeNdEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  Tensor grad_x = Tensor::zeros(grad.dtype, grad.shape);
  turn("RopeNdEncoder::backward", Sense::clockwise, grad, positions, grad_x.data);
  return grad_x;
}

}  // namespace sextant
