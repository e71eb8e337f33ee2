#include "lib/xpos/xpos.hpp"

#include <string>
#include <utility>

#include "lib/numeric/checks.hpp"

namespace sextant {
namespace {

const Xpos& checked(const Xpos& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  const RopeScaling& scaling = encoding.rope.rope_scaling;
  if (!std::holds_alternative<DefaultScaling>(scaling)) {
    throw SpecError("XposEncoder: rope_scaling.rope_type: expected default, got " + std::string(name_of(scaling)));
  }
  return encoding;
}

// The width that the frequencies and zeta divide by.
std::int64_t frequency_width(const Rope& rope) { return rope.rotary_layout == RotaryLayout::prefix ? rope.rotary_dim : rope.head_dim; }

PairedChannels channels_of(const Rope& rope) {
  PairedChannels channels;
  for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
    channels.from.push_back(channels_of_pair(rope, rope.pairing, pair));
    channels.to.push_back(channels_of_pair(rope, rope.output_pairing, pair));
  }
  channels.unturned = passthrough_channels(rope);
  return channels;
}

PairedChannels reversed(PairedChannels channels) {
  std::swap(channels.from, channels.to);
  for (Passthrough& channel : channels.unturned) std::swap(channel.output, channel.input);
  return channels;
}

Sense opposite(Sense sense) { return sense == Sense::counterclockwise ? Sense::clockwise : Sense::counterclockwise; }

Sense sense_of(Direction direction) {
  return direction == Direction::counterclockwise ? Sense::counterclockwise : Sense::clockwise;
}

}  // namespace

XposEncoder::XposEncoder(const Xpos& encoding)
    : encoding_(checked(encoding)),
      width_(frequency_width(encoding.rope)),
      channels_(channels_of(encoding.rope)),
      rotations_(encoding.rope.rope_theta, width_, pairs(encoding.rope)) {}

void XposEncoder::turn(const char* function, Sense sense, const PairedChannels& channels, const Tensor& x,
                       std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  check_heads(function, x, encoding_.rope.head_dim);
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  check_count(function, positions, tokens);
  check_range(function, positions);
  check_bytes(function, out, x.elements(), x.dtype);
  check_apart(function, x.data, out);
  const auto turn_of = [&](std::int64_t token, std::int64_t pair) {
    const std::int64_t position = positions[static_cast<std::size_t>(token)];
    // zeta = (2i/n + 2/5) / (7/5) = (10 i + 2 n) / (7 n): the paper's 0.4 and 1.4 are decimals.
    const std::int64_t exponent = encoding_.role == Role::query ? position : -position;
    return rotations_.at(pair, position, PowerScale{10 * pair + 2 * width_, 7 * width_, exponent, encoding_.scale_base});
  };
  rotate_pairs(channels, sense, x, tokens, x.shape[2], turn_of, out);
}

void XposEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  turn("XposEncoder::rotate", sense_of(encoding_.rope.direction), channels_, x, positions, out);
}

Tensor XposEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  rotate(x, positions, y.data);
  return y;
}

Tensor XposEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  Tensor grad_x = Tensor::zeros(grad.dtype, grad.shape);
  turn("XposEncoder::backward", opposite(sense_of(encoding_.rope.direction)), reversed(channels_), grad, positions, grad_x.data);
  return grad_x;
}

}  // namespace sextant
