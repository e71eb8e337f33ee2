#include "properties/model/attention_budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/numeric/ulp.hpp"
#include "properties/model/budget.hpp"

namespace sextant {
namespace {

Dtype evaluated_in(const Spec& spec) {
  const bool is_float32 = spec.evaluation == Evaluation::float32 || spec.evaluation == Evaluation::table;
  return is_16_bit(spec.dtype) && is_float32 ? Dtype::float32 : spec.dtype;
}

Dtype summed_in(const Spec& spec) {
  return is_16_bit(spec.dtype) && spec.evaluation != Evaluation::dtype_accumulate ? Dtype::float32 : spec.dtype;
}

// Step 1: the logarithm, the product with the amount (which is rounded too) and the sum, in the format of angles; or
// two logarithms, their quotient and what a rounded n moves the first by, ln n being above 1/2; the scale as it is
// kept; and the query, which in 16 bits is rounded to the dtype.
double roundings_of_query_scale(const Spec& spec, const AttentionArithmetic& arithmetic) {
  const auto& scale = std::get<Attention>(spec.encoding).query_scale;
  if (!scale) return 0;
  const bool is_log_n = scale->rule == QueryScaleRule::log_n;
  return (is_log_n ? 4 * arithmetic.libm + 3 : 2 * arithmetic.libm + 3) * arithmetic.v + arithmetic.u +
         arithmetic.table + unit_roundoff(spec.dtype);
}

}  // namespace

AttentionArithmetic::AttentionArithmetic(const Spec& spec)
    : dtype(spec.dtype),
      operations(evaluated_in(spec)),
      sums(summed_in(spec)),
      u(unit_roundoff(operations)),
      a(unit_roundoff(sums)),
      table(spec.evaluation == Evaluation::table ? unit_roundoff(dtype) : 0),
      v(angle_roundoff(spec.accuracy)),
      libm(spec.libm),
      width(static_cast<double>(std::get<Attention>(spec.encoding).head_dim)),
      scale(score_scale(std::get<Attention>(spec.encoding))),
      cap(std::get<Attention>(spec.encoding).logit_softcap.value_or(std::numeric_limits<double>::infinity())),
      of_query(roundings_of_query_scale(spec, *this)) {}

double score_size(const AttentionArithmetic& arithmetic, const ScoreParts& parts) {
  return std::min(parts.products, arithmetic.cap) + parts.bias;
}

double score_error(const AttentionArithmetic& arithmetic, const ScoreParts& parts) {
  const double u = arithmetic.u;
  const double of_bias =
      parts.roundings > 0 ? gamma((parts.roundings - 2) * arithmetic.v + 2 * u + arithmetic.table) : 0;
  double product = gamma(arithmetic.width * arithmetic.a + 4 * u + arithmetic.of_query) * parts.products +
                   (1 + gamma(arithmetic.of_query)) * parts.rotation;
  if (std::isfinite(arithmetic.cap)) {
    const double one_operation = unit_roundoff(arithmetic.dtype == Dtype::float64 ? Dtype::float64 : Dtype::float32);
    const double slope = 1 / std::cosh(std::max(parts.before_cap - product, 0.0) / arithmetic.cap);
    product = std::min(product * slope * slope * (1 + 1e-9), 2 * arithmetic.cap) +
              gamma(4 * u) * std::min(parts.products, arithmetic.cap) +
              (2 * arithmetic.libm + 4) * one_operation * arithmetic.cap;
  }
  return product + (2 * u + of_bias) * parts.bias + u * score_size(arithmetic, parts);
}

WeightError weight_error(const AttentionArithmetic& arithmetic, std::span<const KeyScore> scores) {
  return weight_error(arithmetic.u, 2 * arithmetic.libm * arithmetic.u, scores);
}

WeightError weight_error(double u, double of_exponential, std::span<const KeyScore> scores) {
  double surely = -std::numeric_limits<double>::infinity();
  for (const KeyScore& score : scores) surely = std::max(surely, score.value - score.error);
  const double below = std::log(static_cast<double>(scores.size()) / u) + 12;
  WeightError result{surely - below * (1 + 8 * u), 0, 0};
  std::int64_t keys = 0;
  double error = 0;
  double size = 0;
  for (const KeyScore& score : scores) {
    if (score.value + score.error < result.least) continue;
    ++keys;
    error = std::max(error, score.error);
    size = std::max(size, score.size);
  }
  result.common = u * size + of_exponential;
  if (keys > 1) result.most = error + result.common;
  return result;
}

double moved_weight(const WeightError& weights) { return std::tanh(weights.most / 2); }

double sum_bound(const AttentionArithmetic& arithmetic, double moved, const SeenValues& values) {
  const auto keys = static_cast<double>(values.keys);
  const double sums = gamma(2 * keys * arithmetic.a + 4 * arithmetic.u) + 0x1p-14 * arithmetic.u;
  const double underflow = keys * (ulp(arithmetic.operations, 0) * values.largest + ulp(arithmetic.sums, 0));
  const double bound =
      moved + std::min(sums, 2.0) * values.largest + underflow + 4 * ulp(arithmetic.sums, values.largest);
  // The roundings of this estimate, and of sums over a head's pairs in double.
  return bound * (1 + 1e-9);
}

double value_bound(const AttentionArithmetic& arithmetic, double of_sum, double size) {
  if (arithmetic.sums == arithmetic.dtype) return of_sum;
  return (of_sum + ulp(arithmetic.dtype, (size + of_sum) * (1 + 1e-9)) / 2) * (1 + 1e-9);
}

}  // namespace sextant
