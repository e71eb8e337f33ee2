#include "properties/identify/attention/plain_scores.hpp"

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/other_query_scales.hpp"
#include "properties/model/attention_oracle.hpp"

namespace sextant::identify {

PlainScores::PlainScores(const Spec& spec, const AttentionCase& request, TurningOracle* turning, ScoreBiasOracle* bias,
                         const OtherAttention& other)
    : spec_(spec),
      encoding_(*held<Attention>(spec)),
      arithmetic_(spec),
      request_(request),
      turning_(turning),
      bias_(bias),
      other_(other),
      lengths_(lengths_of(request, turning)) {}

PlainScores::Vector PlainScores::vector(const Tensor& tensor, std::int64_t row, const VectorPlace& place,
                                        Comes comes) const {
  const auto width = static_cast<std::size_t>(encoding_.head_dim);
  std::vector<double> given(width);
  tensor.read(row * encoding_.head_dim, given);
  Vector made{given, {}, std::vector<double>(width, 0.0)};
  for (const double value : given) made.sizes.push_back(std::fabs(value));
  if (turning_ != nullptr && comes == Comes::plain) turn(made, given, place);
  if (other_.channel) {
    for (double& channel : made.channels) channel = other_.channel(channel, place.role);
  }
  return made;
}

void PlainScores::turn(Vector& made, std::span<const double> given, const VectorPlace& place) const {
  const Rope& head = turning_->head();
  for (const Passthrough& channel : passthrough_channels(head)) {
    made.channels[static_cast<std::size_t>(channel.output)] = given[static_cast<std::size_t>(channel.input)];
    made.sizes[static_cast<std::size_t>(channel.output)] = std::fabs(given[static_cast<std::size_t>(channel.input)]);
  }
  std::vector<QuickTurn> turns(static_cast<std::size_t>(pairs(head)));
  turning_->turn_quickly(place, turns);
  for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
    const QuickTurn& turn = turns[static_cast<std::size_t>(pair)];
    const Channels from = channels_of_pair(head, head.pairing, pair);
    const Channels to = channels_of_pair(head, head.output_pairing, pair);
    const double x0 = given[static_cast<std::size_t>(from.first)];
    const double x1 = given[static_cast<std::size_t>(from.second)];
    const auto cosine = static_cast<double>(turn.cosine);
    const auto sine = static_cast<double>(turn.sine);
    const auto first = static_cast<std::size_t>(to.first);
    const auto second = static_cast<std::size_t>(to.second);
    made.channels[first] = x0 * cosine - x1 * sine;
    made.channels[second] = x0 * sine + x1 * cosine;
    const double length = std::hypot(x0, x1);
    const double norm = std::fabs(turn.scale) * length;
    // As attention_quick.cpp has a pair's; of two channels each at most as much.
    made.sizes[first] = made.sizes[second] = norm;
    made.errors[first] = made.errors[second] =
        turn.ulps * ulp(spec_.dtype, norm) + turn.relative * norm + turn.absolute * length;
  }
}

void PlainScores::enter_head_of(const AttentionPlaceOfHead& place) {
  if (entered_.batch == place.batch && entered_.head == place.head) return;
  const auto keys = static_cast<std::size_t>(request_.tokens);
  entered_ = {place.batch, place.head, std::vector<std::optional<Vector>>(static_cast<std::size_t>(request_.queries())),
              std::vector<std::optional<Vector>>(keys), std::vector<std::optional<OverQueries>>(keys)};
}

const PlainScores::Vector& PlainScores::query_at(const AttentionPlaceOfHead& place) {
  std::optional<Vector>& made = entered_.queries[static_cast<std::size_t>(place.token)];
  if (!made) {
    made = vector(request_.q, (place.batch * encoding_.num_heads + place.head) * request_.queries() + place.token,
                  place_of(request_, place.batch, place.token, Role::query, lengths_), Comes::plain);
  }
  return *made;
}

