#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lib/numeric/tensor.hpp"

namespace sextant {

// What encoders ask of their arguments. Each throws std::invalid_argument, but where it says otherwise, with a
// line that begins with `function`, the public function called.

/// A floating dtype, called dtype.
void check_floating(std::string_view function, Dtype dtype);

/// A tensor of a floating dtype, called `name`.
void check_floating(std::string_view function, std::string_view name, const Tensor& tensor);

/// Memory, called out, for just `elements` of `dtype`.
void check_bytes(std::string_view function, std::span<const std::byte> bytes, std::int64_t elements, Dtype dtype);

/// A floating tensor of this shape, called `name`.
void check_tensor(std::string_view function, std::string_view name, const Tensor& tensor,
                  const std::vector<std::int64_t>& shape);

/// A floating tensor of shape [batch, n, heads, head_dim], called `name`.
void check_heads(std::string_view function, std::string_view name, const Tensor& x, std::int64_t head_dim);

/// `name` of the dtype that `other` has; both are floating.
void check_dtype(std::string_view function, std::string_view name, Dtype dtype, std::string_view other, Dtype expected);

/// No byte in common.
void check_apart(std::string_view function, std::span<const std::byte> x, std::span<const std::byte> out);

/// `expected` of them, which are called `name`.
void check_count(std::string_view function, std::string_view name, std::span<const std::int64_t> list,
                 std::int64_t expected);

/// Whether |p| <= most for all positions, `most` below 2^62; false where it is negative. Of many positions on as many
/// threads as OpenMP gives.
bool are_within(std::span<const std::int64_t> positions, std::int64_t most);

/// Positions that a spec may claim, called `name`: |p| <= 2^53. Throws std::out_of_range.
void check_range(std::string_view function, std::string_view name, std::span<const std::int64_t> positions);

}  // namespace sextant
