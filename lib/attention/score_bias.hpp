#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// One query of one head.
struct QueryToken {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t index;
};

/// What an encoding adds to the scores of attention. Const: any number of threads may ask.
template <class Scalar>
class ScoreBias {
 public:
  virtual ~ScoreBias() = default;

  /// The bias of the query and the keys from index first_key on, into `row`: within 3 u of itself, u = 2^-24 or 2^-53
  /// that of Scalar.
  virtual void fill(const QueryToken& query, std::int64_t first_key, std::span<Scalar> row) const = 0;
};

/// That of the encoding's position: nothing unless it is alibi or relative_bias. `positions` is [batch, n] and outlives
/// the result; `weight` is relative_bias's [num_buckets, num_heads]. Scalar is float or double. Memory: O(num_heads n).
template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias(const Attention& encoding, std::span<const std::int64_t> positions,
                                              std::int64_t n, const Tensor* weight);

}  // namespace sextant
