#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// A vector of reals, one for each channel of a head.
using RealVector = std::vector<Enclosure>;

/// What one query of one head sees. `query` and `keys` are as the position encoding leaves them (rotated, say).
struct AttentionRow {
  std::int64_t row;                    ///< the query's index in the sequence
  std::span<const Enclosure> query;    ///< [head_dim]
  std::span<const RealVector> keys;    ///< [n][head_dim], of key and value head kv_head
  std::span<const RealVector> values;  ///< [n][head_dim], likewise
  std::span<const Enclosure> bias;     ///< [n], or empty for none; entries that the causal mask hides are not read
};

/// softmax(q k^T / sqrt(head_dim) + bias) over the keys that the query sees, Vaswani et al. 2017, section 3.2.1: the
/// first row + 1 of them where the attention is causal, else all. @throws std::invalid_argument for other extents.
std::vector<Enclosure> attention_weights(const Attention& encoding, const AttentionRow& row, Precision precision);

/// The sum of the values by those weights: [head_dim]. Likewise.
RealVector attend(const Attention& encoding, const AttentionRow& row, Precision precision);

}  // namespace sextant::reference
