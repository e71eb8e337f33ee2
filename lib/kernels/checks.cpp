// What encoders ask of their arguments before anything is written. A line names the function, the argument, what it is
// and what was expected; all are thrown here, so that encoders say the same of the same. Positions in large numbers are
// looked at in within.cpp.

#include "lib/kernels/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "lib/numeric/domains.hpp"

namespace sextant {

void check_floating(std::string_view function, Dtype dtype) {
  if (!is_floating(dtype)) throw std::invalid_argument(fmt::format("{}: {}", function, not_floating(dtype)));
}

void check_floating(std::string_view function, std::string_view name, const Tensor& tensor) {
  if (!is_floating(tensor.dtype))
    throw std::invalid_argument(fmt::format("{}: {}: {}", function, name, not_floating(tensor.dtype)));
}

void check_bytes(std::string_view function, std::span<const std::byte> bytes, std::int64_t elements, Dtype dtype) {
  check_floating(function, dtype);
  const std::size_t expected = static_cast<std::size_t>(elements) * size_of(dtype);
  if (bytes.size() != expected) {
    throw std::invalid_argument(fmt::format("{}: out has {} bytes, {} elements of {} have {}", function, bytes.size(),
                                            elements, name_of(dtype), expected));
  }
}

void check_tensor(std::string_view function, std::string_view name, const Tensor& tensor,
                  const std::vector<std::int64_t>& shape) {
  check_floating(function, name, tensor);
  if (tensor.shape != shape) {
    throw std::invalid_argument(
        fmt::format("{}: {} has shape {}, expected {}", function, name, shape_text(tensor.shape), shape_text(shape)));
  }
  // Expected extents may be the tensor's own, and so anything.
  std::int64_t elements = 0;
  try {
    elements = elements_of(shape);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}: {}", function, name, error.what()));
  }
  if (tensor.data.size() != static_cast<std::size_t>(elements) * size_of(tensor.dtype)) {
    throw std::invalid_argument(fmt::format("{}: {} has {} bytes, which is not what its shape {} holds", function, name,
                                            tensor.data.size(), shape_text(shape)));
  }
}

void check_heads(std::string_view function, std::string_view name, const Tensor& x, std::int64_t head_dim) {
  if (x.shape.size() != 4 || x.shape[3] != head_dim) {
    throw std::invalid_argument(fmt::format("{}: {} has shape {}, expected [batch, n, heads, {}]", function, name,
                                            shape_text(x.shape), head_dim));
  }
  check_tensor(function, name, x, x.shape);
}

void check_dtype(std::string_view function, std::string_view name, Dtype dtype, std::string_view other,
                 Dtype expected) {
  if (dtype == expected) return;
  throw std::invalid_argument(
      fmt::format("{}: {}: dtype is {}, that of {} {}", function, name, name_of(dtype), other, name_of(expected)));
}

void check_apart(std::string_view function, std::span<const std::byte> x, std::span<const std::byte> out) {
  const std::less<> before;
  if (before(x.data(), out.data() + out.size()) && before(out.data(), x.data() + x.size())) {
    throw std::invalid_argument(fmt::format("{}: out overlaps x", function));
  }
}

void check_count(std::string_view function, std::string_view name, std::span<const std::int64_t> list,
                 std::int64_t expected) {
  if (std::ssize(list) != expected)
    throw std::invalid_argument(fmt::format("{}: {}: {} of them, expected {}", function, name, list.size(), expected));
}

void check_range(std::string_view function, std::string_view name, std::span<const std::int64_t> positions) {
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  if (are_within(positions, limit)) return;
  const auto beyond =
      std::ranges::find_if(positions, [](std::int64_t position) { return position < -limit || position > limit; });
  throw std::out_of_range(fmt::format("{}: {}: {} is beyond 2^53", function, name, *beyond));
}

}  // namespace sextant
