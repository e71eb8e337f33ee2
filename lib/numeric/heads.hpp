#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/numeric/dtype.hpp"
#include "lib/numeric/tensor.hpp"

namespace sextant {

/// Vectors of a caller's memory, [batch, tokens, heads, head_dim]: element (b, t, h, i) is at data + (b * batch_stride
/// + t * token_stride + h * head_stride + i) * size_of(dtype). Bytes is const std::byte where they are only read.
template <class Bytes>
struct HeadsOf {
  Dtype dtype = Dtype::float32;
  Bytes* data = nullptr;
  std::int64_t batch = 0;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  /// In elements, not negative.
  std::int64_t batch_stride = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;
};
using Heads = HeadsOf<std::byte>;
using ConstHeads = HeadsOf<const std::byte>;

/// The same vectors, to be read.
ConstHeads read_only(const Heads& heads);

/// A dense tensor's vectors. @throws std::invalid_argument unless its shape is [batch, n, heads, head_dim] and its data
/// as large.
ConstHeads heads_of(const Tensor& tensor);
Heads heads_of(Tensor& tensor);

/// Memory of the same shape and dtype as a tensor's, dense. @throws as above, or unless it is as large.
Heads heads_of(const Tensor& shape, std::span<std::byte> memory);

/// Where a head of a token begins. Tokens are counted through the batch: token = row * view.tokens + token of the row.
template <class Bytes>
Bytes* head_at(const HeadsOf<Bytes>& view, std::int64_t token, std::int64_t head) {
  const std::int64_t element =
      token / view.tokens * view.batch_stride + token % view.tokens * view.token_stride + head * view.head_stride;
  return view.data + element * static_cast<std::int64_t>(size_of(view.dtype));
}

}  // namespace sextant
