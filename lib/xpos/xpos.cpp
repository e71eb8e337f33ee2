// xPos: the kernels of `rope` with a power for each pair.
//
//   1. Frequencies, the pairs' rates of growth and the rotations of small steps, powers included, are made once, for
//      each sense of the rotation.
//   2. The kernels turn and multiply at once (lib/rope/kernels/pair_bounds-inl.h) by the position's distance from the
//      centre; pairs that they leave open are settled by GeometricRotations.
//   3. Rates beyond what the kernels take, and positions whose distance is no double, go one pair at a time
//      (rotate_pairs.cpp).
//   4. Tokens at position 0 keep the bits of x where that is the centre too.
//
// docs/proofs/rope.md, steps 6, 7 and 14; docs/proofs/encoder-powers.md.

#include "lib/xpos/xpos.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/powers.hpp"
#include "lib/kernels/step_rotations.hpp"
#include "lib/rope/call.hpp"
#include "lib/rope/job.hpp"
#include "lib/xpos/rotate_pairs.hpp"

namespace sextant {
namespace {

constexpr std::string_view xpos_encoder = "XposEncoder";

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

// What pair i of a vector is multiplied by, `distance` from the centre: zeta = (2i/n + 2/5) / (7/5) = (10 i + 2 n) / (7
// n): the paper's 0.4 and 1.4 are decimals.
PowerScale factor_at(const Xpos& encoding, std::int64_t pair, std::int64_t distance) {
  const std::int64_t width = rotary_width(encoding.rope);
  return {10 * pair + 2 * width, 7 * width, encoding.role == Role::query ? distance : -distance, encoding.scale_base};
}

// Where the powers of a call of that length are 1. An arithmetic shift rounds down.
std::int64_t centre_of(const Xpos& encoding, std::int64_t length) {
  if (const auto* centre = std::get_if<std::int64_t>(&encoding.centre)) return *centre;
  return std::get<HalfOfCall>(encoding.centre) == HalfOfCall::floor ? length >> 1 : (length + 1) >> 1;
}

// Whether the kernels tell each position's distance from the centre exactly (PairPowers).
bool is_told_exactly(std::span<const std::int64_t> positions, std::int64_t centre) {
  constexpr std::int64_t limit = (std::int64_t{1} << 53) - StepRotations::count;
  const std::int64_t most = limit - std::abs(centre);
  return centre == 0 ||
         std::ranges::all_of(positions, [&](std::int64_t position) { return -most <= position && position <= most; });
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

// The bits of the pairs of tokens at position 0, which the result takes from x whatever they are where that is the
// centre too.
class Standing {
 public:
  // Sets them aside where x is about to be overwritten.
  Standing(const ConstHeads& x, std::span<const std::int64_t> positions, std::int64_t centre, bool in_place)
      : x_(x), in_place_(in_place), head_bytes_(static_cast<std::size_t>(x.head_dim) * size_of(x.dtype)) {
    for (std::int64_t token = 0; centre == 0 && token < std::ssize(positions); ++token) {
      if (positions[static_cast<std::size_t>(token)] == 0) tokens_.push_back(token);
    }
    if (!in_place) return;
    saved_.resize(tokens_.size() * static_cast<std::size_t>(x.heads) * head_bytes_);
    std::byte* to = saved_.data();
    for (const std::int64_t token : tokens_) {
      for (std::int64_t head = 0; head < x.heads; ++head, to += head_bytes_)
        std::memcpy(to, head_at(x, token, head), head_bytes_);
    }
  }

  void restore(const PairedChannels& channels, const Heads& y) const {
    const std::byte* saved = saved_.data();
    for (const std::int64_t token : tokens_) {
      for (std::int64_t head = 0; head < y.heads; ++head) {
        const std::byte* const from = in_place_ ? saved : head_at(x_, token, head);
        copy_pairs(channels, from, head_at(y, token, head), size_of(y.dtype));
        if (in_place_) saved += head_bytes_;
      }
    }
  }

 private:
  ConstHeads x_;
  bool in_place_;
  std::size_t head_bytes_;
  std::vector<std::int64_t> tokens_;
  std::vector<std::byte> saved_;
};

// Calls visit(bytes of the view's head, those of the dense tensor's) for each head.
template <class Bytes, class TensorType, class Visit>
void each_head(const HeadsOf<Bytes>& view, TensorType& dense, Visit visit) {
  auto* of_dense = dense.data.data();
  const std::size_t head_bytes = static_cast<std::size_t>(view.head_dim) * size_of(view.dtype);
  for (std::int64_t token = 0; token < view.batch * view.tokens; ++token) {
    for (std::int64_t head = 0; head < view.heads; ++head, of_dense += head_bytes)
      visit(head_at(view, token, head), of_dense, head_bytes);
  }
}

// What turns and multiplies at once as the position grows in one sense; the powers of the other sense are the inverse
// ones.
struct Spiral {
  PowerRates rates;
  StepRotations steps;
};

}  // namespace

struct XposEncoder::State {
  explicit State(const Xpos& of)
      : encoding(checked(of)),
        channels(channels_of(of.rope)),
        transposed(reversed(channels)),
        rotations(of.rope.rope_theta, rotary_width(of.rope), pairs(of.rope)),
        frequencies(geometric_turns(of.rope.rope_theta, 2, rotary_width(of.rope), pairs(of.rope))) {
    counterclockwise.rates = rates_of(of);
    clockwise.rates = counterclockwise.rates.inverse();
    for (Spiral* spiral : {&counterclockwise, &clockwise}) spiral->steps = StepRotations(frequencies, spiral->rates);
  }

