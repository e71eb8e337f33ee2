#include "properties/model/attention_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include "lib/numeric/ulp.hpp"
#include "properties/model/attention_budget.hpp"
#include "reference/attention.hpp"

// Steps are those of docs/proofs/attention-gradient.md.

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::first_precision;
using reference::RealPair;
using reference::RealVector;

constexpr double ulps = 4;  // k

Enclosure zero() { return {std::int64_t{0}, first_precision}; }

double size_of_pair(const Enclosure& a, const Enclosure& b) { return hypot(a, b).upper(); }

// A gradient by a turned vector while it is summed: steps 5 and 7.
struct TurnedGradient {
  RealVector value;            // [head_dim]
  std::vector<double> bounds;  // of each pair, then of each channel that does not turn
};

class Group {
 public:
  Group(const Spec& spec, AttentionOracle& oracle, const AttentionCase& request, const Tensor& grad, std::int64_t batch,
        std::int64_t kv)
      : spec_(spec),
        encoding_(std::get<Attention>(spec.encoding)),
        oracle_(oracle),
        request_(request),
        grad_(grad),
        batch_(batch),
        kv_(kv),
        width_(static_cast<std::size_t>(encoding_.head_dim)),
        tokens_(request.tokens),
        lengths_(lengths_of(request, oracle.turning())),
        arithmetic_(spec),
        u_(arithmetic_.u),
        stored_u_(is_16_bit(spec.dtype) ? unit_roundoff(spec.dtype) : 0),
        least_normal_(std::ldexp(1.0, format_of(arithmetic_.operations).min_exponent)) {
    const std::int64_t heads = encoding_.num_heads / encoding_.num_kv_heads;
    const std::int64_t first = (batch_ * encoding_.num_heads + kv_ * heads) * tokens_;
    for (std::int64_t row = first; row < first + heads * tokens_; ++row) queries_ += has_gradient(row) ? 1 : 0;
    for (std::int64_t t = 0; t < tokens_; ++t) {
      const std::int64_t row = (batch_ * encoding_.num_kv_heads + kv_) * tokens_ + t;
      keys_.push_back(
          oracle_.turned(request_.k, row, place_of(request_, batch_, t, Role::key, lengths_), first_precision));
      key_values_.push_back(keys_.back().value);
      values_.push_back(read(request_.v, row));
    }
    const RealVector zeros(width_, zero());
    dk_.assign(static_cast<std::size_t>(tokens_), {zeros, std::vector<double>(keys_[0].norms.size(), 0)});
    dv_.assign(static_cast<std::size_t>(tokens_), {zeros, std::vector<double>(width_, 0)});
  }

  GroupGradients gradients() {
    GroupGradients result;
    const std::int64_t heads = encoding_.num_heads / encoding_.num_kv_heads;
    for (std::int64_t head = kv_ * heads; head < (kv_ + 1) * heads; ++head) {
      for (std::int64_t token = 0; token < tokens_; ++token) {
        if (!has_gradient((batch_ * encoding_.num_heads + head) * tokens_ + token)) {
          // Every product and sum of steps 4 and 5 is zero.
          result.q.push_back({RealVector(width_, zero()), std::vector<double>(width_, 0)});
          continue;
        }
        const TurnedGradient dq = add_query(head, token);
        result.q.push_back(turned_back(dq, place_of(request_, batch_, token, Role::query, lengths_)));
      }
    }
    for (std::int64_t token = 0; token < tokens_; ++token) {
      const auto t = static_cast<std::size_t>(token);
      result.k.push_back(turned_back(dk_[t], place_of(request_, batch_, token, Role::key, lengths_)));
      GradientRow& dv = dv_[t];
      for (std::size_t c = 0; c < width_; ++c) dv.bound[c] = rounded(dv.bound[c], abs(dv.value[c]).upper());
      result.v.push_back(std::move(dv));
    }
    return result;
  }

 private:
  // A bound, and the last rounding of what may be as large as `size`: k ULP of the arithmetic, and half of the dtype's.
  double rounded(double bound, double size) const {
    return value_bound(arithmetic_, bound + ulps * ulp(arithmetic_.sums, size + bound), size) * (1 + 1e-9);
  }

  // Whether a row of the result, [batch, heads, tokens], has another gradient than zero.
  bool has_gradient(std::int64_t row) const {
    std::vector<double> given(width_);
    grad_.read(row * encoding_.head_dim, given);
    return std::ranges::any_of(given, [](double value) { return value != 0; });
  }

