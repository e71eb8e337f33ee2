// Rotations by several coordinates, on the kernels of `rope`.
//
//   1. Each pair has one axis. Where the pairs of several axes share a head, one pass turns all of them: the row of a
//      token is put together from the axes' rows by masks (kernels/axes-inl.h).
//   2. Where each axis has a part of the head, each part is turned as a head of its own.
//   3. Normalized coordinates are counts of a unit that frequencies are divided by beforehand, so that phases stay
//      exact.
//
// docs/proofs/rope.md.

#include "lib/rope_nd/rope_nd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lib/kernels/checks.hpp"
#include "lib/rope/call.hpp"
#include "lib/rope/job.hpp"
#include "lib/rope/plan.hpp"
#include "lib/rope/standing.hpp"

namespace sextant {
namespace {

constexpr std::string_view rope_nd_encoder = "RopeNdEncoder";

const RopeNd& checked(const RopeNd& encoding) {
  Spec spec;
  spec.encoding = encoding;
  if (const auto bounds = position_bounds_of(spec.encoding)) spec.max_position = bounds->end;
  validate(spec);
  return encoding;
}

PairAxes pair_axes(const std::vector<std::int64_t>& axis_of, std::int64_t axis_count, std::size_t padded) {
  const auto count = static_cast<std::size_t>(axis_count);
  PairAxes result{axis_count, std::vector<std::uint64_t>(count * padded), std::vector<PairRange>(count, {padded, 0})};
  for (std::size_t i = 0; i < padded; ++i) {
    const auto axis = static_cast<std::size_t>(axis_of[std::min(i, axis_of.size() - 1)]);
    result.masks[axis * padded + i] = ~std::uint64_t{0};
    PairRange& range = result.ranges[axis];
    const std::size_t group = i / FrequencyPieces::lanes * FrequencyPieces::lanes;
    range = {std::min(range.first, group), group + FrequencyPieces::lanes};
  }
  return result;
}

// A part of the head whose channels are paired within it: all of it, or one axis'.
struct Part {
  std::int64_t channel;          // its first
  RopePlans plans;               // of its pairs, as of a head of their own
  std::optional<PairAxes> axes;  // of a part whose pairs have several
  std::int64_t axis;             // of the others
};

std::vector<Part> parts_of(const RopeNd& encoding) {
  if (pairs(encoding.rope) == 0) return {};
  const Ladders all = ladders_of(encoding);
  const std::vector<std::int64_t> axis_of = axis_of_pairs(encoding);
  std::vector<Part> parts;
  if (encoding.rope.parts == 1) {
    RopePlans plans(encoding.rope, all);
    PairAxes axes_of_pairs = pair_axes(axis_of, axes(encoding), plans.first().frequencies.padded());
    parts.push_back({0, std::move(plans), std::move(axes_of_pairs), 0});
    return parts;
  }
  Rope head = encoding.rope;
  head.parts = 1;
  head.head_dim = head.rotary_dim = encoding.rope.head_dim / encoding.rope.parts;
  for (std::int64_t part = 0; part < encoding.rope.parts; ++part) {
    const auto first = all.places.begin() + part * pairs(head);
    const Ladders own{all.ladders, {first, first + pairs(head)}};
    parts.push_back({part * head.head_dim, RopePlans(head, own), std::nullopt,
                     axis_of[static_cast<std::size_t>(part * pairs(head))]});
  }
  return parts;
}

template <class Bytes>
HeadsOf<Bytes> channels_of(HeadsOf<Bytes> heads, std::int64_t first, std::int64_t count) {
  heads.data += static_cast<std::size_t>(first) * size_of(heads.dtype);
  heads.head_dim = count;
  return heads;
}

}  // namespace

struct RopeNdEncoder::State {
  explicit State(const RopeNd& of) : encoding(checked(of)), parts(parts_of(of)) {}

  void turn(RopePass (*pass)(const Rope&), const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y,
            const VectorNames& names) const;
  std::vector<std::int64_t> counts(std::span<const std::int64_t> positions) const;