  void turn(const RopePass& pass, const PairedChannels& places, const ConstHeads& x,
            std::span<const std::int64_t> positions, const Heads& y, const VectorNames& names) const;
  void turn_one_by_one(Sense sense, const PairedChannels& places, const ConstHeads& x,
                       std::span<const std::int64_t> positions, std::int64_t centre, const Heads& y) const;
  GeometricRotations::Turn turn_at(std::int64_t pair, std::int64_t position, std::int64_t centre) const {
    return rotations.at(pair, position, factor_at(encoding, pair, position - centre));
  }

  Xpos encoding;
  PairedChannels channels;
  PairedChannels transposed;
  GeometricRotations rotations;
  FrequencyPieces frequencies;
  Spiral counterclockwise;
  Spiral clockwise;
};

void XposEncoder::State::turn(const RopePass& pass, const PairedChannels& places, const ConstHeads& x,
                              std::span<const std::int64_t> positions, const Heads& y, const VectorNames& names) const {
  const VectorCall call =
      check_vectors(xpos_encoder, encoding.rope.head_dim, 1, x, positions, y, ResultDtype::that_of_x, names);
  if (call.elements == 0) return;
  const Sense sense = pass.direction == Direction::counterclockwise ? Sense::counterclockwise : Sense::clockwise;
  const Spiral& spiral = sense == Sense::counterclockwise ? counterclockwise : clockwise;
  const std::int64_t centre = centre_of(encoding, call.length);
  if (spiral.rates.fastest() > largest_pair_rate || !is_told_exactly(positions, centre))
    return turn_one_by_one(sense, places, x, positions, centre, y);
  const std::int64_t sign = sense == Sense::counterclockwise ? 1 : -1;
  const PairPowers powers{&spiral.rates, sign * centre,
                          [&](std::int64_t pair, std::int64_t position, double first, double second) -> SettledPair {
                            GeometricRotations::Turn own = turn_at(pair, sign * position, centre);
                            const TurnedPair turned = turned_pair(own, sense, x.dtype, first, second);
                            return {turned.first, turned.second};
                          }};
  const Standing standing(x, positions, centre, call.in_place);
  const RopeJob job(PairTurns(frequencies, spiral.steps, powers), encoding.rope, pass, Rounding::certified, x,
                    positions, y);
  share(job.units(), call.elements, [&](std::int64_t first, std::int64_t last) { rotate_units(job, first, last); });
  standing.restore(places, y);
}

// By dense tensors of our own: nothing here is quick.
void XposEncoder::State::turn_one_by_one(Sense sense, const PairedChannels& places, const ConstHeads& x,
                                         std::span<const std::int64_t> positions, std::int64_t centre,
                                         const Heads& y) const {
  Tensor dense_x = Tensor::zeros(x.dtype, {x.batch, x.tokens, x.heads, x.head_dim});
  Tensor dense_y = dense_x;
  each_head(x, dense_x, [](const std::byte* from, std::byte* to, std::size_t bytes) { std::memcpy(to, from, bytes); });
  const auto turn_of = [&](std::int64_t token, std::int64_t pair) {
    return turn_at(pair, positions[static_cast<std::size_t>(token)], centre);
  };
  rotate_pairs(places, sense, dense_x, x.batch * x.tokens, x.heads, turn_of, dense_y.data);
  each_head(y, dense_y, [](std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); });
}

XposEncoder::XposEncoder(const Xpos& encoding) : state_(std::make_shared<const State>(encoding)) {}

void XposEncoder::apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y) const {
  state_->turn(forward_pass(state_->encoding.rope), state_->channels, x, positions, y, {});
}

void XposEncoder::apply(const Heads& x, std::span<const std::int64_t> positions) const {
  state_->turn(forward_pass(state_->encoding.rope), state_->channels, read_only(x), positions, x, names_in_place);
}

void XposEncoder::backward(const ConstHeads& grad, std::span<const std::int64_t> positions, const Heads& grad_x) const {
  state_->turn(backward_pass(state_->encoding.rope), state_->transposed, grad, positions, grad_x, names_of_gradients);
}

Tensor XposEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  check_heads(xpos_encoder, "x", x, state_->encoding.rope.head_dim);
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  apply(heads_of(x), positions, heads_of(y));
  return y;
}

void XposEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  check_heads(xpos_encoder, "x", x, state_->encoding.rope.head_dim);
  check_bytes(xpos_encoder, out, x.elements(), x.dtype);
  check_apart(xpos_encoder, x.data, out);
  const Heads y = heads_of(x, out);
  if (reinterpret_cast<std::uintptr_t>(out.data()) % size_of(x.dtype) == 0) return apply(heads_of(x), positions, y);
  std::ranges::copy(rotate(x, positions).data, out.begin());
}

Tensor XposEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  check_heads(xpos_encoder, "grad", grad, state_->encoding.rope.head_dim);
  Tensor grad_x = Tensor::zeros(grad.dtype, grad.shape);
  backward(heads_of(grad), positions, heads_of(grad_x));
  return grad_x;
}

}  // namespace sextant
