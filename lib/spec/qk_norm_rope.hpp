#pragma once

#include "lib/spec/entry.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// Queries and keys that are normalized head by head and then turned, in one call, as Qwen3, Gemma 3 and the fused
/// kernels of vLLM and TensorRT-LLM have it. With d = head_dim, w the weight of queries or that of keys, which a call
/// is given, and n the vector that rope turns:
///
///     n_i = x_i (weight_offset + w_i) / sqrt((x_0^2 + ... + x_{d-1}^2)/d + epsilon)
///
/// Zhang and Sennrich 2019 (arXiv 1910.07467), equation 4, for one head; epsilon under the root and the offset as in
/// released code. All channels of a head are normalized, whether they turn or not.
struct QkNormRope {
  Rope rope;
  double epsilon = 1e-6;
  double weight_offset = 0;  ///< 0, or 1 where the weight is stored as its difference from 1 (Gemma)

  static const EncodingEntry<QkNormRope> entry;
};

}  // namespace sextant