const PlainScores::Vector& PlainScores::key_at(const AttentionPlaceOfHead& place, std::int64_t key) {
  std::optional<Vector>& made = entered_.keys[static_cast<std::size_t>(key)];
  if (!made) {
    const std::int64_t kv = kv_head(encoding_, place.head);
    made = vector(request_.k, (place.batch * encoding_.num_kv_heads + kv) * request_.tokens + key,
                  place_of(request_, place.batch, key, Role::key, lengths_),
                  request_.is_cached(encoding_, place.batch, key) ? Comes::turned : Comes::plain);
  }
  return *made;
}

const PlainScores::OverQueries& PlainScores::over_queries(const AttentionPlaceOfHead& place, std::int64_t key) {
  std::optional<OverQueries>& made = entered_.over_queries[static_cast<std::size_t>(key)];
  if (!made) {
    made.emplace();
    for (std::int64_t query = 0; query < request_.queries(); ++query) {
      if (!request_.seen_by(encoding_, place.batch, query).contains(key)) continue;
      const KeyScore one = score({place.batch, place.head, query}, key);
      made->sum += std::exp(one.value);
      made->worst = std::max(made->worst, one.error);
    }
  }
  return *made;
}

KeyScore PlainScores::score(const AttentionPlaceOfHead& place, std::int64_t key) {
  const Vector& q = query_at(place);
  const Vector& k = key_at(place, key);
  double sum = 0;
  ScoreParts parts{.products = 0};
  for (std::size_t c = 0; c < q.channels.size(); ++c) {
    sum += q.channels[c] * k.channels[c];
    parts.products += q.sizes[c] * k.sizes[c] * arithmetic_.scale;
    parts.rotation += (q.errors[c] * k.sizes[c] + (q.sizes[c] + q.errors[c]) * k.errors[c]) * arithmetic_.scale;
  }
  double product = sum * score_scale(encoding_);
  if (encoding_.query_scale && !other_.score) {
    const double by = query_scale_at(*encoding_.query_scale, request_.query_position(place.batch, place.token));
    product *= by;
    // What the scale is off by is of as many roundings as attention_budget.cpp allows it.
    constexpr double roundings_of_scale = 100;
    parts.rotation = parts.rotation * by + roundings_of_scale * arithmetic_.u * parts.products * by;
    parts.products *= by;
  }
  double added = 0;
  if (bias_ != nullptr) {
    const std::int64_t there = request_.positions[static_cast<std::size_t>(place.batch * request_.tokens + key)];
    const QuickScoreTerm term = bias_->quickly({request_.query_position(place.batch, place.token), there, place.head},
                                               request_.weight ? &*request_.weight : nullptr);
    added = static_cast<double>(term.value);
    parts.bias = std::fabs(static_cast<double>(term.value)) + term.error;
    parts.roundings = term.roundings;
  }
  const auto capped = [&] {
    const auto& cap = encoding_.logit_softcap;
    return cap ? *cap * std::tanh(product / *cap) : product;
  };
  const double score = other_.score ? other_.score(product, added) : capped() + added;
  return {score, score_error(arithmetic_, parts), score_size(arithmetic_, parts)};
}

void PlainScores::change_scores(std::vector<KeyScore>& scores, ScoresOfQuery of) const {
  std::vector<double> values;
  double worst = 0;
  for (const KeyScore& one : scores) {
    values.push_back(one.value);
    worst = std::max(worst, one.error);
  }
  of.scores = values;
  other_.scores(of);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i].value = values[i];
    scores[i].error = 2 * scores[i].error + worst;
  }
}

