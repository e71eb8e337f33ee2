// Over 400 lines: one screen of attention in float64, whose scores, weights and sums share what a row keeps.
#include "properties/model/attention_quick.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include "lib/numeric/ulp.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/quick_exponential.hpp"
#include "reference/rope.hpp"

namespace sextant {
namespace {

// Sums in eight parts, which vectors can hold: any order has the same bound.
template <class Real>
Real dot(const Real* a, const Real* b, std::size_t count) {
  std::array<Real, 8> parts{};
  std::size_t i = 0;
  for (; i + parts.size() <= count; i += parts.size()) {
    for (std::size_t j = 0; j < parts.size(); ++j) parts[j] += a[i + j] * b[i + j];
  }
  for (; i < count; ++i) parts[0] += a[i] * b[i];
  return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

// sums += weight * values, eight at a time, which vectors can hold.
template <class Real>
void add_times(Real* sums, Real weight, const Real* values, std::size_t count) {
  std::array<Real, 8> parts{};
  std::size_t i = 0;
  for (; i + parts.size() <= count; i += parts.size()) {
    for (std::size_t j = 0; j < parts.size(); ++j) parts[j] = sums[i + j] + weight * values[i + j];
    for (std::size_t j = 0; j < parts.size(); ++j) sums[i + j] = parts[j];
  }
  for (; i < count; ++i) sums[i] += weight * values[i];
}

// Real is double, and for float64 long double, which must be wider.
template <class Real>
class QuickRows final : public QuickAttention {
 public:
  QuickRows(const Spec& spec, const AttentionCase& request, TurningOracle* turning, ScoreBiasOracle* bias)
      : spec_(spec),
        encoding_(std::get<Attention>(spec.encoding)),
        arithmetic_(spec),
        request_(request),
        turning_(turning),
        bias_(bias),
        width_(static_cast<std::size_t>(encoding_.head_dim)),
        lengths_(lengths_of(request, turning)) {
    zeros_.assign(width_, 0);
    in_pair_.assign(width_, false);
    if (!turning_) return;
    const Rope& head = turning_->head();
    for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
      const Channels to = channels_of_pair(head, head.output_pairing, pair);
      in_pair_[static_cast<std::size_t>(to.first)] = in_pair_[static_cast<std::size_t>(to.second)] = true;
    }
    turns_.resize(static_cast<std::size_t>(pairs(head)));
  }

  QuickAttentionRow row(const AttentionPlaceOfHead& place) override {
    const std::vector<long double> values = weighted(place, Wanted::errors);
    const std::size_t keys = scores_.size();
    // Step 9.
    constexpr double w = std::numeric_limits<Real>::epsilon() / 2;
    const WeightError own = weight_error(w, quick_exponential_roundoffs * w, own_errors_);
    const WeightError error = weight_error(arithmetic_, errors_);
    const double of_sums = 1.01 * largest_value(place) * gamma((2 * static_cast<double>(keys) + 4) * w) + 0x1p-960;
    const double at_most = 1.01 * largest_value(place) * 2 * moved_weight(own);
    QuickAttentionRow result{values, std::vector<double>(width_, at_most + of_sums), std::vector<double>(width_),
                             false};
    const std::vector<double> by_key = moved_by_key(result, error);
    add_bounds(result, place, error, by_key);
    const double part = part_of(own, error);
    for (std::size_t c = 0; part <= 1 && c < width_; ++c)
      result.errors[c] = std::min(at_most, 1.01 * part * (by_key[c] + arithmetic_.u * largest_value(place))) + of_sums;
    result.is_anything = is_anything(result);
    return result;
  }

  std::vector<long double> values(const AttentionPlaceOfHead& place) override {
    return weighted(place, Wanted::values);
  }

  double least_bound(const AttentionPlaceOfHead& place) override {
    return sum_bound(arithmetic_, 0, {largest_value(place), terms_of(place)}) * (1 - 1e-6);
  }

 private:
  // Of scores.
  enum class Wanted { values, errors };

  // Vectors as the position leaves them: their channels, and of each pair, or channel that does not turn, its norm and
  // what an implementation's may be off by.
  struct Vectors {
    std::vector<Real> channels;
    std::vector<double> norms;
    std::vector<double> errors;

    void clear() {
      channels.clear();
      norms.clear();
      errors.clear();
    }
  };

  // The mean of the values that a query sees by its weights, which are kept as fetch_scores keeps scores.
  std::vector<long double> weighted(const AttentionPlaceOfHead& place, Wanted wanted) {
    fetch_scores(place, wanted);
    const std::size_t keys = scores_.size();
    const Real greatest = *std::max_element(scores_.begin(), scores_.end());
    Real sum = 0;
    sums_.assign(width_, 0);
    weights_.resize(keys);
    Real* const sums = sums_.data();
    for (std::size_t key = 0; key < keys; ++key) {
      const Real weight = quick_exponential(scores_[key] - greatest);
      weights_[key] = static_cast<double>(weight);
      sum += weight;
      if (weight == 0) continue;
      const Real* const value = seen_values_[key];
      add_times(sums, weight, value, width_);
    }
    std::vector<long double> values(width_);
    for (std::size_t c = 0; c < width_; ++c) values[c] = sums_[c] / sum;
    return values;
  }

  KeyRange seen_by(const AttentionPlaceOfHead& place) const {
    return request_.seen_by(encoding_, place.batch, place.token);
  }
  // A sink is a key whose value is zero.
  std::int64_t terms_of(const AttentionPlaceOfHead& place) const {
    return seen_by(place).count() + (encoding_.sinks ? 1 : 0);
  }
  std::size_t norms_count() const {
    return turns_.size() + static_cast<std::size_t>(std::ranges::count(in_pair_, false));
  }

  // @param place  null for a key that comes turned
  void add(Vectors& to, const Tensor& tensor, std::int64_t row, const VectorPlace* place) {
    given_.resize(width_);
    tensor.read(row * encoding_.head_dim, given_);
    const std::size_t start = to.channels.size();
    to.channels.insert(to.channels.end(), given_.begin(), given_.end());
    if (turning_ && place == nullptr) {
      const Rope& head = turning_->head();
      for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
        const Channels at = channels_of_pair(head, head.output_pairing, pair);
        to.norms.push_back(
            std::hypot(given_[static_cast<std::size_t>(at.first)], given_[static_cast<std::size_t>(at.second)]) *
            (1 + 0x1p-40));
        to.errors.push_back(0);
      }
    } else if (turning_) {
      const Rope& head = turning_->head();
      for (const Passthrough& channel : passthrough_channels(head))
        to.channels[start + static_cast<std::size_t>(channel.output)] =
            static_cast<Real>(given_[static_cast<std::size_t>(channel.input)]);
      turning_->turn_quickly(*place, turns_);
      for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
        const QuickTurn& turn = turns_[static_cast<std::size_t>(pair)];
        const Channels from = channels_of_pair(head, head.pairing, pair);
        const Channels at = channels_of_pair(head, head.output_pairing, pair);
        const double x0 = given_[static_cast<std::size_t>(from.first)];
        const double x1 = given_[static_cast<std::size_t>(from.second)];
        const auto cosine = static_cast<Real>(turn.cosine);
        const auto sine = static_cast<Real>(turn.sine);
        to.channels[start + static_cast<std::size_t>(at.first)] = x0 * cosine - x1 * sine;
        to.channels[start + static_cast<std::size_t>(at.second)] = x0 * sine + x1 * cosine;
        const double length = std::hypot(x0, x1);
        const double norm = std::fabs(turn.scale) * length * (1 + 0x1p-28);
        to.norms.push_back(norm);
        to.errors.push_back((turn.ulps * ulp(spec_.dtype, norm) + turn.relative * norm + turn.absolute * length) *
                            (1 + 0x1p-40));
      }
    }
    for (std::size_t c = 0; c < width_; ++c) {
      if (in_pair_[c]) continue;
      to.norms.push_back(static_cast<double>(std::fabs(to.channels[start + c])));
      to.errors.push_back(0);
    }
  }

