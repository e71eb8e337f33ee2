#pragma once

#include <memory>

#include "lib/kernels/attention_part.hpp"
#include "lib/spec/relative_bias.hpp"

namespace sextant {

/// What attention with relative_bias adds to its scores: weights of `weight`, [num_buckets, heads], which is copied.
/// The positions outlive the result; Scalar is float or double. Memory: O(heads n).
template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias_of(const RelativeBias& encoding, const Sequences& sequences,
                                                 const Tensor* weight);

}  // namespace sextant
