#include "lib/rope/rope.hpp"

#include <cmath>
#include <cstring>
#include <stdexcept>

namespace sextant {
namespace {

std::vector<Turns> frequencies_of(const Rope& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  if (!std::holds_alternative<DefaultScaling>(encoding.rope_scaling)) {
    throw SpecError("RopeEncoder: rope_scaling.rope_type: expected default, got " + std::string(name_of(encoding.rope_scaling)));
  }
  const std::int64_t width = encoding.rotary_layout == RotaryLayout::prefix ? encoding.rotary_dim : encoding.head_dim;
  return geometric_turns(encoding.rope_theta, 2, width, pairs(encoding));
}

}  // namespace

RopeEncoder::RopeEncoder(const Rope& encoding) : encoding_(encoding), frequencies_(frequencies_of(encoding)) {}

Tensor RopeEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  if (x.dtype == Dtype::int64) throw std::invalid_argument("RopeEncoder::rotate: x is int64");
  if (x.shape.size() != 4 || x.shape[3] != encoding_.head_dim) {
    throw std::invalid_argument("RopeEncoder::rotate: x has shape " + shape_text(x.shape) +
                                ", expected [batch, n, heads, " + std::to_string(encoding_.head_dim) + "]");
  }
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  if (static_cast<std::int64_t>(positions.size()) != tokens) {
    throw std::invalid_argument("RopeEncoder::rotate: " + std::to_string(positions.size()) + " positions for " +
                                std::to_string(tokens) + " tokens");
  }
  const std::int64_t heads = x.shape[2];
  const std::int64_t head_dim = encoding_.head_dim;
  const std::int64_t pair_count = pairs(encoding_);
  const std::vector<Passthrough> untouched = passthrough_channels(encoding_);
  const std::size_t width = size_of(x.dtype);
  Tensor y = Tensor::zeros(x.dtype, x.shape);
#pragma omp parallel for schedule(static) if (tokens * heads * pair_count > 4096)
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::int64_t pair = 0; pair < pair_count; ++pair) {
      SinCos turn = sin_cos(phase_at(frequencies_[static_cast<std::size_t>(pair)], positions[static_cast<std::size_t>(token)]));
      if (encoding_.direction == Direction::clockwise) turn.sin = -turn.sin;
      const Channels from = channels_of_pair(encoding_, encoding_.pairing, pair);
      const Channels to = channels_of_pair(encoding_, encoding_.output_pairing, pair);
      for (std::int64_t head = 0; head < heads; ++head) {
        const std::int64_t start = (token * heads + head) * head_dim;
        const double x0 = x.at(start + from.first);
        const double x1 = x.at(start + from.second);
        y.set(start + to.first, std::fma(x0, turn.cos, -x1 * turn.sin));
        y.set(start + to.second, std::fma(x0, turn.sin, x1 * turn.cos));
      }
    }
    for (std::int64_t head = 0; head < heads; ++head) {
      const std::int64_t start = (token * heads + head) * head_dim;
      for (const Passthrough& channel : untouched) {
        std::memcpy(y.data.data() + static_cast<std::size_t>(start + channel.output) * width,
                    x.data.data() + static_cast<std::size_t>(start + channel.input) * width, width);
      }
    }
  }
  return y;
}

}  // namespace sextant
