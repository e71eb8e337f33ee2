#pragma once

#include <cstdint>

#include "lib/attention/call_shape.hpp"
#include "lib/kernels/attention_part.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// Keys whose scores exist at the same time.
inline constexpr std::int64_t keys_per_block = 128;

/// Dense row-major arrays: q and out [batch, num_heads, queries, head_dim], k and v [batch, num_kv_heads, keys,
/// head_dim]; q and k as the position encoding leaves them.
template <class Scalar>
struct AttentionArrays {
  CallShape shape;
  const Scalar* q;
  const Scalar* k;
  const Scalar* v;
  const ScoreBias<Scalar>* bias;  ///< or null
  const Scalar* sinks;            ///< [num_heads], or null
  const Scalar* query_scales;     ///< [batch, queries], or null: what scores of a query gain beside the scale of all
  Scalar* out;
};

/// softmax(cap(q k^T scale) + bias) v (lib/spec/attention.hpp), zeros for a query that sees no key; block by block of
/// queries and of keys: the online softmax (Milakov and Gimelshein 2018) over two products (products.hpp), as in Dao et
/// al. 2022 (arXiv 2205.14135), algorithm 1. Blocks of queries are shared among threads and are each computed by one,
/// so that their number changes no bit. Scratch: as much as k, and O(head_dim) per thread. Scalar is float or double.
template <class Scalar>
void attend_in_blocks(const Attention& encoding, const AttentionArrays<Scalar>& arrays);

}  // namespace sextant
