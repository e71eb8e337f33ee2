#pragma once

#include <cstdint>
#include <span>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/spec.hpp"

// What an implementation of attention may be off by: docs/proofs/attention-oracle.md has the steps and letters.

namespace sextant {

/// gamma of roundings that come to `total` of a value, k u for k of them: total / (1 - total), Higham 2002, lemma 3.1;
/// 1e9 where total is 1/2 or more.
inline double gamma(double total) { return total < 0.5 ? total / (1 - total) : 1e9; }

/// What a claim says of attention's roundings.
struct AttentionArithmetic {
  explicit AttentionArithmetic(const Spec& spec);

  Dtype dtype;       ///< of the result
  Dtype operations;  ///< that the result of each operation is rounded to
  Dtype sums;        ///< that each term of a sum is rounded to
  double u;          ///< roundoff of operations
  double a;          ///< roundoff of sums
  double table;      ///< roundoff of slopes in a table that is rounded to the dtype; 0 where none is
  double v;          ///< roundoff that slopes are formed with: angle_roundoff of the accuracy class
  double libm;       ///< L
  double width;      ///< D
  double scale;      ///< that q k^T is multiplied by: 1/sqrt(D), or softmax_scale
  double cap;        ///< logit_softcap; infinity without one
  double of_query;   ///< what a query's own scale rounds by, step 1: those of the scale and of its product; 0 without
};

/// Of one key, as a query sees it.
struct KeyScore {
  double value;  ///< s_j, within a small part of `error` of itself
  double error;  ///< e_j
  double size;   ///< at least |s_j|
};

/// What a score is made of.
struct ScoreParts {
  double products;        ///< sum_i |q_i| |k_i| scale, the query's own included
  double rotation = 0;    ///< step 2
  double before_cap = 0;  ///< at most |x|, the scaled product that a softcap is given
  double bias = 0;        ///< |b_j|
  double roundings = 0;   ///< c + 2 of step 3
};

/// At least |s_j|: products and bias, the first no larger than a softcap.
double score_size(const AttentionArithmetic& arithmetic, const ScoreParts& parts);

/// e_j, steps 1 to 4.
double score_error(const AttentionArithmetic& arithmetic, const ScoreParts& parts);

/// What the weights of a row may be off by, step 5.
struct WeightError {
  double least;   ///< keys whose value + error is below have no weight to speak of
  double common;  ///< A_j - e_j: the error of each of the others is e^(+-A_j), relative
  double most;    ///< the greatest A_j; 0 where there is one key
};
WeightError weight_error(const AttentionArithmetic& arithmetic, std::span<const KeyScore> scores);
/// The same in arithmetic of roundoff u, whose exponential is off by a factor within e^(+-of_exponential).
WeightError weight_error(double u, double of_exponential, std::span<const KeyScore> scores);

/// So much of the whole weight may move from some keys to others, step 5: tanh(most / 2).
double moved_weight(const WeightError& weights);

/// The values of the keys that a query sees.
struct SeenValues {
  double largest;     ///< max |v|
  std::int64_t keys;  ///< n, a sink being one more
};

/// What an element of a row may be off by before it is rounded to the dtype, where errors of weights move the mean of
/// values by at most `moved`: steps 6 and 7.
double sum_bound(const AttentionArithmetic& arithmetic, double moved, const SeenValues& values);

/// That, and the rounding to the dtype of a result which may be as large as `size` and the bound: step 7.
double value_bound(const AttentionArithmetic& arithmetic, double of_sum, double size);

}  // namespace sextant
