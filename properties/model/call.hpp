#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lib/numeric/tensor.hpp"

namespace sextant {

/// The inputs of one call of an encoding's operation. What the operation does not take is empty.
struct Call {
  std::vector<std::int64_t> positions = {};        ///< [axes, batch, tokens]; of a bias those of the keys
  std::vector<std::int64_t> query_positions = {};  ///< of a bias; of a step of attention (AttentionCase)
  /// x of a rotation, [batch, tokens, heads, head_dim]; q and k of qk_norm_rope, likewise; q, k, v of attention.
  std::vector<Tensor> vectors = {};
  /// Of learned codes and relative biases; of qk_norm_rope [2, head_dim], that of queries and that of keys.
  std::optional<Tensor> weight = std::nullopt;
  std::optional<Tensor> sinks = std::nullopt;  ///< of attention with sinks
  std::vector<std::int64_t> starts = {};       ///< of attention: AttentionCase
  std::vector<std::int64_t> ends = {};         ///< likewise
  std::int64_t fill = 0;  ///< the drawing of vectors and weight; of a long answer it also picks the rows to be judged
};

/// A call, and another one that asks for part of the same.
struct Parts {
  Call whole;
  Call part;
  /// Where an element of the part's answer stands in the whole's; negative where it stands nowhere, and is not judged.
  std::function<std::int64_t(std::int64_t element)> in_whole;
  /// So many elements, from each multiple of it on, follow each other in the whole's answer too.
  std::int64_t together = 1;
};

}  // namespace sextant
