#pragma once

#include <memory>

#include "lib/kernels/attention_part.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// How the encoding's position turns queries and keys; nothing where it does not.
/// @throws what the position's encoder does when it is made.
std::unique_ptr<const Turning> turning(const Attention& encoding);

/// What the encoding's position adds to the scores; nothing where it adds nothing. The positions outlive the result;
/// `weight` has the shape of signature_of(encoding).weight, and is null where there is none. Scalar is float or double.
template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias(const Attention& encoding, const Sequences& sequences,
                                              const Tensor* weight);

}  // namespace sextant
