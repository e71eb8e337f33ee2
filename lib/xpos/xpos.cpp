#include "lib/xpos/xpos.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lib/kernels/checks.hpp"
#include "lib/rope/call.hpp"

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
std::int64_t frequency_width(const Rope& rope) {
  return rope.rotary_layout == RotaryLayout::prefix ? rope.rotary_dim : rope.head_dim;
}

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

// What pair i of a vector is multiplied by at a position: zeta = (2i/n + 2/5) / (7/5) = (10 i + 2 n) / (7 n): the
// paper's 0.4 and 1.4 are decimals.
PowerScale factor_at(const Xpos& encoding, std::int64_t pair, std::int64_t position) {
  const std::int64_t width = frequency_width(encoding.rope);
  return {10 * pair + 2 * width, 7 * width, encoding.role == Role::query ? position : -position, encoding.scale_base};
}

PowerRates rates_of(const Xpos& encoding) {
  std::vector<PowerScale> factors;
  for (std::int64_t pair = 0; pair < pairs(encoding.rope); ++pair) factors.push_back(factor_at(encoding, pair, 1));
  return PowerRates(factors);
}

// Turns nothing: the pairs of a token at position 0, whatever their bits.
void copy_pairs(const PairedChannels& channels, const std::byte* from, std::byte* to, std::size_t element) {
  const auto copy = [&](std::int64_t output, std::int64_t input) {
    std::memcpy(to + static_cast<std::size_t>(output) * element, from + static_cast<std::size_t>(input) * element,
                element);
  };
  for (std::size_t pair = 0; pair < channels.from.size(); ++pair) {
    copy(channels.to[pair].first, channels.from[pair].first);
    copy(channels.to[pair].second, channels.from[pair].second);
  }
}

}  // namespace

XposEncoder::XposEncoder(const Xpos& encoding)
    : encoding_(checked(encoding)),
      channels_(channels_of(encoding.rope)),
      reversed_(reversed(channels_)),
      rotations_(encoding.rope.rope_theta, frequency_width(encoding.rope), pairs(encoding.rope)),
      frequencies_(geometric_turns(encoding.rope.rope_theta, 2, frequency_width(encoding.rope), pairs(encoding.rope))) {
  counterclockwise_.rates = rates_of(encoding);
  clockwise_.rates = counterclockwise_.rates.inverse();
  for (Spiral* spiral : {&counterclockwise_, &clockwise_}) spiral->steps = StepRotations(frequencies_, spiral->rates);
}

GeometricRotations::Turn XposEncoder::turn_at(std::int64_t pair, std::int64_t position) const {
  return rotations_.at(pair, position, factor_at(encoding_, pair, position));
}

void XposEncoder::turn(const char* function, Pass pass, const Tensor& x, std::span<const std::int64_t> positions,
                       std::span<std::byte> out) const {
  check_heads(function, x, encoding_.rope.head_dim);
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  check_count(function, positions, tokens);
  check_range(function, positions);
  check_bytes(function, out, x.elements(), x.dtype);
  check_apart(function, x.data, out);
  if (x.elements() == 0) return;
  const bool forward = pass == Pass::forward;
  const Sense sense =
      (encoding_.rope.direction == Direction::counterclockwise) == forward ? Sense::counterclockwise : Sense::clockwise;
  const PairedChannels& channels = forward ? channels_ : reversed_;
  const Spiral& spiral = sense == Sense::counterclockwise ? counterclockwise_ : clockwise_;
  const std::size_t element = size_of(x.dtype);
  if (spiral.rates.fastest() > largest_pair_rate || reinterpret_cast<std::uintptr_t>(out.data()) % element != 0) {
    const auto turn_of = [&](std::int64_t token, std::int64_t pair) {
      return turn_at(pair, positions[static_cast<std::size_t>(token)]);
    };
    return rotate_pairs(channels, sense, x, tokens, x.shape[2], turn_of, out);
  }
  const std::int64_t sign = sense == Sense::counterclockwise ? 1 : -1;
  const PairPowers powers{&spiral.rates,
                          [&](std::int64_t pair, std::int64_t position, double first, double second) -> SettledPair {
                            GeometricRotations::Turn own = turn_at(pair, sign * position);
                            const TurnedPair y = turned_pair(own, sense, x.dtype, first, second);
                            return {y.first, y.second};
                          }};
  const AttentionFactor one{1, 0, Ratio{1, 1}};
  const Rope& rope = encoding_.rope;
  RopeJob job = job_of(rope, forward ? rope.pairing : rope.output_pairing, forward ? rope.output_pairing : rope.pairing,
                       sense == Sense::counterclockwise ? Direction::counterclockwise : Direction::clockwise,
                       heads_of(x), positions, heads_of(x, out));
  job.frequencies = &frequencies_;
  job.steps = &spiral.steps;
  job.factor = &one;
  job.rounding = Rounding::certified;
  job.powers = &powers;
  share(units_of(job, x.shape[0]), x.elements(),
        [&](std::int64_t first, std::int64_t last) { rotate_units(job, first, last); });

  const std::int64_t heads = x.shape[2];
  const std::size_t head_bytes = static_cast<std::size_t>(rope.head_dim) * element;
  for (std::int64_t token = 0; token < tokens; ++token) {
    if (positions[static_cast<std::size_t>(token)] != 0) continue;
    for (std::int64_t head = token * heads; head < (token + 1) * heads; ++head) {
      const std::size_t start = static_cast<std::size_t>(head) * head_bytes;
      copy_pairs(channels, x.data.data() + start, out.data() + start, element);
    }
  }
}

void XposEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  turn("XposEncoder::rotate", Pass::forward, x, positions, out);
}

Tensor XposEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  rotate(x, positions, y.data);
  return y;
}

Tensor XposEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  Tensor grad_x = Tensor::zeros(grad.dtype, grad.shape);
  turn("XposEncoder::backward", Pass::backward, grad, positions, grad_x.data);
  return grad_x;
}

}  // namespace sextant
