#pragma once

#include <memory>

#include "lib/kernels/attention_part.hpp"
#include "lib/spec/window_bias.hpp"

namespace sextant {

/// What attention with window_bias adds to its scores: weights of `weight`, [rows, heads], which is copied. The
/// positions outlive the result; Scalar is float or double.
template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias_of(const WindowBias& encoding, const Sequences& sequences,
                                                 const Tensor* weight);

}  // namespace sextant
