#pragma once

#include <memory>

#include "lib/kernels/attention_part.hpp"
#include "lib/spec/reach.hpp"

namespace sextant {

/// What attention with reach adds to its scores. The positions outlive the result; Scalar is float or double; the
/// weight is not looked at.
template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias_of(const Reach& encoding, const Sequences& sequences,
                                                 const Tensor* weight);

}  // namespace sextant
