#include "properties/attention_oracle.hpp"

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/gen/vectors.hpp"
#include "reference/relative_bias.hpp"
#include "subjects/operations.hpp"

// What attention may be off by, in arithmetic of roundoff u (that of the dtype: 16-bit code may round scores and weights too). Write D for head_dim,
// n for the number of keys, gamma_k = k u/(1 - k u) (Higham 2002, lemma 3.1).
//
//   score s_j   dot product, scale and sum with the bias        gamma_(D+4) sum_i |q_i| |k_i| / sqrt(D) + 2 u |b_j|, i over pairs, |.| their norms
//               q and k rotated within e, f (budget.hpp)        sum_i (e_i |k_i| + f_i |q_i| + e_i f_i) / sqrt(D)
//               alibi: slope times distance                     gamma_c |b_j|, c = 4 + |ln m| + 2 (h+1) (accuracy_biases.cpp)
//               the maximum subtracted                          2 u max |s|
//   so |s^_j - s_j| <= A for all j, and exp of it, within 2 roundoffs, is off by a factor within e^(+-(A + 2 u)). A weight is the quotient of one
//   such term by a sum of n of them (gamma_n), and the result sums n products of weights and values (gamma_(n+2)):
//   |out^ - out| <= max|v| (e^(2 A + 4 u) (1 + gamma_(2n+4)) - 1) + k ulp(max|v|), and never more than 2 max|v| + k ulp(max|v|).

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;
using reference::RealPair;
using reference::RealVector;

double gamma(double k, double u) { return k * u < 0.5 ? k * u / (1 - k * u) : 1e9; }

double roundoff_of(const Spec& spec) { return unit_roundoff(spec.dtype); }

}  // namespace

AttentionCase attention_case(const Spec& spec, const Question& question) {
  const auto& encoding = std::get<Attention>(spec.encoding);
  const std::int64_t tokens = std::min<std::int64_t>(question.tokens, 9);
  const std::int64_t batch = std::min<std::int64_t>(question.batch, 2);
  const auto drawn = [&](std::int64_t heads, std::int64_t which) {
    return gen::values(spec.dtype, {batch, heads, tokens, encoding.head_dim}, 4 * question.fill + which);
  };
  AttentionCase request{drawn(encoding.num_heads, 1), drawn(encoding.num_kv_heads, 2), drawn(encoding.num_kv_heads, 3), {}, {}, batch, tokens};
  request.positions = gen::positions(gen::range_of(spec), question.position, {.batch = batch, .tokens = tokens, .heads = 1});
  // Under a causal mask the token at index t sees those up to t: positions must not fall, or the bias would hide keys that the mask shows.
  for (auto row = request.positions.begin(); row != request.positions.end(); row += tokens) std::sort(row, row + tokens);
  if (encoding.position) {
    if (const auto* relative = std::get_if<RelativeBias>(&*encoding.position)) {
      request.weight = gen::values(spec.dtype, {relative->num_buckets, encoding.num_heads}, 4 * question.fill + 4);
    }
  }
  return request;
}

Tensor attend(Session& session, const Spec& spec, const AttentionCase& request) {
  return attend(session, spec, AttendRequest{request.q, request.k, request.v, request.positions, request.weight ? &*request.weight : nullptr});
}

AttentionOracle::AttentionOracle(const Spec& spec) : spec_(spec), encoding_(std::get<Attention>(spec.encoding)) {
  if (!encoding_.position) return;
  if (const auto* rope = std::get_if<Rope>(&*encoding_.position)) {
    rope_.emplace(*rope);
    budget_.emplace(spec.accuracy, spec.dtype, rope_->frequencies(), spec.max_position);
  }
  if (const auto* alibi = std::get_if<Alibi>(&*encoding_.position)) alibi_.emplace(*alibi);
}

