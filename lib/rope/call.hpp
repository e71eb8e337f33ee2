#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lib/numeric/heads.hpp"
#include "lib/numeric/rounding.hpp"

namespace sextant {

// What the encoders that turn vectors ask of their arguments. Every complaint is one line that begins with `encoder`
// and the argument: std::out_of_range for a position beyond +-2^53, std::invalid_argument for anything else.

/// What a checked call is.
struct VectorCall {
  std::int64_t length;    ///< its largest position + 1
  std::int64_t elements;  ///< of x; where there are none, nothing is to be done
  bool in_place;          ///< y is x
};

/// The dtypes that an encoder writes vectors in.
enum class ResultDtype { that_of_x, any_floating };

/// What the function that was called has x and y as.
struct VectorNames {
  const char* x = "x";
  const char* y = "y";
};
inline constexpr VectorNames names_in_place{"x", "x"};
inline constexpr VectorNames names_of_gradients{"grad", "grad_x"};

/// Vectors x, `head_dim` wide, turned into y, which is x itself (the same data and strides: in place) or apart from it,
/// with a position for each of `axes` coordinates of each token.
/// @throws std::invalid_argument if the dtype of x or y is not floating; x is not head_dim wide; y has other extents,
/// or another dtype than `result` allows; an extent or stride is negative, or the extent in bytes beyond 2^62; data is
/// null or not aligned to its elements; two elements of y are one; x and y overlap otherwise (from the first byte of
/// each to its last); or the number of positions is not axes * batch * tokens. std::out_of_range if one lies outside
/// +-2^53.
VectorCall check_vectors(std::string_view encoder, std::int64_t head_dim, std::int64_t axes, const ConstHeads& x,
                         std::span<const std::int64_t> positions, const Heads& y,
                         ResultDtype result = ResultDtype::that_of_x, const VectorNames& names = {});

/// Tables of cos and sin: rows for the positions, a column for each of `pairs`, apart, of one dtype, aligned. Returns
/// the largest position + 1. @throws as above.
std::int64_t check_tables(std::string_view encoder, std::int64_t pairs, std::span<const std::int64_t> positions,
                          const Rows& cos, const Rows& sin);

}  // namespace sextant