  // Keys and values of the head's group.
  void fetch(std::int64_t batch, std::int64_t kv) {
    const std::int64_t group = batch * encoding_.num_kv_heads + kv;
    if (group_ == group) return;
    group_ = group;
    keys_.clear();
    const std::int64_t first = group * request_.tokens;
    for (std::int64_t t = 0; t < request_.tokens; ++t) {
      const VectorPlace place = place_of(request_, batch, t, Role::key, lengths_);
      add(keys_, request_.k, first + t, request_.is_cached(encoding_, batch, t) ? nullptr : &place);
    }
    std::vector<double> given(static_cast<std::size_t>(request_.tokens) * width_);
    request_.v.read(first * encoding_.head_dim, given);
    values_.assign(given.begin(), given.end());
  }

  // max |v| of the keys that the query sees.
  double largest_value(const AttentionPlaceOfHead& place) {
    const std::int64_t kv = kv_head(encoding_, place.head);
    const auto rows = static_cast<std::size_t>(request_.batch * encoding_.num_kv_heads * request_.tokens);
    if (largest_values_.empty()) {
      std::vector<double> value(width_);
      for (std::size_t row = 0; row < rows; ++row) {
        request_.v.read(static_cast<std::int64_t>(row) * encoding_.head_dim, value);
        double largest = 0;
        for (const double element : value) largest = std::max(largest, std::fabs(element));
        values_sizes_.push_back(largest);
        const bool is_first = row % static_cast<std::size_t>(request_.tokens) == 0;
        largest_values_.push_back(is_first ? largest : std::max(largest, largest_values_.back()));
      }
    }
    const KeyRange seen = seen_by(place);
    const std::int64_t start = (place.batch * encoding_.num_kv_heads + kv) * request_.tokens;
    if (seen.first == 0) return largest_values_[static_cast<std::size_t>(start + seen.end - 1)];
    return *std::max_element(values_sizes_.begin() + start + seen.first, values_sizes_.begin() + start + seen.end);
  }