QuickAttentionRow PlainScores::row(const AttentionPlaceOfHead& place) {
  enter_head_of(place);
  const ScoresToWeights weights = other_.weights;
  const auto width = static_cast<std::size_t>(encoding_.head_dim);
  QuickAttentionRow made{std::vector<long double>(width), std::vector<double>(width, 0.0),
                         std::vector<double>(width, 0.0), false};
  const KeyRange seen = request_.seen_by(encoding_, place.batch, place.token);
  const auto count = static_cast<double>(seen.count());
  std::vector<KeyScore> scores;
  for (std::int64_t key = seen.first; key < seen.end; ++key) scores.push_back(score(place, key));
  if (other_.scores) change_scores(scores, {request_, place, seen, {}});
  double greatest = std::ranges::max_element(scores, {}, &KeyScore::value)->value;
  double sum_of_all = 0;
  if (request_.sinks && weights == ScoresToWeights::of_scores) {
    const double sink = request_.sinks->at(place.head);
    const bool counts = !other_.has_sink || other_.has_sink(sink, greatest);
    greatest = std::max(greatest, sink);
    if (counts) sum_of_all = std::exp(sink - greatest);
  }
  double worst_of_all = 0;
  for (const KeyScore& one : scores) {
    const double exponential = std::exp(one.value - greatest);
    sum_of_all += other_.summed ? other_.summed(exponential) : exponential;
    worst_of_all = std::max(worst_of_all, one.error);
  }
  // What a smaller sum than that of the exponentials is off by is as much more of it.
  double of_total = 1;
  if (other_.total) {
    const double total = other_.total(sum_of_all);
    of_total = std::max(sum_of_all / std::fabs(total), 1.0);
    sum_of_all = total;
  }
  // Sums of n terms are off by gamma(n a), an exponential by a few roundings, as attention_budget.cpp has them.
  const double of_sums = gamma((2 * count + static_cast<double>(request_.queries())) * arithmetic_.a +
                               (4 + 2 * arithmetic_.libm) * arithmetic_.u);
  const std::int64_t first_row =
      (place.batch * encoding_.num_kv_heads + kv_head(encoding_, place.head)) * request_.tokens;
  const auto value_of = [&](std::int64_t key, std::size_t channel) {
    return request_.v.at((first_row + key) * encoding_.head_dim + static_cast<std::int64_t>(channel));
  };
  for (std::int64_t key = seen.first; key < seen.end; ++key) {
    const KeyScore& own = scores[static_cast<std::size_t>(key - seen.first)];
    double weight = own.value;
    double error = own.error;
    if (weights == ScoresToWeights::over_queries) {
      const OverQueries& all = over_queries(place, key);
      weight = std::exp(own.value) / all.sum;
      // e^(s + e) / (sum e^(s' - e')) is at most e^(e + e') times as much. The query is one of those that see the key.
      error = weight * std::expm1(own.error + all.worst);
    } else if (weights == ScoresToWeights::of_scores) {
      double exponential = std::exp(own.value - greatest);
      if (other_.summed) exponential = other_.summed(exponential);
      weight = (other_.exponential ? other_.exponential(exponential) : exponential) / sum_of_all;
      if (other_.weight) weight = other_.weight(weight);
      error = std::fabs(weight) *
              std::expm1(own.error + of_total * worst_of_all + 2 * arithmetic_.u * std::fabs(own.value - greatest));
    } else if (weights != ScoresToWeights::none) {
      const double less = weights == ScoresToWeights::by_count_of_greatest ? greatest : 0;
      weight = std::exp(own.value - less) / count;
      error = weight * std::expm1(weights == ScoresToWeights::by_count
                                      ? own.error
                                      : 2 * own.error + arithmetic_.u * std::fabs(greatest));
    }
    for (std::size_t c = 0; c < width; ++c) {
      const double value = value_of(key, c);
      made.value[c] += weight * value;
      // Weights and products below the least numbers, as attention_budget.cpp has them.
      made.bounds[c] += ulp(arithmetic_.operations, 0) * std::fabs(value) + ulp(arithmetic_.sums, 0);
      made.bounds[c] += (error + of_total * of_sums * (std::fabs(weight) + error)) * std::fabs(value);
    }
  }
  if (other_.key_of_sink && request_.sinks) {
    const std::int64_t key = other_.key_of_sink({request_, place, seen, {}});
    const double weight = std::exp(request_.sinks->at(place.head) - greatest) / sum_of_all;
    const double error = weight * std::expm1(worst_of_all + 2 * arithmetic_.u * std::fabs(greatest));
    for (std::size_t c = 0; c < width; ++c) {
      const double value = value_of(key, c);
      made.value[c] += weight * value;
      made.bounds[c] += (error + of_sums * (weight + error)) * std::fabs(value);
    }
  }
  if (other_.undivided) {
    for (long double& value : made.value)
      value = other_.undivided(static_cast<double>(value) * sum_of_all) / sum_of_all;
  }
  return made;
}

}  // namespace sextant::identify
