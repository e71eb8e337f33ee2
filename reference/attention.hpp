#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// A vector of reals, one for each channel of a head.
using RealVector = std::vector<Enclosure>;

/// What one query of one head sees. `query` and `keys` are as the position encoding leaves them (rotated, say).
struct AttentionRow {
  KeyRange seen;                       ///< the keys that the query sees; at least one
  std::span<const Enclosure> query;    ///< [head_dim]
  std::span<const RealVector> keys;    ///< [n][head_dim], of key and value head kv_head
  std::span<const RealVector> values;  ///< [n][head_dim], likewise
  std::span<const Enclosure> bias;     ///< [n], or empty for none; entries of keys that are not seen are not read
  std::optional<double> sink = {};     ///< of the head, where the encoding has sinks
  std::optional<std::int64_t> query_position = {};  ///< where queries are scaled by their positions
};

/// What a query at `position` is multiplied by (lib/spec/attention.hpp).
/// @throws std::invalid_argument before the first.
Enclosure query_scale(const QueryScale& scale, std::int64_t position, Precision precision);

/// softmax(cap(q k^T scale) + bias) over the keys that the query sees, one weight for each of them, as
/// lib/spec/attention.hpp has it (Vaswani et al. 2017, section 3.2.1). With a sink they sum to less than 1.
/// @throws std::invalid_argument for other extents.
std::vector<Enclosure> attention_weights(const Attention& encoding, const AttentionRow& row, Precision precision);

/// The sum of the values by those weights: [head_dim]. Likewise.
RealVector attend(const Attention& encoding, const AttentionRow& row, Precision precision);

}  // namespace sextant::reference
