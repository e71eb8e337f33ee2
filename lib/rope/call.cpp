// Checks the arguments of encoders that turn vectors, before anything is written: shapes, strides that keep elements
// apart, alignment, views that overlap, positions within 2^53. Nothing is computed here.

#include "lib/rope/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "lib/numeric/domains.hpp"

namespace sextant {
namespace {

// Complains of an argument in the encoder's name.
class Refusal {
 public:
  explicit Refusal(std::string_view encoder) : encoder_(encoder) {}

  [[noreturn]] void operator()(const char* argument, std::string_view complaint) const {
    throw std::invalid_argument(text(argument, complaint));
  }
  std::string text(const char* argument, std::string_view complaint) const {
    return fmt::format("{}: {}: {}", encoder_, argument, complaint);
  }

 private:
  std::string_view encoder_;
};

// Where the elements of a view lie, in bytes from its data: [0, end).
template <class Bytes>
std::int64_t check_view(const Refusal& refuse, const HeadsOf<Bytes>& view, const char* argument) {
  if (!is_floating(view.dtype)) refuse(argument, not_floating(view.dtype));
  struct Axis {
    const char* name;
    std::int64_t extent;
    const char* name_of_stride;
    std::int64_t stride;
  };
  const auto width = static_cast<std::int64_t>(size_of(view.dtype));
  std::int64_t last = 0;  // the last element's index
  bool empty = view.head_dim == 0;
  for (const Axis& axis : {Axis{"batch", view.batch, "batch_stride", view.batch_stride},
                           Axis{"tokens", view.tokens, "token_stride", view.token_stride},
                           Axis{"heads", view.heads, "head_stride", view.head_stride},
                           Axis{"head_dim", view.head_dim, "a stride of", 1}}) {
    constexpr std::int64_t limit = std::int64_t{1} << 56;  // four axes of elements of eight bytes: 2^61 bytes in all
    if (axis.extent < 0) refuse(argument, fmt::format("{} {} is negative", axis.name, axis.extent));
    if (axis.stride < 0) refuse(argument, fmt::format("{} {} is negative", axis.name_of_stride, axis.stride));
    if (axis.extent == 0) empty = true;
    if (axis.extent > 1 && axis.stride > limit / (axis.extent - 1)) {
      refuse(argument, fmt::format("{} {} with {} {} is too large an extent", axis.name, axis.extent,
                                   axis.name_of_stride, axis.stride));
    }
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
void check_distinct(const Refusal& refuse, const Heads& view, const char* argument) {
  std::array<std::tuple<std::int64_t, std::int64_t, const char*>, 3> axes{
      {{view.batch_stride, view.batch, "batch_stride"},
       {view.token_stride, view.tokens, "token_stride"},
       {view.head_stride, view.heads, "head_stride"}}};
  std::ranges::sort(axes);
  std::int64_t reach = view.head_dim;
  for (const auto& [stride, extent, name] : axes) {
    if (extent <= 1) continue;
    if (stride < reach)
      refuse(argument, fmt::format("{} {} makes two elements one, expected at least {}", name, stride, reach));
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

// The largest position + 1.
std::int64_t check_positions(const Refusal& refuse, std::span<const std::int64_t> positions) {
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  std::int64_t least = 0;
  std::int64_t largest = positions.empty() ? -1 : positions.front();
  for (const std::int64_t position : positions) {
    least = std::min(least, position);
    largest = std::max(largest, position);
  }
  if (least < -limit || largest > limit) {
    throw std::out_of_range(
        refuse.text("positions", fmt::format("{} is outside +-2^53", least < -limit ? least : largest)));
  }
  return largest + 1;
}

void check_number(const Refusal& refuse, std::int64_t axes, const ConstHeads& x, const char* name_of_x,
                  std::span<const std::int64_t> positions) {
  const std::int64_t per_axis = std::ssize(positions) / axes;
  const bool product_fits = x.tokens == 0 || x.batch <= per_axis / x.tokens;
  if (product_fits && std::ssize(positions) == axes * x.batch * x.tokens) return;
  const std::string shape = axes == 1 ? "" : fmt::format("{} axes of ", axes);
  refuse("positions",
         fmt::format("{} of them for {}{} x {} tokens of {}", positions.size(), shape, x.batch, x.tokens, name_of_x));
}

}  // namespace

VectorCall check_vectors(std::string_view encoder, std::int64_t head_dim, std::int64_t axes, const ConstHeads& x,
                         std::span<const std::int64_t> positions, const Heads& y, ResultDtype result,
                         const VectorNames& names) {
  const Refusal refuse(encoder);
  const std::int64_t x_bytes = check_view(refuse, x, names.x);
  const std::int64_t y_bytes = check_view(refuse, y, names.y);
  if (x.head_dim != head_dim)
    refuse(names.x, fmt::format("head_dim is {}, that of the encoding {}", x.head_dim, head_dim));
  if (result == ResultDtype::that_of_x && y.dtype != x.dtype)
    refuse(names.y, fmt::format("dtype is {}, that of {} {}", name_of(y.dtype), names.x, name_of(x.dtype)));
  if (y.batch != x.batch || y.tokens != x.tokens || y.heads != x.heads || y.head_dim != x.head_dim) {
    refuse(names.y, fmt::format("extents are [{}, {}, {}, {}], those of {} [{}, {}, {}, {}]", y.batch, y.tokens,
                                y.heads, y.head_dim, names.x, x.batch, x.tokens, x.heads, x.head_dim));
  }
  check_number(refuse, axes, x, names.x, positions);
  const std::int64_t length = check_positions(refuse, positions);
  if (x_bytes == 0) return {length, 0, false};
  check_distinct(refuse, y, names.y);
  const bool in_place = x.dtype == y.dtype && same_place(x, y);
  if (!in_place && overlap(x.data, x_bytes, y.data, y_bytes)) {
    if (x.dtype != y.dtype) refuse(names.y, fmt::format("overlaps {}, which has another dtype", names.x));
    refuse(names.y, x.data == y.data ? fmt::format("data is that of {}, expected its strides too", names.x)
                                     : fmt::format("partly overlaps {}", names.x));
  }
  return {length, x.batch * x.tokens * x.heads * x.head_dim, in_place};
}

std::int64_t check_tables(std::string_view encoder, std::int64_t pairs, std::span<const std::int64_t> positions,
                          const Rows& cos, const Rows& sin) {
  const Refusal refuse(encoder);
  const auto check = [&](const Rows& view, const char* argument) -> std::int64_t {
    check_rows(view, argument);
    if (view.dtype != cos.dtype) refuse(argument, "the dtypes of cos and sin differ");
    if (view.rows != std::ssize(positions))
      refuse(argument, fmt::format("{} rows for {} positions", view.rows, positions.size()));
    if (view.width != pairs) refuse(argument, fmt::format("{} columns for {} pairs", view.width, pairs));
    if (reinterpret_cast<std::uintptr_t>(view.data) % size_of(view.dtype) != 0)
      refuse(argument, "data is not aligned to its elements");
    return view.rows == 0
               ? 0
               : ((view.rows - 1) * view.row_stride + view.width) * static_cast<std::int64_t>(size_of(view.dtype));
  };
  const std::int64_t cos_bytes = check(cos, "cos");
  const std::int64_t sin_bytes = check(sin, "sin");
  const std::int64_t length = check_positions(refuse, positions);
  if (overlap(cos.data, cos_bytes, sin.data, sin_bytes)) refuse("sin", "overlaps cos");
  return length;
}

}  // namespace sextant
