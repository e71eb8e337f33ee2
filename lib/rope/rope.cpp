#include "lib/rope/rope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "lib/kernels/targets.hpp"
#include "lib/kernels/unit_circle.hpp"
#include "lib/rope/call.hpp"
#include "lib/rope/kernels.hpp"

namespace sextant {
namespace {

constexpr std::int64_t position_limit_of_kernels = std::int64_t{1} << 53;

const Rope& checked(const Rope& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  target_in_use();
  return encoding;
}

[[noreturn]] void refuse(const char* argument, std::string_view complaint) {
  throw std::invalid_argument(fmt::format("RopeEncoder: {}: {}", argument, complaint));
}

// Where the elements of a view lie, in bytes from its data: [0, end).
template <class Bytes>
std::int64_t check_view(const HeadsOf<Bytes>& view, const char* argument) {
  if (view.dtype == Dtype::int64) refuse(argument, "dtype int64 is not a floating dtype");
  struct Axis {
    const char* name;
    std::int64_t extent;
    std::int64_t stride;
  };
  const auto width = static_cast<std::int64_t>(size_of(view.dtype));
  std::int64_t last = 0;  // the last element's index
  bool empty = view.head_dim == 0;
  for (const Axis& axis : {Axis{"batch", view.batch, view.batch_stride}, Axis{"tokens", view.tokens, view.token_stride},
                           Axis{"heads", view.heads, view.head_stride}, Axis{"head_dim", view.head_dim, 1}}) {
    constexpr std::int64_t limit = std::int64_t{1} << 56;  // four axes of elements of eight bytes: 2^61 bytes in all
    if (axis.extent < 0) refuse(argument, fmt::format("{} {} is negative", axis.name, axis.extent));
    if (axis.stride < 0) refuse(argument, fmt::format("the stride of {} is negative: {}", axis.name, axis.stride));
    if (axis.extent == 0) empty = true;
    if (axis.extent > 1 && axis.stride > limit / (axis.extent - 1))
      refuse(argument, fmt::format("the extent of {} is too large", axis.name));
    if (axis.extent > 0) last += (axis.extent - 1) * axis.stride;
  }
  if (empty) return 0;
  if (view.data == nullptr) refuse(argument, "data is null");
  if (reinterpret_cast<std::uintptr_t>(view.data) % size_of(view.dtype) != 0)
    refuse(argument, "data is not aligned to its elements");
  return (last + 1) * width;
}

// Each axis, from the least stride up, steps over all that the ones before it reach: then no two elements share a
// place.
void check_distinct(const Heads& view, const char* argument) {
  std::array<std::pair<std::int64_t, std::int64_t>, 3> axes{
      {{view.batch_stride, view.batch}, {view.token_stride, view.tokens}, {view.head_stride, view.heads}}};
  std::ranges::sort(axes);
  std::int64_t reach = view.head_dim;
  for (const auto& [stride, extent] : axes) {
    if (extent <= 1) continue;
    if (stride < reach) refuse(argument, "its strides make two elements one");
    reach += (extent - 1) * stride;
  }
}

bool overlap(const std::byte* a, std::int64_t a_bytes, const std::byte* b, std::int64_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return a_bytes > 0 && b_bytes > 0 && first < second + static_cast<std::uintptr_t>(b_bytes) &&
         second < first + static_cast<std::uintptr_t>(a_bytes);
}

bool same_place(const ConstHeads& x, const Heads& y) {
  return x.data == y.data && x.batch_stride == y.batch_stride && x.token_stride == y.token_stride &&
         x.head_stride == y.head_stride;
}

// The length of the call: its largest position + 1.
std::int64_t check_positions(std::span<const std::int64_t> positions) {
  std::int64_t least = 0;
  std::int64_t largest = positions.empty() ? -1 : positions.front();
  for (const std::int64_t position : positions) {
    least = std::min(least, position);
    largest = std::max(largest, position);
  }
  if (least < -position_limit_of_kernels || largest > position_limit_of_kernels) {
    refuse("positions", fmt::format("{} is outside +-2^53", least < -position_limit_of_kernels ? least : largest));
  }
  return largest + 1;
}

template <class Bytes, class TensorType>
HeadsOf<Bytes> view_of(TensorType& tensor) {
  if (tensor.shape.size() != 4) {
    refuse("x", fmt::format("shape {}, expected [batch, n, heads, head_dim]", shape_text(tensor.shape)));
  }
  const auto& shape = tensor.shape;
  return {tensor.dtype,
          tensor.data.data(),
          shape[0],
          shape[1],
          shape[2],
          shape[3],
          shape[1] * shape[2] * shape[3],
          shape[2] * shape[3],
          shape[3]};
}

}  // namespace

RopeEncoder::RopeEncoder(const Rope& encoding)
    : encoding_(checked(encoding)), factor_(attention_factor(encoding)), rates_(rope_turns(encoding, 1)) {
  if (const auto* longrope = std::get_if<LongropeScaling>(&encoding.rope_scaling)) {
    beyond_ = Rates(rope_turns(encoding, longrope->original_max_position_embeddings + 1));
  }
  unit_circle();  // its constants are part of the set-up
}

const RopeEncoder::Rates& RopeEncoder::rates_for(std::int64_t length, Rates& own) const {
  const auto limit = length_limit(encoding_.rope_scaling);
  if (!limit || length <= *limit) return rates_;
  if (std::holds_alternative<LongropeScaling>(encoding_.rope_scaling)) return beyond_;
  own = Rates(rope_turns(encoding_, length));
  return own;
}

void RopeEncoder::run(Pass pass, const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y,
                      Rounding rounding) const {
  const std::int64_t x_bytes = check_view(x, "x");
  const std::int64_t y_bytes = check_view(y, "y");
  if (x.head_dim != encoding_.head_dim)
    refuse("x", fmt::format("head_dim is {}, that of the encoding {}", x.head_dim, encoding_.head_dim));
  if (y.dtype != x.dtype) refuse("y", fmt::format("dtype is {}, that of x {}", name_of(y.dtype), name_of(x.dtype)));
  if (y.batch != x.batch || y.tokens != x.tokens || y.heads != x.heads || y.head_dim != x.head_dim) {
    refuse("y", fmt::format("extents are [{}, {}, {}, {}], those of x [{}, {}, {}, {}]", y.batch, y.tokens, y.heads,
                            y.head_dim, x.batch, x.tokens, x.heads, x.head_dim));
  }
  if (x.tokens != 0 && x.batch > std::ssize(positions) / x.tokens) {
    refuse("positions", fmt::format("{} of them for {} x {} tokens", positions.size(), x.batch, x.tokens));
  }
  if (std::ssize(positions) != x.batch * x.tokens) {
    refuse("positions", fmt::format("{} of them for {} x {} tokens", positions.size(), x.batch, x.tokens));
  }
  const std::int64_t length = check_positions(positions);
  if (x_bytes == 0) return;
  check_distinct(y, "y");
  const bool in_place = same_place(x, y);
  if (!in_place && overlap(x.data, x_bytes, y.data, y_bytes)) refuse("y", "partly overlaps x");

  const bool forward = pass == Pass::forward;
  const Pairing in = forward ? encoding_.pairing : encoding_.output_pairing;
  const Pairing out = forward ? encoding_.output_pairing : encoding_.pairing;
  const bool clockwise = (encoding_.direction == Direction::clockwise) == forward;
  Rates own;
  const Rates& rates = rates_for(length, own);
  const bool ordinary = factor_.high >= 0x1p-20 && factor_.high <= 0x1p20;
  RopeJob job =
      job_of(encoding_, in, out, clockwise ? Direction::clockwise : Direction::counterclockwise, x, positions, y);
  job.frequencies = &rates.frequencies;
  job.steps = &rates.steps;
  job.factor = &factor_;
  job.length = length;
  job.rounding = ordinary ? rounding : Rounding::certified;
  share(units_of(job, x.batch), x.batch * x.tokens * x.heads * x.head_dim,
        [&](std::int64_t first, std::int64_t last) { rotate_units(job, first, last); });
}

void RopeEncoder::apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y,
                        Rounding rounding) const {
  run(Pass::forward, x, positions, y, rounding);
}

