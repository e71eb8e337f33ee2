// The gradients of attention by queries, keys and values, in double, one query at a time.
//
//   1. A query's scores, their softmax w, and the products p_j of the result's gradient with the values are formed.
//   2. The gradient by score j is w_j (p_j - sum of w p) times the slope of the soft cap; by the scale it goes to the
//      query and the key, and w_j times the result's gradient to the value.
//   3. Queries of the heads that share keys and values are one thread's, so that sums have one order.
//
// docs/proofs/attention-gradient.md has what an implementation may be off by.

#include "lib/attention/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/kernels/parallel.hpp"

namespace sextant {
namespace {

double dot(const double* a, const double* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

void add_scaled(double* to, double factor, const double* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

// Scores become weights: softmax, its greatest score subtracted first. @param sink  or null
void to_weights(std::vector<double>& scores, const double* sink) {
  double greatest = *std::ranges::max_element(scores);
  if (sink != nullptr) greatest = std::max(greatest, *sink);
  double sum = sink != nullptr ? std::exp(*sink - greatest) : 0;
  for (double& score : scores) sum += score = std::exp(score - greatest);
  for (double& score : scores) score /= sum;
}

}  // namespace

void add_gradients(const Attention& encoding, const GradientArrays& arrays) {
  const std::int64_t width = encoding.head_dim;
  const std::int64_t group = encoding.num_heads / encoding.num_kv_heads;
  const double common_scale = score_scale(encoding);
  const KeyRange sequence{0, arrays.n};
  const std::int64_t scores = arrays.batch * encoding.num_heads * arrays.n * arrays.n;
  parallel_for(arrays.batch * encoding.num_kv_heads, scores, [&](std::int64_t kv) {
    const std::int64_t kv_start = kv * arrays.n * width;
    const double* keys = arrays.k + kv_start;
    const double* values = arrays.v + kv_start;
    std::vector<double> weights;
    std::vector<double> products;  // do . v_j
    std::vector<double> slopes;    // cap'_j
    for (std::int64_t head = kv * group; head < (kv + 1) * group; ++head) {
      for (std::int64_t query = 0; query < arrays.n; ++query) {
        const std::int64_t start = (head * arrays.n + query) * width;
        const KeyRange seen = keys_seen(encoding, query, sequence);
        const double scale = arrays.query_scales == nullptr
                                 ? common_scale
                                 : common_scale * arrays.query_scales[head / encoding.num_heads * arrays.n + query];
        weights.assign(static_cast<std::size_t>(seen.count()), 0);
        if (arrays.bias != nullptr) {
          const QueryToken token{head / encoding.num_heads, head % encoding.num_heads, query};
          const double* bias = arrays.bias->row(token, seen.first, weights);
          if (bias != weights.data()) std::copy_n(bias, weights.size(), weights.data());
        }
        products.clear();
        slopes.clear();
        for (std::int64_t key = seen.first; key < seen.end; ++key) {
          double score = scale * dot(arrays.q + start, keys + key * width, width);
          slopes.push_back(1);
          if (encoding.logit_softcap) {
            const double part = std::tanh(score / *encoding.logit_softcap);
            score = *encoding.logit_softcap * part;
            slopes.back() = 1 - part * part;
          }
          weights[static_cast<std::size_t>(key - seen.first)] += score;
          products.push_back(dot(arrays.grad + start, values + key * width, width));
        }
        to_weights(weights, arrays.sinks == nullptr ? nullptr : arrays.sinks + head % encoding.num_heads);
        const double mean = dot(weights.data(), products.data(), seen.count());
        for (std::int64_t key = seen.first; key < seen.end; ++key) {
          const auto at = static_cast<std::size_t>(key - seen.first);
          const double weight = weights[at];
          const double by_score = scale * weight * (products[at] - mean) * slopes[at];
          add_scaled(arrays.grad_v + kv_start + key * width, weight, arrays.grad + start, width);
          add_scaled(arrays.grad_q + start, by_score, keys + key * width, width);
          add_scaled(arrays.grad_k + kv_start + key * width, by_score, arrays.q + start, width);
        }
      }
    }
  });
}

}  // namespace sextant
