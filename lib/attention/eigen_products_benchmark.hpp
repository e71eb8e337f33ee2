#pragma once

#include <cstddef>

namespace sextant {

/// What scaled dot-product attention cannot do without, by Eigen, as a whole and on one thread: scores = v v^T, an n x n
/// matrix, and out = scores v, an n x head_dim matrix, of n x head_dim float32 `vectors`, row after row. The memory is
/// the caller's.
void eigen_products(const float* vectors, std::ptrdiff_t n, std::ptrdiff_t head_dim, float* scores, float* out);

}  // namespace sextant