  RealVector read(const Tensor& tensor, std::int64_t row) const {
    RealVector values;
    for (std::int64_t c = 0; c < encoding_.head_dim; ++c)
      values.emplace_back(tensor.at(row * encoding_.head_dim + c), first_precision);
    return values;
  }

  Enclosure product_of(const AttentionOracle::Vector& query, std::size_t key) const {
    Enclosure product = zero();
    for (std::size_t c = 0; c < width_; ++c) product = product + query.value[c] * keys_[key].value[c];
    return product;
  }

  // Adds a query's part of dk and dv, and gives its dq'.
  TurnedGradient add_query(std::int64_t head, std::int64_t token) {
    const std::int64_t row = (batch_ * encoding_.num_heads + head) * tokens_ + token;
    const AttentionOracle::Vector query =
        oracle_.turned(request_.q, row, place_of(request_, batch_, token, Role::query, lengths_), first_precision);
    const RealVector by_out = read(grad_, row);
    const KeyRange seen = request_.seen_by(encoding_, batch_, token);
    std::optional<Enclosure> of_query;
    if (encoding_.query_scale)
      of_query =
          reference::query_scale(*encoding_.query_scale, request_.query_position(batch_, token), first_precision);
    const double scale_of_scores = arithmetic_.scale * (of_query ? of_query->upper() : 1);
    const auto n = static_cast<double>(seen.count() + (encoding_.sinks ? 1 : 0));
    const auto d = static_cast<double>(width_);
    const auto position = [&](std::size_t t) {
      return request_.positions[static_cast<std::size_t>(batch_ * tokens_) + t];
    };

    const Enclosure common_scale = encoding_.softmax_scale ? Enclosure(*encoding_.softmax_scale, first_precision)
                                                           : Enclosure(1.0, first_precision) /
                                                                 sqrt(Enclosure(encoding_.head_dim, first_precision));
    const Enclosure real_scale = of_query ? common_scale * *of_query : common_scale;

    // A and max |s|, as attention's oracle has them; M of step 4.
    std::vector<Enclosure> biases;
    double score_error = 0;
    double largest = 0;
    double most = 0;
    for (std::size_t key = 0; key < static_cast<std::size_t>(tokens_); ++key) {
      const ScoreTerm bias =
          oracle_.bias_at({.query = position(static_cast<std::size_t>(token)), .key = position(key), .head = head},
                          request_.weight ? &*request_.weight : nullptr, first_precision);
      biases.push_back(bias.value);
      if (!seen.contains(static_cast<std::int64_t>(key))) continue;
      ScoreParts parts{.products = 0, .bias = abs(bias.value).upper(), .roundings = bias.roundings};
      for (std::size_t i = 0; i < query.norms.size(); ++i) {
        const double f = keys_[key].errors[i];
        parts.products += query.norms[i] * keys_[key].norms[i] * scale_of_scores;
        parts.rotation +=
            (query.errors[i] * keys_[key].norms[i] + f * query.norms[i] + query.errors[i] * f) * scale_of_scores;
      }
      if (encoding_.logit_softcap) parts.before_cap = abs(product_of(query, key) * real_scale).lower();
      score_error = std::max(score_error, sextant::score_error(arithmetic_, parts));
      largest = std::max(largest, score_size(arithmetic_, parts));
      double product = 0;
      for (std::size_t c = 0; c < width_; ++c) product += abs(by_out[c] * values_[key][c]).upper();
      most = std::max(most, product);
    }
    std::optional<double> sink;
    if (request_.sinks) {
      sink = request_.sinks->at(head);
      largest = std::max(largest, std::fabs(*sink));
      score_error = std::max(score_error, u_ * std::fabs(*sink));
    }
    const double a = score_error + 4 * u_ * (largest + std::log(n) + std::max(1.0, spec_.libm));  // step 2
    const double of_weight = gamma((2 * n + 4) * u_);
    const double w = std::expm1(std::min(2 * a + 4 * spec_.libm * u_, 50.0)) * (1 + of_weight) + of_weight;
    const double q = w + gamma((n + d + 12) * u_ + stored_u_) * (1 + w);  // step 4
    // What a softcap's slope is off by, step 4.
    const double slope = encoding_.logit_softcap ? 2 * score_error / arithmetic_.cap + 8 * u_ : 0;
    const double before_cap = 2 * w + (1 + w) * (q + gamma((d + 10) * u_));
    const double after_cap = before_cap + (2 + before_cap) * slope;
    const double t = after_cap + (2 + after_cap) * gamma(arithmetic_.of_query);
    const double lost = least_normal_ * (4 * most + d + n + 4);  // step 8

    const std::vector<Enclosure> weights = reference::attention_weights(
        encoding_,
        {seen, query.value, key_values_, values_, biases, sink,
         encoding_.query_scale ? std::optional(request_.query_position(batch_, token)) : std::nullopt},
        first_precision);
    std::vector<Enclosure> by_weight;
    Enclosure mean = zero();
    const auto first = static_cast<std::size_t>(seen.first);
    for (std::size_t key = first; key < static_cast<std::size_t>(seen.end); ++key) {
      Enclosure product = zero();
      for (std::size_t c = 0; c < width_; ++c) product = product + by_out[c] * values_[key][c];
      mean = mean + weights[key - first] * product;
      by_weight.push_back(std::move(product));
    }
    const auto queries = static_cast<double>(queries_);  // m, at most: adding a zero rounds nothing
    TurnedGradient dq{RealVector(width_, zero()), std::vector<double>(query.norms.size(), 0)};
    for (std::size_t key = first; key < static_cast<std::size_t>(seen.end); ++key) {
      const Enclosure& real_weight = weights[key - first];
      Enclosure by_score = real_weight * (by_weight[key - first] - mean) * real_scale;
      if (encoding_.logit_softcap) {
        const Enclosure part =
            tanh(product_of(query, key) * real_scale / Enclosure(*encoding_.logit_softcap, first_precision));
        by_score = by_score * (Enclosure(1.0, first_precision) - square(part));
      }
      const double weight = real_weight.upper();
      for (std::size_t c = 0; c < width_; ++c) {
        dq.value[c] = dq.value[c] + by_score * keys_[key].value[c];
        dk_[key].value[c] = dk_[key].value[c] + by_score * query.value[c];
        dv_[key].value[c] = dv_[key].value[c] + real_weight * by_out[c];
        const double size = abs(by_out[c]).upper();
        dv_[key].bound[c] += (w + gamma((queries + 1) * u_) * (1 + w)) * weight * size;  // step 3
        dv_[key].bound[c] += 2 * least_normal_ * (1 + size);                             // step 8
      }
      const double scale = std::numbers::sqrt2 * scale_of_scores * most * weight * (1 + 1e-9);
      for (std::size_t i = 0; i < query.norms.size(); ++i) {  // step 5
        const double f = keys_[key].errors[i];
        const double e = query.errors[i];
        const double key_norm = keys_[key].norms[i] + f;
        const double query_norm = query.norms[i] + e;
        dq.bounds[i] += scale * ((t + gamma((n + 4) * u_) * (2 + t)) * key_norm + 2 * f);
        dk_[key].bounds[i] += scale * ((t + gamma((queries + 4) * u_) * (2 + t)) * query_norm + 2 * e);
        dq.bounds[i] += std::numbers::sqrt2 * scale_of_scores * (lost * key_norm + 2 * least_normal_);  // step 8
        dk_[key].bounds[i] += std::numbers::sqrt2 * scale_of_scores * (lost * query_norm + 2 * least_normal_);
      }
    }
    return dq;
  }

