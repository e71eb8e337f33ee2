#pragma once

#include <cstddef>
#include <string>

namespace sextant {

/// The state of one query's online softmax (Milakov and Gimelshein 2018, arXiv 1805.02867, algorithm 3): the greatest
/// score so far, and the sum of e^(score - greatest) over the keys so far. Before the first key: the lowest finite
/// value, and 0.
template <class Scalar>
struct SoftmaxState {
  Scalar greatest;
  Scalar sum;
};

/// Takes `count` more scores, plus `bias` (count of them, or null for none): they become e^(score + bias - greatest) in
/// place, and the state is brought up to date. @returns what earlier sums must be multiplied by, e^(greatest before -
/// greatest now). e^x is within `exponential_ulp` ULP of the true value, and 0 or subnormal where that is less than the
/// least normal value. A score that is NaN or +infinity makes the state NaN for good. Scalar is float or double; runs
/// on the widest vectors of the machine.
template <class Scalar>
Scalar take_scores(Scalar* scores, const Scalar* bias, std::size_t count, SoftmaxState<Scalar>& state);

/// docs/proofs/attention-encoder.md, step 7, or, without fused operations and in double, what Highway's documentation
/// says of its Exp; the test measures it on every target.
inline constexpr double exponential_ulp = 1;

/// cap(s) = cap tanh(s / cap) of `count` scores, in place; NaN stays NaN. tanh is within `hyperbolic_tangent_ulp` ULP.
template <class Scalar>
void cap_scores(Scalar* scores, std::size_t count, Scalar cap);

/// Highway's documentation says 4 ULP of its Tanh for float and 5 for double; the test measures it on every target.
inline constexpr double hyperbolic_tangent_ulp = 5;

/// The instruction set that take_scores runs on, as Highway names it.
std::string softmax_target();

}  // namespace sextant
