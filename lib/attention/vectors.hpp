#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/kernels/attention_part.hpp"
#include "lib/numeric/heads.hpp"
#include "lib/numeric/tensor.hpp"

// Queries, keys and values as attention has them: dense, [batch, heads, n, head_dim], n the tokens.

namespace sextant {

/// Vectors of the extents of x.
template <class Bytes, class OfX>
HeadsOf<Bytes> vectors_like(const HeadsOf<OfX>& x, Dtype dtype, Bytes* data) {
  return {.dtype = dtype,
          .data = data,
          .batch = x.batch,
          .tokens = x.tokens,
          .heads = x.heads,
          .head_dim = x.head_dim,
          .batch_stride = x.heads * x.tokens * x.head_dim,
          .token_stride = x.head_dim,
          .head_stride = x.tokens * x.head_dim};
}

/// A tensor's. Its shape has four extents.
ConstHeads vectors_of(const Tensor& x);
Heads vectors_of(Tensor& x);

/// In bytes.
std::size_t size_of(const Heads& vectors);

/// Makes `to` the values of x in its dtype, of the same extents, each the nearest.
void convert(const ConstHeads& x, const Heads& to);

/// Makes `to` what the role makes of x in a step, whose positions are [axes, batch, n]; `to` may be x. `last` has the
/// largest position of each batch row, of queries and keys together; tokens before `first`, which has a token of each
/// row or none, are left as they are in x.
void turn_in_step(const Turning& turning, const ConstHeads& x, std::span<const std::int64_t> positions,
                  std::span<const std::int64_t> last, std::span<const std::int64_t> first, Role role, const Heads& to);

}  // namespace sextant
