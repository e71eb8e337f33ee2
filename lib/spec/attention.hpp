#pragma once

#include <cstdint>
#include <optional>

#include "lib/spec/entry.hpp"
#include "lib/spec/position_encoding.hpp"

namespace sextant {

/// Vaswani et al. 2017, section 3.2.1: out = softmax(q k^T / sqrt(head_dim) + bias) v for each head, with grouped key
/// and value heads (Ainslie et al. 2023): query head h reads kv_head(h). Under `causal` the token at index t of the
/// sequence sees the tokens at indices 0 .. t.
///
/// `position` acts on what attention is given: rope, rope_nd and xpos rotate q and k (xpos each in its role), alibi and
/// relative_bias give the bias. The other encodings are added to the embeddings before q, k and v are projected from
/// them, so that attention over q, k and v is the same as without.
struct Attention {
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  bool causal = false;
  std::optional<PositionEncoding> position;

  static const EncodingEntry<Attention> entry;
};

/// Whether the position acts on what attention is given; false without one.
bool acts_within(const Attention& encoding);

/// The key and value head of a query head: floor(head / (num_heads / num_kv_heads)).
std::int64_t kv_head(const Attention& encoding, std::int64_t head);

}  // namespace sextant
