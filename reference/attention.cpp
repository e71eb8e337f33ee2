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
  if (row.row < 0 || row.row >= std::ssize(row.keys)) throw std::invalid_argument("attention: no such row");
}

// q.k / sqrt(head_dim) + bias for every key that the query sees.
std::vector<Enclosure> scores(const Attention& encoding, const AttentionRow& row, Precision precision) {
  const auto seen = static_cast<std::size_t>(encoding.causal ? row.row + 1 : std::ssize(row.keys));
  const Enclosure root = sqrt(Enclosure(encoding.head_dim, precision));
  std::vector<Enclosure> list;
  for (std::size_t key = 0; key < seen; ++key) {
    Enclosure product(std::int64_t{0}, precision);
    for (std::size_t i = 0; i < row.query.size(); ++i) product = product + row.query[i] * row.keys[key][i];
    list.push_back(row.bias.empty() ? product / root : product / root + row.bias[key]);
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

std::vector<Enclosure> attention_weights(const Attention& encoding, const AttentionRow& row, Precision precision) {
  check_extents(encoding, row);
  std::vector<Enclosure> weights = exponentials(scores(encoding, row, precision), precision);
  const Enclosure total = sum(weights, precision);
  for (Enclosure& weight : weights) weight = weight / total;
  return weights;
}

RealVector attend(const Attention& encoding, const AttentionRow& row, Precision precision) {
  const std::vector<Enclosure> weights = attention_weights(encoding, row, precision);
  RealVector out;
  for (std::size_t channel = 0; channel < row.query.size(); ++channel) {
    std::vector<Enclosure> terms;
    for (std::size_t key = 0; key < weights.size(); ++key) terms.push_back(weights[key] * row.values[key][channel]);
    out.push_back(sum(terms, precision));
  }
  return out;
}

}  // namespace sextant::reference