  // What part of an implementation's errors of scores the tier's own are, at most.
  double part_of(const WeightError& own, const WeightError& error) const {
    double part = 0;
    for (std::size_t key = 0; key < errors_.size(); ++key)
      part = std::max(part, (own_errors_[key].error + own.common) / (errors_[key].error + error.common));
    return part;
  }

  // Of the row of a place, whose scores, weights and values are at hand. @param by_key  moved_by_key's.
  void add_bounds(QuickAttentionRow& row, const AttentionPlaceOfHead& place, const WeightError& error,
                  const std::vector<double>& by_key) {
    // Where errors are small, step 5's first bound is no better than its second.
    constexpr double small = 0.125;
    const double by_spread =
        error.most < small ? std::numeric_limits<double>::infinity() : moved_weight(error) * spread_of(error);
    for (std::size_t c = 0; c < width_; ++c)
      row.bounds[c] = sum_bound(arithmetic_, std::min(by_key[c], by_spread), {largest_value(place), terms_of(place)});
  }

  // Step 5's second bound: of each channel, what errors of weights move its mean by.
  std::vector<double> moved_by_key(const QuickAttentionRow& row, const WeightError& error) {
    std::vector<double> moved(width_, 0);
    if (error.most == 0) return moved;
    std::vector<double> mean(width_);
    for (std::size_t c = 0; c < width_; ++c) mean[c] = static_cast<double>(row.value[c]);
    double least_sum = 0;
    double changes = 0;
    for (std::size_t key = 0; key < errors_.size(); ++key) {
      if (errors_[key].value + errors_[key].error < error.least) continue;
      const double relative = errors_[key].error + error.common;
      least_sum += weights_[key] * std::exp(-relative);
      const double change = weights_[key] * std::expm1(relative);
      changes += change;
      const Real* value = seen_values_[key];
      for (std::size_t c = 0; c < width_; ++c) moved[c] += change * std::fabs(static_cast<double>(value[c]) - mean[c]);
    }
    // The mean is within row.errors of itself, weights within much less than 1e-6, relatively.
    for (std::size_t c = 0; c < width_; ++c) {
      moved[c] = (moved[c] + changes * row.errors[c]) / least_sum * (1 + 1e-6);
      if (std::isnan(moved[c])) moved[c] = std::numeric_limits<double>::infinity();
    }
    return moved;
  }

