#include "properties/model/attention_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/family.hpp"
#include "properties/model/row_agreement.hpp"
#include "properties/verdict/bound_text.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;
using reference::RealPair;
using reference::RealVector;

// Rows whose truths are compared where theory says that they differ.
constexpr std::int64_t compared_rows = 3;
// Once a violation is known, of so many more rows the bound is formed in the search for a worse one.
constexpr std::int64_t rows_after_violation = 64;

}  // namespace

std::unique_ptr<EncodingModel> position_model(const Spec& spec, const Attention& encoding) {
  if (!encoding.position) return nullptr;
  Spec alone = spec;
  std::visit([&](const auto& position) { alone.encoding = position; }, *encoding.position);
  return model_of(alone);
}

std::vector<std::int64_t> lengths_of(const AttentionCase& request, const TurningOracle* turning) {
  return request.lengths(turning == nullptr ? LengthScope::call : length_scope(turning->head().rope_scaling));
}

AttentionOracle::AttentionOracle(const Spec& spec) : spec_(spec), encoding_(std::get<Attention>(spec.encoding)) {
  if (const auto position = position_model(spec, encoding_)) {
    turning_ = position->turning();
    bias_ = position->score_bias();
  }
}

RealVector AttentionOracle::row(const AttentionCase& request, std::int64_t batch, std::int64_t head, std::int64_t token,
                                Precision precision) {
  const std::int64_t kv = kv_head(encoding_, head);
  const KeyRange seen = request.seen_by(encoding_, batch, token);
  const std::vector<std::int64_t> lengths = lengths_of(request, turning());
  const Vector query = turned(request.q, (batch * encoding_.num_heads + head) * request.queries() + token,
                              place_of(request, batch, token, Role::query, lengths), precision);
  std::vector<RealVector> keys;
  std::vector<RealVector> values;
  std::vector<Enclosure> biases;
  for (std::int64_t t = seen.first; t < seen.end; ++t) {
    const std::int64_t row = (batch * encoding_.num_kv_heads + kv) * request.tokens + t;
    keys.push_back((request.is_cached(encoding_, batch, t)
                        ? cached(request.k, row, precision)
                        : turned(request.k, row, place_of(request, batch, t, Role::key, lengths), precision))
                       .value);
    RealVector value;
    for (std::int64_t c = 0; c < encoding_.head_dim; ++c)
      value.emplace_back(request.v.at(row * encoding_.head_dim + c), precision);
    values.push_back(std::move(value));
    const std::int64_t position = request.positions[static_cast<std::size_t>(batch * request.tokens + t)];
    biases.push_back(bias_at({.query = request.query_position(batch, token), .key = position, .head = head},
                             request.weight ? &*request.weight : nullptr, precision)
                         .value);
  }
  return reference::attend(encoding_,
                           {{0, seen.count()},
                            query.value,
                            keys,
                            values,
                            bias_ ? std::span<const Enclosure>(biases) : std::span<const Enclosure>(),
                            request.sinks ? std::optional(request.sinks->at(head)) : std::nullopt,
                            encoding_.query_scale ? std::optional(request.query_position(batch, token)) : std::nullopt},
                           precision);
}

ScoreTerm AttentionOracle::bias_at(const BiasPlace& place, const Tensor* weight, Precision precision) {
  return bias_ ? bias_->at(place, weight, precision) : ScoreTerm{Enclosure(std::int64_t{0}, precision), 0};
}

