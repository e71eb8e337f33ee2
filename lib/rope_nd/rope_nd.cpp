#include "lib/rope_nd/rope_nd.hpp"

#include <algorithm>
#include <cstring>

#include "lib/kernels/checks.hpp"
#include "lib/rope/call.hpp"
#include "lib/rope/frequencies.hpp"

namespace sextant {
namespace {

const RopeNd& checked(const RopeNd& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  return encoding;
}

// For each axis 255 for each channel of its pairs, 0 for the others.
std::vector<std::vector<unsigned char>> channels_of_axes(const RopeNd& encoding) {
  const Rope rope = along_diagonal(encoding);
  const std::vector<std::int64_t> axis = axis_of_pairs(encoding);
  const std::vector<unsigned char> none(static_cast<std::size_t>(encoding.head_dim), 0);
  std::vector<std::vector<unsigned char>> marks(static_cast<std::size_t>(axes(encoding)), none);
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
    const Channels both = channels_of_pair(rope, rope.pairing, pair);
    std::vector<unsigned char>& own = marks[static_cast<std::size_t>(axis[static_cast<std::size_t>(pair)])];
    own[static_cast<std::size_t>(both.first)] = own[static_cast<std::size_t>(both.second)] = 255;
  }
  return marks;
}

// The mark of each channel, once for each byte of an element.
std::vector<unsigned char> spread(const std::vector<unsigned char>& marks, std::size_t element) {
  std::vector<unsigned char> bytes;
  bytes.reserve(marks.size() * element);
  for (const unsigned char mark : marks) bytes.insert(bytes.end(), element, mark);
  return bytes;
}

// The bytes of `source` where the mask is 255, those of `out` elsewhere. By bytes and without branches, which compilers
// make vectors of.
void blend(std::span<const unsigned char> mask, const std::byte* source, std::byte* out) {
  const std::size_t size = mask.size();
  const unsigned char* __restrict own = mask.data();
  const auto* __restrict from = reinterpret_cast<const unsigned char*>(source);
  auto* __restrict to = reinterpret_cast<unsigned char*>(out);
  for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<unsigned char>((from[i] & own[i]) | (to[i] & ~own[i]));
}

PairAxes pair_axes(const RopeNd& encoding, std::size_t padded) {
  const std::vector<std::int64_t> axis_of = axis_of_pairs(encoding);
  const auto count = static_cast<std::size_t>(axes(encoding));
  PairAxes result{axes(encoding), std::vector<std::uint64_t>(count * padded),
                  std::vector<PairRange>(count, {padded, 0})};
  for (std::size_t i = 0; i < padded; ++i) {
    const auto axis = static_cast<std::size_t>(axis_of[std::min(i, axis_of.size() - 1)]);
    result.masks[axis * padded + i] = ~std::uint64_t{0};
    PairRange& range = result.ranges[axis];
    const std::size_t group = i / FrequencyPieces::lanes * FrequencyPieces::lanes;
    range = {std::min(range.first, group), group + FrequencyPieces::lanes};
  }
  return result;
}

// Bytes that a thread turns before it looks for coordinates of 0 among them, so that they are still in its cache; and
// tokens, so that they share anchors.
constexpr std::int64_t bytes_at_a_time = std::int64_t{1} << 17;
constexpr std::int64_t units_at_a_time = 2 * StepRotations::count;

}  // namespace

RopeNdEncoder::RopeNdEncoder(const RopeNd& encoding)
    : encoding_(checked(encoding)),
      channels_of_axes_(channels_of_axes(encoding)),
      diagonal_(along_diagonal(encoding)),
      frequencies_(rope_turns(diagonal_, 1)),
      steps_(frequencies_),
      axes_(pair_axes(encoding, frequencies_.padded())) {}

// The kernels turn each pair by its axis' coordinate. Where that is 0 the pair's bits are then copied, whatever they
// are.
void RopeNdEncoder::turn(const char* function, Pass pass, const Tensor& x, std::span<const std::int64_t> positions,
                         std::span<std::byte> out) const {
  check_heads(function, x, encoding_.head_dim);
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  check_count(function, positions, axes(encoding_) * tokens);
  check_range(function, positions);
  check_bytes(function, out, x.elements(), x.dtype);
  check_apart(function, x.data, out);
  if (x.elements() == 0) return;
  const std::size_t element = size_of(x.dtype);
  if (reinterpret_cast<std::uintptr_t>(out.data()) % element != 0) {
    Tensor aligned = Tensor::zeros(x.dtype, x.shape);
    turn(function, pass, x, positions, aligned.data);
    std::memcpy(out.data(), aligned.data.data(), out.size());
    return;
  }
  const AttentionFactor one = attention_factor(diagonal_);
  RopeJob job = job_of(diagonal_, diagonal_.pairing, diagonal_.pairing,
                       pass == Pass::forward ? Direction::counterclockwise : Direction::clockwise, heads_of(x),
                       positions, heads_of(x, out));
  job.frequencies = &frequencies_;
  job.steps = &steps_;
  job.factor = &one;
  job.length = 1;
  job.rounding = Rounding::certified;
  job.axes = &axes_;
  job.axis_stride = tokens;

  std::vector<std::vector<unsigned char>> masks;
  for (const std::vector<unsigned char>& marks : channels_of_axes_) masks.push_back(spread(marks, element));
  const std::size_t head_bytes = static_cast<std::size_t>(encoding_.head_dim) * element;
  const std::int64_t units_per_token = units_of(job, 1) / job.tokens;
  const auto restore = [&](std::int64_t unit) {
    const std::int64_t token = unit / units_per_token;
    const std::int64_t first_head = unit % units_per_token * job.heads_per_unit;
    const std::int64_t last_head = std::min(first_head + job.heads_per_unit, job.heads);
    for (std::size_t axis = 0; axis < masks.size(); ++axis) {
      if (positions[axis * static_cast<std::size_t>(tokens) + static_cast<std::size_t>(token)] != 0) continue;
      for (std::int64_t head = first_head; head < last_head; ++head) {
        const std::size_t start = static_cast<std::size_t>(token * job.heads + head) * head_bytes;
        blend(masks[axis], x.data.data() + start, out.data() + start);
      }
    }
  };
  const std::int64_t unit_bytes = job.heads_per_unit * static_cast<std::int64_t>(head_bytes);
  const std::int64_t chunk = std::max(units_at_a_time, bytes_at_a_time / unit_bytes);
  share(units_of(job, x.shape[0]), x.elements(), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t start = first; start < last; start += chunk) {
      const std::int64_t end = std::min(start + chunk, last);
      rotate_units(job, start, end);
      for (std::int64_t unit = start; unit < end; ++unit) restore(unit);
    }
  });
}

void RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  turn("RopeNdEncoder::rotate", Pass::forward, x, positions, out);
}

Tensor RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  rotate(x, positions, y.data);
  return y;
}

Tensor RopeNdEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  Tensor grad_x = Tensor::zeros(grad.dtype, grad.shape);
  turn("RopeNdEncoder::backward", Pass::backward, grad, positions, grad_x.data);
  return grad_x;
}

}  // namespace sextant