  // How far the values of keys that have weight are apart in a channel, at most.
  double spread_of(const WeightError& error) {
    forget_range();
    for (std::size_t key = 0; key < errors_.size(); ++key) {
      if (errors_[key].value + errors_[key].error >= error.least) widen(key);
    }
    double spread = 0;
    for (std::size_t c = 0; c < width_; ++c) spread = std::max(spread, highs_[c] - lows_[c]);
    return spread;
  }

  void forget_range() {
    lows_.assign(width_, std::numeric_limits<double>::infinity());
    highs_.assign(width_, -std::numeric_limits<double>::infinity());
  }

  // Takes a key's values into lows_ and highs_.
  void widen(std::size_t key) {
    const Real* value = seen_values_[key];
    for (std::size_t c = 0; c < width_; ++c) {
      lows_[c] = std::min(lows_[c], static_cast<double>(value[c]));
      highs_[c] = std::max(highs_[c], static_cast<double>(value[c]));
    }
  }

  bool is_anything(const QuickAttentionRow& row) {
    const auto all_within = [&](const auto& furthest) {
      for (std::size_t c = 0; c < width_; ++c) {
        if (furthest(c) > value_bound(arithmetic_, row.bounds[c], static_cast<double>(std::fabs(row.value[c]))))
          return false;
      }
      return true;
    };
    if (!all_within([&](std::size_t c) { return static_cast<double>(std::fabs(row.value[c])); })) return false;
    forget_range();
    for (std::size_t key = 0; key < seen_values_.size(); ++key) widen(key);
    return all_within([&](std::size_t c) {
      const auto value = static_cast<double>(row.value[c]);
      return std::max(highs_[c] - value, value - lows_[c]);
    });
  }

  // Step 9: within 8 w of itself.
  Real query_scale(std::int64_t position) const {
    if (!encoding_.query_scale) return 1;
    const QueryScale& scale = *encoding_.query_scale;
    const std::int64_t n = position + scale.offset;
    if (scale.rule == QueryScaleRule::log_n) {
      if (n <= scale.length) return 1;
      return std::log(static_cast<Real>(n)) / std::log(static_cast<Real>(scale.length));
    }
    const auto steps = static_cast<Real>(n / scale.period);
    return 1 + static_cast<Real>(scale.amount) * std::log1p(steps);
  }

  Real capped(Real score) const {
    if (!encoding_.logit_softcap) return score;
    const auto cap = static_cast<Real>(*encoding_.logit_softcap);
    return cap * std::tanh(score / cap);
  }

  QuickScoreTerm bias_of(const AttentionPlaceOfHead& place, std::int64_t position, std::int64_t key) {
    const std::int64_t there = request_.positions[static_cast<std::size_t>(place.batch * request_.tokens + key)];
    return bias_->quickly({.query = position, .key = there, .head = place.head},
                          request_.weight ? &*request_.weight : nullptr);
  }
  Real biased(const AttentionPlaceOfHead& place, std::int64_t position, std::int64_t key, Real score) {
    return bias_ ? score + static_cast<Real>(bias_of(place, position, key).value) : score;
  }

  void take_value(std::size_t key, Real score) {
    scores_.push_back(score);
    seen_values_.push_back(values_.data() + key * width_);
  }

