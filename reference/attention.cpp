#include "reference/attention.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace sextant::reference {
namespace {

void check_extents(const Attention& encoding, const AttentionRow& row) {
  const auto width = static_cast<std::size_t>(encoding.head_dim);
  const auto of_width = [&](const RealVector& vector) { return vector.size() == width; };
  if (row.query.size() != width || !std::all_of(row.keys.begin(), row.keys.end(), of_width) ||
      !std::all_of(row.values.begin(), row.values.end(), of_width)) {
    throw std::invalid_argument("attention: a vector has not head_dim channels");
  }
  if (row.keys.size() != row.values.size() || (!row.bias.empty() && row.bias.size() != row.keys.size())) {
    throw std::invalid_argument("attention: keys, values and bias differ in number");
  }
  if (row.seen.first < 0 || row.seen.end > std::ssize(row.keys) || row.seen.count() < 1)
    throw std::invalid_argument("attention: no such keys");
  if (row.query_position.has_value() != encoding.query_scale.has_value())
    throw std::invalid_argument("attention: a query's position too many or too few");
  if (row.sink.has_value() != encoding.sinks) throw std::invalid_argument("attention: a sink too many or too few");
}

// cap(q.k scale) + bias for every key that the query sees.
std::vector<Enclosure> scores(const Attention& encoding, const AttentionRow& row, Precision precision) {
  const Enclosure root = sqrt(Enclosure(encoding.head_dim, precision));
  std::optional<Enclosure> of_query;
  if (encoding.query_scale) of_query = query_scale(*encoding.query_scale, *row.query_position, precision);
  std::vector<Enclosure> list;
  for (std::int64_t at = row.seen.first; at < row.seen.end; ++at) {
    const auto key = static_cast<std::size_t>(at);
    Enclosure score(std::int64_t{0}, precision);
    for (std::size_t i = 0; i < row.query.size(); ++i) score = score + row.query[i] * row.keys[key][i];
    score = encoding.softmax_scale ? score * Enclosure(*encoding.softmax_scale, precision) : score / root;
    if (of_query) score = score * *of_query;
    if (encoding.logit_softcap) {
      const Enclosure cap(*encoding.logit_softcap, precision);
      score = cap * tanh(score / cap);
    }
    list.push_back(row.bias.empty() ? score : score + row.bias[key]);
  }
  return list;
}

// e^(score - c), c a double: softmax is the same for every c, so c costs no width, and near the greatest score it keeps
// the exponentials inside MPFR's exponents.
std::vector<Enclosure> exponentials(const std::vector<Enclosure>& scores, Precision precision) {
  double greatest = -std::numeric_limits<double>::max();
  for (const Enclosure& score : scores)
    greatest = std::max(greatest, std::min(score.upper(), std::numeric_limits<double>::max()));
  std::vector<Enclosure> list;
  list.reserve(scores.size());
  for (const Enclosure& score : scores) list.push_back(exp(score - Enclosure(greatest, precision)));
  return list;
}

Enclosure sum(std::span<const Enclosure> terms, Precision precision) {
  Enclosure total(std::int64_t{0}, precision);
  for (const Enclosure& term : terms) total = total + term;
  return total;
}

}  // namespace

// 1 + floor(x / P) is the number of multiples of P from 0 to x: whole, so that only the logarithm is not exact. A power
// of the length has a whole logarithm, which its enclosure holds.
Enclosure query_scale(const QueryScale& scale, std::int64_t position, Precision precision) {
  if (position < -scale.offset) throw std::invalid_argument("attention: no query is scaled before the first position");
  if (scale.rule == QueryScaleRule::log_n) {
    const std::int64_t n = position + scale.offset;
    if (n <= scale.length) return {1.0, precision};
    return log(Enclosure(n, precision)) / log(Enclosure(scale.length, precision));
  }
  const std::int64_t multiples = (position + scale.offset + scale.period) / scale.period;
  return Enclosure(1.0, precision) + Enclosure(scale.amount, precision) * log(Enclosure(multiples, precision));
}

std::vector<Enclosure> attention_weights(const Attention& encoding, const AttentionRow& row, Precision precision) {
  check_extents(encoding, row);
  std::vector<Enclosure> terms = scores(encoding, row, precision);
  if (row.sink) terms.emplace_back(*row.sink, precision);
  std::vector<Enclosure> weights = exponentials(terms, precision);
  const Enclosure total = sum(weights, precision);
  if (row.sink) weights.pop_back();
  for (Enclosure& weight : weights) weight = weight / total;
  return weights;
}

RealVector attend(const Attention& encoding, const AttentionRow& row, Precision precision) {
  const std::vector<Enclosure> weights = attention_weights(encoding, row, precision);
  RealVector out;
  for (std::size_t channel = 0; channel < row.query.size(); ++channel) {
    std::vector<Enclosure> terms;
    for (std::size_t key = 0; key < weights.size(); ++key) {
      const std::size_t at = static_cast<std::size_t>(row.seen.first) + key;
      terms.push_back(weights[key] * row.values[at][channel]);
    }
    out.push_back(sum(terms, precision));
  }
  return out;
}

}  // namespace sextant::reference