void RopeEncoder::apply(const Heads& x, std::span<const std::int64_t> positions, Rounding rounding) const {
  run(Pass::forward,
      {x.dtype, x.data, x.batch, x.tokens, x.heads, x.head_dim, x.batch_stride, x.token_stride, x.head_stride},
      positions, x, rounding);
}

void RopeEncoder::backward(const ConstHeads& grad, std::span<const std::int64_t> positions, const Heads& grad_x,
                           Rounding rounding) const {
  run(Pass::backward, grad, positions, grad_x, rounding);
}

void RopeEncoder::tables(std::span<const std::int64_t> positions, const Rows& cos, const Rows& sin) const {
  const auto check = [&](const Rows& view, const char* argument) -> std::int64_t {
    check_rows(view, argument);
    if (view.dtype != cos.dtype) refuse(argument, "the dtypes of cos and sin differ");
    if (view.rows != std::ssize(positions))
      refuse(argument, fmt::format("{} rows for {} positions", view.rows, positions.size()));
    if (view.width != pairs(encoding_))
      refuse(argument, fmt::format("{} columns for {} pairs", view.width, pairs(encoding_)));
    if (reinterpret_cast<std::uintptr_t>(view.data) % size_of(view.dtype) != 0)
      refuse(argument, "data is not aligned to its elements");
    return view.rows == 0
               ? 0
               : ((view.rows - 1) * view.row_stride + view.width) * static_cast<std::int64_t>(size_of(view.dtype));
  };
  const std::int64_t cos_bytes = check(cos, "cos");
  const std::int64_t sin_bytes = check(sin, "sin");
  const std::int64_t length = check_positions(positions);
  if (overlap(cos.data, cos_bytes, sin.data, sin_bytes)) refuse("sin", "overlaps cos");
  Rates own;
  const Rates& rates = rates_for(length, own);
  RopeJob job{};
  job.encoding = &encoding_;
  job.frequencies = &rates.frequencies;
  job.steps = &rates.steps;
  job.factor = &factor_;
  job.length = length;
  job.dtype = cos.dtype;
  job.direction = Direction::counterclockwise;
  job.positions = positions.data();
  job.y = cos.data;
  job.y_strides = {0, cos.row_stride, 0};
  share(cos.rows, cos.rows * cos.width * 2, [&](std::int64_t first, std::int64_t last) {
    write_rotation_rows(job, sin.data, sin.row_stride, first, last);
  });
}

Tensor RopeEncoder::run(Pass pass, const Tensor& x, std::span<const std::int64_t> positions, Rounding rounding) const {
  const auto from = view_of<const std::byte>(x);
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  run(pass, from, positions, view_of<std::byte>(y), rounding);
  return y;
}

Tensor RopeEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, Rounding rounding) const {
  return run(Pass::forward, x, positions, rounding);
}

Tensor RopeEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions, Rounding rounding) const {
  return run(Pass::backward, grad, positions, rounding);
}

}  // namespace sextant
