#pragma once

#include <cstddef>

namespace sextant {

/// What scaled dot-product attention cannot do without, by Eigen, whole and on one thread: scores = v v^T, n x n, and
/// out = scores v, n x head_dim, where `vectors` are the n x head_dim float32 v, all row after row in the caller's
/// memory.
void eigen_products(const float* vectors, std::ptrdiff_t n, std::ptrdiff_t head_dim, float* scores, float* out);

}  // namespace sextant