  RopeNd encoding;
  std::vector<Part> parts;
};

// What the frequencies multiply, of every coordinate.
std::vector<std::int64_t> RopeNdEncoder::State::counts(std::span<const std::int64_t> positions) const {
  const std::size_t tokens = positions.size() / encoding.sections.size();
  std::vector<std::int64_t> list;
  list.reserve(positions.size());
  for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
    // With an extent of up to 2^20 and a shift of up to 1, counts are within +-2^53, which the kernels reach to.
    const int bits = shift_bits(encoding, axis);
    const std::int64_t limit = (std::int64_t{1} << (52 - bits)) - (std::int64_t{1} << (bits == 0 ? 20 : 21));
    for (const std::int64_t position : positions.subspan(static_cast<std::size_t>(axis) * tokens, tokens)) {
      if (position < -limit || position > limit) {
        throw std::out_of_range(
            fmt::format("{}: positions: expected -{} to {} where coordinates are normalized, got {}", rope_nd_encoder,
                        limit, limit, position));
      }
      list.push_back(counted(encoding, axis, position));
    }
  }
  return list;
}

void RopeNdEncoder::State::turn(RopePass (*pass)(const Rope&), const ConstHeads& x,
                                std::span<const std::int64_t> positions, const Heads& y,
                                const VectorNames& names) const {
  const VectorCall call = check_vectors(rope_nd_encoder, encoding.rope.head_dim, axes(encoding), x, positions, y,
                                        ResultDtype::that_of_x, names);
  if (call.elements == 0) return;
  if (pairs(encoding.rope) == 0) return carry(encoding.rope, pass(encoding.rope), x, y);
  std::vector<std::int64_t> counted_positions;
  if (encoding.coordinates != Coordinates::index) {
    counted_positions = counts(positions);
    positions = counted_positions;
  }
  const auto tokens = static_cast<std::size_t>(x.batch * x.tokens);
  for (const Part& part : parts) {
    std::optional<RopePlan> own;
    const RopePlan& plan = part.plans.for_length(call.length, own);
    const std::int64_t width = plan.encoding.head_dim;
    const PairTurns turns = part.axes ? PairTurns(plan, *part.axes) : PairTurns(plan);
    const RopeJob job(turns, plan.encoding, pass(plan.encoding), Rounding::certified,
                      channels_of(x, part.channel, width),
                      part.axes ? positions : positions.subspan(static_cast<std::size_t>(part.axis) * tokens, tokens),
                      channels_of(y, part.channel, width));
    share(job.units(), x.batch * x.tokens * x.heads * width,
          [&](std::int64_t first, std::int64_t last) { rotate_units(job, first, last); });
  }
}

RopeNdEncoder::RopeNdEncoder(const RopeNd& encoding) : state_(std::make_shared<const State>(encoding)) {}

void RopeNdEncoder::apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y) const {
  state_->turn(forward_pass, x, positions, y, {});
}

void RopeNdEncoder::apply(const Heads& x, std::span<const std::int64_t> positions) const {
  state_->turn(forward_pass, read_only(x), positions, x, names_in_place);
}

void RopeNdEncoder::backward(const ConstHeads& grad, std::span<const std::int64_t> positions,
                             const Heads& grad_x) const {
  state_->turn(backward_pass, grad, positions, grad_x, names_of_gradients);
}

Tensor RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  check_heads(rope_nd_encoder, "x", x, state_->encoding.rope.head_dim);
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  apply(heads_of(x), positions, heads_of(y));
  return y;
}

void RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  check_heads(rope_nd_encoder, "x", x, state_->encoding.rope.head_dim);
  check_bytes(rope_nd_encoder, out, x.elements(), x.dtype);
  check_apart(rope_nd_encoder, x.data, out);
  const Heads y = heads_of(x, out);
  if (reinterpret_cast<std::uintptr_t>(out.data()) % size_of(x.dtype) == 0) return apply(heads_of(x), positions, y);
  std::ranges::copy(rotate(x, positions).data, out.begin());
}

Tensor RopeNdEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  check_heads(rope_nd_encoder, "grad", grad, state_->encoding.rope.head_dim);
  Tensor grad_x = Tensor::zeros(grad.dtype, grad.shape);
  backward(heads_of(grad), positions, heads_of(grad_x));
  return grad_x;
}

}  // namespace sextant