  // The scores of the keys that the query sees, and its sink, into scores_, their values into seen_values_; where
  // errors are wanted, what an implementation's scores may be off by into errors_, and what they are into own_errors_.
  void fetch_scores(const AttentionPlaceOfHead& place, Wanted wanted) {
    const std::int64_t kv = kv_head(encoding_, place.head);
    fetch(place.batch, kv);
    query_.clear();
    const VectorPlace of_query = place_of(request_, place.batch, place.token, Role::query, lengths_);
    add(query_, request_.q, (place.batch * encoding_.num_heads + place.head) * request_.queries() + place.token,
        &of_query);
    const Real root = std::sqrt(static_cast<Real>(width_));
    const Real factor = query_scale(request_.query_position(place.batch, place.token));
    const double scale = arithmetic_.scale * static_cast<double>(factor) * (1 + 0x1p-40);
    const std::size_t norms = norms_count();
    std::vector<double> widened = query_.norms;
    for (std::size_t i = 0; i < norms; ++i) widened[i] += query_.errors[i];
    scores_.clear();
    seen_values_.clear();
    errors_.clear();
    own_errors_.clear();
    constexpr double w = std::numeric_limits<Real>::epsilon() / 2;
    const std::int64_t position = request_.query_position(place.batch, place.token);
    const KeyRange seen = seen_by(place);
    for (std::int64_t t = seen.first; t < seen.end; ++t) {
      const auto key = static_cast<std::size_t>(t);
      const Real product = dot(query_.channels.data(), keys_.channels.data() + key * width_, width_);
      Real score = encoding_.softmax_scale ? product * static_cast<Real>(*encoding_.softmax_scale) : product / root;
      score *= factor;
      if (wanted == Wanted::values) {
        take_value(key, biased(place, position, t, capped(score)));
        continue;
      }
      const double* key_norms = keys_.norms.data() + key * norms;
      ScoreParts parts{.products = dot(query_.norms.data(), key_norms, norms) * scale};
      if (turning_) {
        parts.rotation = (dot(query_.errors.data(), key_norms, norms) +
                          dot(widened.data(), keys_.errors.data() + key * norms, norms)) *
                         scale;
      }
      double own = w * (arithmetic_.width + (encoding_.query_scale ? 100 : 90)) * parts.products;
      if (encoding_.logit_softcap) {
        parts.before_cap = std::max(static_cast<double>(std::fabs(score)) * (1 - 1e-9) - own, 0.0);
        const double slope = 1 / std::cosh(parts.before_cap / arithmetic_.cap);
        score = capped(score);
        own = own * slope * slope * (1 + 1e-9) + w * 16 * std::min(parts.products, arithmetic_.cap);
      }
      if (bias_) {
        const QuickScoreTerm term = bias_of(place, position, t);
        score += static_cast<Real>(term.value);
        parts.bias = static_cast<double>(std::fabs(term.value)) + term.error;
        parts.roundings = term.roundings;
        own += term.error;
      }
      const double size = score_size(arithmetic_, parts);
      const auto value = static_cast<double>(score);
      take_value(key, score);
      errors_.push_back({value, score_error(arithmetic_, parts), size});
      own_errors_.push_back({value, own + 4 * w * size, size});
    }
    if (!request_.sinks) return;
    const double sink = request_.sinks->at(place.head);
    scores_.push_back(static_cast<Real>(sink));
    seen_values_.push_back(zeros_.data());
    if (wanted == Wanted::values) return;
    errors_.push_back({sink, arithmetic_.u * std::fabs(sink), std::fabs(sink)});
    own_errors_.push_back({sink, 4 * w * std::fabs(sink), std::fabs(sink)});
  }

  Spec spec_;
  const Attention encoding_;
  const AttentionArithmetic arithmetic_;
  const AttentionCase& request_;
  TurningOracle* turning_;
  ScoreBiasOracle* bias_;
  std::size_t width_;
  std::vector<std::int64_t> lengths_;
  std::vector<bool> in_pair_;
  std::vector<QuickTurn> turns_;  // of the vector at hand
  std::vector<double> given_;
  std::int64_t group_ = -1;  // the batch row and head whose keys and values are kept
  Vectors keys_;
  std::vector<Real> values_;
  Vectors query_;
  std::vector<Real> zeros_;               // the value of a sink
  std::vector<const Real*> seen_values_;  // of the row at hand
  std::vector<Real> scores_;
  std::vector<KeyScore> errors_;
  std::vector<KeyScore> own_errors_;
  std::vector<double> weights_;  // that of the greatest score is 1
  std::vector<Real> sums_;
  std::vector<double> lows_;  // of each channel, of some keys
  std::vector<double> highs_;
  std::vector<double> values_sizes_;    // max |v| of each batch row, head and key
  std::vector<double> largest_values_;  // the same of the keys up to each
};

}  // namespace

std::unique_ptr<QuickAttention> quick_attention(const Spec& spec, const AttentionCase& request, TurningOracle* turning,
                                                ScoreBiasOracle* bias) {
  if (spec.dtype == Dtype::float64) return std::make_unique<QuickRows<long double>>(spec, request, turning, bias);
  return std::make_unique<QuickRows<double>>(spec, request, turning, bias);
}

}  // namespace sextant