AttentionOracle::Row AttentionOracle::row(const AttentionCase& request, std::int64_t batch, std::int64_t head, std::int64_t token, Precision precision) {
  const std::int64_t keys = encoding_.causal ? token + 1 : request.tokens;
  const std::int64_t kv = kv_head(encoding_, head);
  const auto position = [&](std::int64_t t) { return request.positions[static_cast<std::size_t>(batch * request.tokens + t)]; };
  const std::int64_t length = reference::sequence_length(std::span(request.positions));
  const Vector query = turned(request.q, (batch * encoding_.num_heads + head) * request.tokens + token, position(token), length, precision);
  const double u = roundoff_of(spec_);
  const auto width = static_cast<double>(encoding_.head_dim);

  std::vector<RealVector> rotated_keys;
  std::vector<RealVector> values;
  std::vector<Enclosure> biases;
  double score_error = 0;
  double largest_score = 0;
  double largest_value = 0;
  for (std::int64_t t = 0; t < request.tokens; ++t) {
    const std::int64_t row = (batch * encoding_.num_kv_heads + kv) * request.tokens + t;
    const Vector key = turned(request.k, row, position(t), length, precision);
    rotated_keys.push_back(key.value);
    RealVector value;
    for (std::int64_t c = 0; c < encoding_.head_dim; ++c) {
      const double element = request.v.at(row * encoding_.head_dim + c);
      value.emplace_back(element, precision);
      if (t < keys) largest_value = std::max(largest_value, std::fabs(element));
    }
    values.push_back(std::move(value));
    const Bias bias = bias_of(request, head, position(token), position(t), precision);
    biases.push_back(bias.value);
    if (t >= keys) continue;
    double products = 0;
    double rotation = 0;
    for (std::size_t i = 0; i < query.norms.size(); ++i) {
      products += query.norms[i] * key.norms[i];
      rotation += query.errors[i] * key.norms[i] + key.errors[i] * query.norms[i] + query.errors[i] * key.errors[i];
    }
    const double size = abs(bias.value).upper();
    score_error = std::max(score_error, (gamma(width + 4, u) * products + rotation) / std::sqrt(width) + 2 * u * size + bias.error);
    largest_score = std::max(largest_score, products / std::sqrt(width) + size);
  }
  const bool biased = alibi_ || request.weight;
  RealVector result = reference::attend(encoding_, {token, query.value, rotated_keys, values, biased ? std::span<const Enclosure>(biases) : std::span<const Enclosure>()}, precision);
  const double a = score_error + 2 * u * largest_score;
  const double spread = a < 20 ? std::exp(2 * a + 4 * u) * (1 + gamma(2 * static_cast<double>(keys) + 4, u)) - 1 : 2;
  // The few roundings of this estimate are covered by the last factor.
  return {std::move(result), (largest_value * std::min(spread, 2.0) + 4 * ulp(spec_.dtype, largest_value)) * (1 + 1e-9)};
}

AttentionOracle::Vector AttentionOracle::turned(const Tensor& tensor, std::int64_t row, std::int64_t position, std::int64_t length, Precision precision) {
  Vector vector;
  std::vector<bool> in_pair(static_cast<std::size_t>(encoding_.head_dim), false);
  for (std::int64_t c = 0; c < encoding_.head_dim; ++c) vector.value.emplace_back(tensor.at(row * encoding_.head_dim + c), precision);
  if (rope_) {
    const RealVector given = vector.value;
    const Rope& rope = rope_->encoding();
    for (const Passthrough& channel : passthrough_channels(rope)) vector.value[static_cast<std::size_t>(channel.output)] = given[static_cast<std::size_t>(channel.input)];
    for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
      const Channels from = channels_of_pair(rope, rope.pairing, pair);
      const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
      const reference::Rotation rotation = rope_->rotation(position, pair, length, precision);
      const Enclosure& factor = rope_->attention_factor(precision);
      const RealPair x{given[static_cast<std::size_t>(from.first)], given[static_cast<std::size_t>(from.second)]};
      const RealPair y = reference::RopeReference::rotate(rotation, x);
      vector.value[static_cast<std::size_t>(to.first)] = factor * y.first;
      vector.value[static_cast<std::size_t>(to.second)] = factor * y.second;
      const Enclosure norm = factor * hypot(x.first, x.second);
      vector.norms.push_back(norm.upper());
      vector.errors.push_back(budget_->pair_bound(norm, rotation.angle, pair).upper());
      in_pair[static_cast<std::size_t>(to.first)] = in_pair[static_cast<std::size_t>(to.second)] = true;
    }
  }
  for (std::size_t c = 0; c < in_pair.size(); ++c) {
    if (in_pair[c]) continue;
    vector.norms.push_back(abs(vector.value[c]).upper());
    vector.errors.push_back(0);
  }
  return vector;
}

AttentionOracle::Bias AttentionOracle::bias_of(const AttentionCase& request, std::int64_t head, std::int64_t query, std::int64_t key, Precision precision) {
  const Enclosure none(std::int64_t{0}, precision);
  if (alibi_) {
    // A key that alibi's own mask hides is hidden by the attention's as well, and not read.
    const auto value = alibi_->bias(query, key, head, precision);
    if (!value) return {none, 0};
    const double roundings = 4 + abs(log(alibi_->slope(head, precision))).upper() + 2 * static_cast<double>(head + 1);
    return {*value, gamma(roundings, roundoff_of(spec_)) * abs(*value).upper()};
  }
  if (!request.weight) return {none, 0};
  return {reference::bias(std::get<RelativeBias>(*encoding_.position), *request.weight, query, key, head, precision), 0};
}

}  // namespace sextant