  // Step 6, and 7 for what does not turn: the adjoint of how a vector at `place` is turned.
  GradientRow turned_back(const TurnedGradient& turned, const VectorPlace& place) {
    GradientRow row{turned.value, std::vector<double>(width_, 0)};
    std::vector<bool> in_pair(width_, false);
    std::size_t next = 0;
    if (TurningOracle* turning = oracle_.turning()) {
      const Rope& head = turning->head();
      for (const Passthrough& channel : passthrough_channels(head))
        row.value[static_cast<std::size_t>(channel.input)] = turned.value[static_cast<std::size_t>(channel.output)];
      std::vector<std::size_t> inputs(width_);
      for (std::int64_t pair = 0; pair < pairs(head); ++pair, ++next) {
        const Channels from = channels_of_pair(head, head.pairing, pair);
        const Channels to = channels_of_pair(head, head.output_pairing, pair);
        const Enclosure& g0 = turned.value[static_cast<std::size_t>(to.first)];
        const Enclosure& g1 = turned.value[static_cast<std::size_t>(to.second)];
        // The rotation of (1, 0) is (a, b), that of (0, 1) is (-b, a).
        const RealPair image =
            turning->turned(place, pair, {Enclosure(1.0, first_precision), zero()}, first_precision).value;
        const double size = size_of_pair(g0, g1);
        const double error = turned.bounds[next] * (1 + stored_u_) + stored_u_ * size;
        const Enclosure norm(size + error, first_precision);
        const double scale = size_of_pair(image.first, image.second);
        const double bound =
            scale * error + turning->turned(place, pair, {norm, zero()}, first_precision).bound.upper();
        row.value[static_cast<std::size_t>(from.first)] = image.first * g0 + image.second * g1;
        row.value[static_cast<std::size_t>(from.second)] = image.first * g1 - image.second * g0;
        for (const std::int64_t channel : {from.first, from.second})
          row.bound[static_cast<std::size_t>(channel)] = bound;
        in_pair[static_cast<std::size_t>(to.first)] = in_pair[static_cast<std::size_t>(to.second)] = true;
      }
      // Channels that do not turn follow the pairs in the order of their outputs.
      for (std::size_t c = 0; c < width_; ++c) {
        if (in_pair[c]) continue;
        for (const Passthrough& channel : passthrough_channels(head)) {
          if (static_cast<std::size_t>(channel.output) == c)
            row.bound[static_cast<std::size_t>(channel.input)] = turned.bounds[next];
        }
        ++next;
      }
    } else {
      row.bound = turned.bounds;
    }
    for (std::size_t c = 0; c < width_; ++c) row.bound[c] = rounded(row.bound[c], abs(row.value[c]).upper());
    return row;
  }

