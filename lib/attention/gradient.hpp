#pragma once

#include <cstdint>

#include "lib/kernels/attention_part.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// Dense row-major arrays of doubles: q, grad and grad_q [batch, num_heads, n, head_dim], the others
/// [batch, num_kv_heads, n, head_dim]; q and k as the position encoding leaves them. The gradients start as zeros.
struct GradientArrays {
  std::int64_t batch;
  std::int64_t n;
  const double* q;
  const double* k;
  const double* v;
  const double* grad;
  const ScoreBias<double>* bias;  ///< or null
  const double* sinks;            ///< [num_heads], or null
  const double* query_scales;     ///< [batch, n], or null
  double* grad_q;
  double* grad_k;
  double* grad_v;
};

/// The gradients of attention by q, k and v (Dao et al. 2022, arXiv 2205.14135, appendix B.2): of a query with scores
/// s = cap(q k^T scale) + bias, weights p = softmax(s) and result o = p v,
///
///   dv_j += p_j do,   ds_j = p_j (do . v_j - do . o) cap'_j,   dq = sum_j ds_j k_j scale,   dk_j += ds_j q scale,
///
/// scale being the query's where each has one of its own,
/// cap'_j = 1 - (cap_j / logit_softcap)^2, or 1 without one; a sink is in the weights' sum alone;
/// the sums over all queries of all heads that read key and value head j's. One key and value head is one thread's.
void add_gradients(const Attention& encoding, const GradientArrays& arrays);

}  // namespace sextant
