#include "lib/rope_nd/rope_nd.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "lib/kernels/checks.hpp"
#include "lib/rope/call.hpp"
#include "lib/rope/job.hpp"
#include "lib/rope/plan.hpp"

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

constexpr std::string_view encoder = "RopeNdEncoder";

// Bytes that a thread turns before it looks for coordinates of 0 among them, so that they are still in its cache; and
// tokens, so that they share anchors.
constexpr std::int64_t bytes_at_a_time = std::int64_t{1} << 17;
constexpr std::int64_t units_at_a_time = 2 * StepRotations::count;

}  // namespace

struct RopeNdEncoder::State {
  explicit State(const RopeNd& of)
      : encoding(checked(of)),
        marks(channels_of_axes(of)),
        plan(along_diagonal(of), 1),
        axes_of_pairs(pair_axes(of, plan.frequencies.padded())) {}

  void turn(const RopePass& pass, const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y) const;

  RopeNd encoding;
  std::vector<std::vector<unsigned char>> marks;  // channels_of_axes
  RopePlan plan;
  PairAxes axes_of_pairs;
};

namespace {

// The bits of pairs whose coordinate is 0, which the result takes from x whatever they are: of a run of units at a
// time.
class Standing {
 public:
  Standing(const std::vector<std::vector<unsigned char>>& marks, const RopeJob& job)
      : job_(job),
        element_(size_of(job.dtype)),
        head_bytes_(marks.front().size() * element_),
        units_per_token_(job.units_per_token()) {
    for (const std::vector<unsigned char>& of_axis : marks) masks_.push_back(spread(of_axis, element_));
  }

  std::int64_t unit_bytes() const { return job_.rows.heads_per_row * static_cast<std::int64_t>(head_bytes_); }

  // Sets aside the heads of units that are about to be overwritten and have a coordinate of 0.
  void save(std::int64_t first, std::int64_t last, std::vector<std::byte>& saved) const {
    for (std::int64_t unit = first; unit < last; ++unit) {
      if (!stands(unit)) continue;
      saved.resize(static_cast<std::size_t>((last - first) * unit_bytes()));
      each_head(unit, [&](const std::byte* x, const std::byte*, std::int64_t index) {
        std::memcpy(at(saved, unit - first, index), x, head_bytes_);
      });
    }
  }

  // Puts the bits back, from x, or in place from what was saved.
  void restore(std::int64_t first, std::int64_t last, std::vector<std::byte>* saved) const {
    for (std::int64_t unit = first; unit < last; ++unit) {
      for (std::size_t axis = 0; axis < masks_.size(); ++axis) {
        if (coordinate(axis, unit) != 0) continue;
        each_head(unit, [&](const std::byte* x, std::byte* y, std::int64_t index) {
          blend(masks_[axis], saved == nullptr ? x : at(*saved, unit - first, index), y);
        });
      }
    }
  }

 private:
  std::int64_t coordinate(std::size_t axis, std::int64_t unit) const {
    return job_.rows.positions[static_cast<std::int64_t>(axis) * job_.rows.tokens + unit / units_per_token_];
  }

  bool stands(std::int64_t unit) const {
    for (std::size_t axis = 0; axis < masks_.size(); ++axis) {
      if (coordinate(axis, unit) == 0) return true;
    }
    return false;
  }

  std::byte* at(std::vector<std::byte>& saved, std::int64_t unit, std::int64_t index) const {
    return saved.data() + static_cast<std::size_t>(unit * unit_bytes()) + static_cast<std::size_t>(index) * head_bytes_;
  }

  // visit(x, y, index within the unit) for each head of a unit.
  template <class Visit>
  void each_head(std::int64_t unit, Visit visit) const {
    const HeadMemory& memory = job_.memory;
    const std::int64_t token = unit / units_per_token_;
    const std::int64_t first = unit % units_per_token_ * job_.rows.heads_per_row;
    const std::int64_t last = std::min(first + job_.rows.heads_per_row, memory.heads);
    const std::int64_t batch = token / memory.tokens;
    const std::int64_t in_batch = token % memory.tokens;
    const auto bytes = [&](const HeadStrides& strides) {
      return (batch * strides[0] + in_batch * strides[1] + first * strides[2]) * static_cast<std::int64_t>(element_);
    };
    const std::byte* const x = memory.x + bytes(memory.x_strides);
    std::byte* const y = memory.y + bytes(memory.y_strides);
    const std::int64_t x_head = memory.x_strides[2] * static_cast<std::int64_t>(element_);
    const std::int64_t y_head = memory.y_strides[2] * static_cast<std::int64_t>(element_);
    for (std::int64_t index = 0; index < last - first; ++index) visit(x + index * x_head, y + index * y_head, index);
  }

  const RopeJob& job_;
  std::size_t element_;
  std::size_t head_bytes_;
  std::int64_t units_per_token_;
  std::vector<std::vector<unsigned char>> masks_;
};

}  // namespace

// The kernels turn each pair by its axis' coordinate. Where that is 0 the pair's bits are then copied, whatever they
// are.
void RopeNdEncoder::State::turn(const RopePass& pass, const ConstHeads& x, std::span<const std::int64_t> positions,
                                const Heads& y) const {
  const VectorCall call = check_vectors(encoder, encoding.head_dim, axes(encoding), x, positions, y);
  if (call.elements == 0) return;
  const RopeJob job(PairTurns(plan, axes_of_pairs), plan.encoding, pass, Rounding::certified, x, positions, y);
  const Standing standing(marks, job);
  const std::int64_t chunk = std::max(units_at_a_time, bytes_at_a_time / standing.unit_bytes());
  share(job.units(), call.elements, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::byte> saved;
    for (std::int64_t start = first; start < last; start += chunk) {
      const std::int64_t end = std::min(start + chunk, last);
      if (call.in_place) standing.save(start, end, saved);
      rotate_units(job, start, end);
      standing.restore(start, end, call.in_place ? &saved : nullptr);
    }
  });
}

RopeNdEncoder::RopeNdEncoder(const RopeNd& encoding) : state_(std::make_shared<const State>(encoding)) {}

void RopeNdEncoder::apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y) const {
  state_->turn(forward_pass(state_->plan.encoding), x, positions, y);
}

void RopeNdEncoder::apply(const Heads& x, std::span<const std::int64_t> positions) const {
  apply(read_only(x), positions, x);
}

void RopeNdEncoder::backward(const ConstHeads& grad, std::span<const std::int64_t> positions,
                             const Heads& grad_x) const {
  state_->turn(backward_pass(state_->plan.encoding), grad, positions, grad_x);
}

Tensor RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  const ConstHeads from = heads_of(x);
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  apply(from, positions, heads_of(y));
  return y;
}

void RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  check_apart(encoder, x.data, out);
  const Heads y = heads_of(x, out);
  if (reinterpret_cast<std::uintptr_t>(out.data()) % size_of(x.dtype) == 0) return apply(heads_of(x), positions, y);
  std::ranges::copy(rotate(x, positions).data, out.begin());
}

Tensor RopeNdEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  const ConstHeads from = heads_of(grad);
  Tensor grad_x = Tensor::zeros(grad.dtype, grad.shape);
  backward(from, positions, heads_of(grad_x));
  return grad_x;
}

}  // namespace sextant