AttentionOracle::Vector AttentionOracle::turned(const Tensor& tensor, std::int64_t row, const VectorPlace& place,
                                                Precision precision) {
  Vector vector;
  std::vector<bool> in_pair(static_cast<std::size_t>(encoding_.head_dim), false);
  for (std::int64_t c = 0; c < encoding_.head_dim; ++c)
    vector.value.emplace_back(tensor.at(row * encoding_.head_dim + c), precision);
  if (turning_) {
    const Rope& head = turning_->head();
    const RealVector given = vector.value;
    for (const Passthrough& channel : passthrough_channels(head))
      vector.value[static_cast<std::size_t>(channel.output)] = given[static_cast<std::size_t>(channel.input)];
    for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
      const Channels from = channels_of_pair(head, head.pairing, pair);
      const Channels to = channels_of_pair(head, head.output_pairing, pair);
      TurnedPair turned = turning_->turned(
          place, pair, {given[static_cast<std::size_t>(from.first)], given[static_cast<std::size_t>(from.second)]},
          precision);
      vector.value[static_cast<std::size_t>(to.first)] = std::move(turned.value.first);
      vector.value[static_cast<std::size_t>(to.second)] = std::move(turned.value.second);
      vector.norms.push_back(turned.norm.upper());
      vector.errors.push_back(turned.bound.upper());
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

AttentionOracle::Vector AttentionOracle::cached(const Tensor& tensor, std::int64_t row, Precision precision) {
  Vector vector;
  std::vector<bool> in_pair(static_cast<std::size_t>(encoding_.head_dim), false);
  for (std::int64_t c = 0; c < encoding_.head_dim; ++c)
    vector.value.emplace_back(tensor.at(row * encoding_.head_dim + c), precision);
  for (std::int64_t pair = 0; turning_ && pair < pairs(turning_->head()); ++pair) {
    const Channels of_pair = channels_of_pair(turning_->head(), turning_->head().output_pairing, pair);
    const auto first = static_cast<std::size_t>(of_pair.first);
    const auto second = static_cast<std::size_t>(of_pair.second);
    vector.norms.push_back(hypot(vector.value[first], vector.value[second]).upper());
    in_pair[first] = in_pair[second] = true;
  }
  for (std::size_t c = 0; c < in_pair.size(); ++c) {
    if (!in_pair[c]) vector.norms.push_back(abs(vector.value[c]).upper());
  }
  vector.errors.assign(vector.norms.size(), 0);
  return vector;
}

std::unique_ptr<QuickAttention> AttentionOracle::quick(const AttentionCase& request) {
  return quick_attention(spec_, request, turning_.get(), bias_.get());
}

namespace {

// Says of a row of two answers that it agrees, or that its bound must tell.
bool certainly_agree(std::span<const double> a, std::span<const double> b, double bound) {
  bool agree = true;
  // Not (difference > bound), so that a NaN does not agree.
  for (std::size_t c = 0; c < a.size(); ++c) agree = agree && std::fabs(a[c] - b[c]) <= bound;
  return agree;
}

// Whether the truths of two rows lie so close that right answers may be within both bounds of each other.
bool may_hide_difference(const AttentionArithmetic& arithmetic, const QuickAttentionRow& one,
                         const QuickAttentionRow& other) {
  for (std::size_t c = 0; c < one.value.size(); ++c) {
    const auto difference = static_cast<double>(std::fabs(one.value[c] - other.value[c]));
    const double size = static_cast<double>(std::max(std::fabs(one.value[c]), std::fabs(other.value[c])));
    const double bound = value_bound(arithmetic, one.bounds[c], size) + value_bound(arithmetic, other.bounds[c], size);
    if (difference > (2 * bound + one.errors[c] + other.errors[c]) * (1 + 1e-9)) return false;
  }
  return true;
}

}  // namespace

Judgement judge_same(const Spec& spec, AttentionOracle& oracle, const AttentionCase& one_case, const Tensor& one,
                     const AttentionCase& other_case, const Tensor& other, std::int64_t fill,
                     const std::function<AttentionPlace(const AttentionPlace&)>& in_other) {
  using reference::Certainty;
  const auto& encoding = std::get<Attention>(spec.encoding);
  const AttentionArithmetic arithmetic(spec);
  const std::int64_t width = encoding.head_dim;
  const std::int64_t rows = one.elements() / width;
  const std::int64_t step = std::max<std::int64_t>(1, rows / compared_rows);
  const auto one_rows = oracle.quick(one_case);
  const auto other_rows = oracle.quick(other_case);
  std::vector<double> a(static_cast<std::size_t>(width));
  std::vector<double> b(a.size());
  std::int64_t opened = 0;
  Judgement judgement;
  judgement.may_hide = true;
  for (std::int64_t row = 0; row < rows; ++row) {
    const AttentionPlace here{row / one_case.queries() / encoding.num_heads, row % one_case.queries()};
    const AttentionPlace there = in_other(here);
    const std::int64_t head = row / one_case.queries() % encoding.num_heads;
    const std::int64_t other_row = (there.batch * encoding.num_heads + head) * other_case.queries() + there.token;
    const AttentionPlaceOfHead in_one{here.batch, head, here.token};
    const AttentionPlaceOfHead in_the_other{there.batch, head, there.token};
    one.read(row * width, a);
    other.read(other_row * width, b);
    const bool is_same = certainly_agree(a, b, 0);
    if (row % step == fill % step) {
      const QuickAttentionRow in_one_row = one_rows->row(in_one);
      const QuickAttentionRow in_other_row = other_rows->row(in_the_other);
      judgement.may_hide = judgement.may_hide && may_hide_difference(arithmetic, in_one_row, in_other_row);
      const bool is_anything = !is_same && in_one_row.is_anything && in_other_row.is_anything;
      ++(is_anything ? judgement.uninformative : judgement.informative);
    }
    if (is_same) continue;
    const double limit = agreement_limit(judgement);
    if (certainly_agree(a, b, limit * (one_rows->least_bound(in_one) + other_rows->least_bound(in_the_other))))
      continue;
    if (judgement.within == Certainty::no && ++opened > rows_after_violation) break;
    const std::vector<double> bounds_in_one = one_rows->row(in_one).bounds;
    const std::vector<double> bounds_in_other = other_rows->row(in_the_other).bounds;
    for (std::size_t c = 0; c < a.size(); ++c) {
      const auto place = [&] {
        return fmt::format("batch row {}, head {}, token {}, channel {}", there.batch, head, there.token, c);
      };
      if (!std::isfinite(a[c]) || !std::isfinite(b[c])) {
        judgement.add(Certainty::no, not_finite(), [&] {
          return fmt::format("{}: {}", place(), not_finite_text(std::isfinite(a[c]) ? b[c] : a[c]));
        });
        continue;
      }
      // The truth is no larger than either answer and its bound.
      const double of_one = bounds_in_one[c];
      const double of_other = bounds_in_other[c];
      const double bound = value_bound(arithmetic, of_one, std::fabs(a[c]) + of_one) +
                           value_bound(arithmetic, of_other, std::fabs(b[c]) + of_other);
      const double error = std::fabs(a[c] - b[c]);
      const Deviation deviation{error / bound, error, error / ulp(spec.dtype, a[c])};
      judgement.add(error <= bound ? Certainty::yes : Certainty::no, deviation, [&] {
        const bool is_here = here.batch == there.batch && here.token == there.token;
        return fmt::format("{}: {} in one call, {} in the other{}: {}", place(), value_text(spec.dtype, b[c]),
                           value_text(spec.dtype, a[c]),
                           is_here ? "" : fmt::format(" (batch row {}, token {})", here.batch, here.token),
                           bound_text(deviation.of_bound));
      });
    }
  }
  if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "the same in both calls"; });
  return judgement;
}

}  // namespace sextant