  const Spec& spec_;
  const Attention encoding_;
  AttentionOracle& oracle_;
  const AttentionCase& request_;
  const Tensor& grad_;
  std::int64_t batch_;
  std::int64_t kv_;
  std::size_t width_;
  std::int64_t tokens_;
  std::vector<std::int64_t> lengths_;
  AttentionArithmetic arithmetic_;
  double u_;
  double stored_u_;  // of what 16-bit code keeps between operations: the result, and gradients of what was turned
  double least_normal_;
  std::int64_t queries_ = 0;  // those of the group that have a gradient
  std::vector<AttentionOracle::Vector> keys_;
  std::vector<RealVector> key_values_;
  std::vector<RealVector> values_;
  std::vector<TurnedGradient> dk_;
  std::vector<GradientRow> dv_;
};

}  // namespace

GroupGradients gradients_of_group(const Spec& spec, AttentionOracle& oracle, const AttentionCase& request,
                                  const Tensor& grad, std::int64_t batch, std::int64_t kv) {
  return Group(spec, oracle, request, grad, batch, kv).gradients();
}

void judge_gradient(Judgement& judgement, const JudgedGradient& judged) {
  const Tensor& got = judged.tensor;
  for (std::size_t row = 0; row < judged.truths.size(); ++row) {
    const GradientRow& truth = judged.truths[row];
    const std::int64_t at = judged.first + static_cast<std::int64_t>(row);
    for (std::size_t c = 0; c < truth.value.size(); ++c) {
      const double value = got.at(at * got.shape[3] + static_cast<std::int64_t>(c));
      const auto place = [&] {
        return fmt::format("{}, batch row {}, head {}, token {}, channel {}", judged.name,
                           at / got.shape[2] / got.shape[1], at / got.shape[2] % got.shape[1], at % got.shape[2], c);
      };
      if (!std::isfinite(value)) {
        judgement.add(Certainty::no, not_finite(),
                      [&] { return fmt::format("{}: {}", place(), not_finite_text(value)); });
        continue;
      }
      const Enclosure error = abs(Enclosure(value, reference::first_precision) - truth.value[c]);
      const Enclosure bound(truth.bound[c], reference::first_precision);
      const double expected = truth.value[c].upper();
      const Deviation deviation = deviation_of(error, bound, ulp(got.dtype, expected));
      judgement.add(reference::at_most(error, bound), deviation, [&] {
        return fmt::format("{}: {}", place(), comparison_text(got.dtype, value, expected, deviation));
      });
    }
  }
}

}  // namespace sextant
