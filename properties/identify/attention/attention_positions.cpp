#include "properties/identify/attention/attention_positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/attention/other_query_scales.hpp"
#include "properties/identify/rotations/claimed_frequencies.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/model/question.hpp"
#include "reference/alibi.hpp"
#include "reference/rope.hpp"

namespace sextant::identify {
namespace {

struct QueryAndKey {
  double query = 0;
  double key = 0;
};

// A way in which positions go wrong.
struct Way {
  std::string_view words;
  std::function<QueryAndKey(const QueryAndKey& given)> positions;
};

std::vector<Way> known_ways() {
  const auto rounded = [](Dtype dtype) {
    return [dtype](const QueryAndKey& given) {
      return QueryAndKey{round_to(dtype, given.query), round_to(dtype, given.key)};
    };
  };
  const auto moved = [](double query, double key) {
    return [=](const QueryAndKey& given) { return QueryAndKey{given.query + query, given.key + key}; };
  };
  // Keys one position behind are queries one ahead.
  return {
      {"positions are rounded to bfloat16: right up to 256", rounded(Dtype::bfloat16)},
      {"positions are rounded to float16: right up to 2048", rounded(Dtype::float16)},
      {"a token's place in the call is taken for its position",
       [](const QueryAndKey&) {
         return QueryAndKey{1, 0};
       }},
      {"one position off: queries stand one position too far ahead of keys", moved(1, 0)},
      {"one position off: queries stand one position too little ahead of keys", moved(-1, 0)},
      {"keys are turned by minus their positions: positions are added, where the claim has their difference",
       [](const QueryAndKey& given) {
         return QueryAndKey{given.query, -given.key};
       }},
      {"positions are halved",
       [](const QueryAndKey& given) {
         return QueryAndKey{given.query / 2, given.key / 2};
       }},
      {"positions are halved, and rounded down",
       [](const QueryAndKey& given) {
         return QueryAndKey{std::floor(given.query / 2), std::floor(given.key / 2)};
       }},
      {"positions are doubled",
       [](const QueryAndKey& given) {
         return QueryAndKey{given.query * 2, given.key * 2};
       }},
      {"distances have the other sign",
       [](const QueryAndKey& given) {
         return QueryAndKey{given.key, given.query};
       }},
  };
}

// The scores that a claim has of a query at one position with a key at another.
class ClaimedScores {
 public:
  ClaimedScores(const Attention& claimed, std::vector<double> query, std::vector<double> key)
      : claimed_(claimed), query_(std::move(query)), key_(std::move(key)) {
    if (const auto* rope = carried<Rope>(claimed)) {
      rope_ = *rope;
      frequencies_ = frequencies_of(*rope, 1);
      factor_ = reference::RopeReference(*rope).attention_factor(reference::first_precision).upper();
    } else if (const auto* alibi = carried<Alibi>(claimed)) {
      slope_ = reference::AlibiReference(*alibi).slope(0, reference::first_precision).upper();
    }
  }

  double at(const QueryAndKey& positions) const {
    const double distance = positions.query - positions.key;
    const double product = score_scale(claimed_) * dot(turned(query_, positions.query), turned(key_, positions.key));
    const double score =
        claimed_.logit_softcap ? *claimed_.logit_softcap * std::tanh(product / *claimed_.logit_softcap) : product;
    return score - slope_ * std::fabs(distance);
  }

  // What angles off by a few roundings of float32 change a score by, at most.
  double float32_angles(const QueryAndKey& positions) const {
    double change = 0;
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
      const Channels at = channels_of_pair(*rope_, rope_->pairing, static_cast<std::int64_t>(i));
      const auto size = [&](const std::vector<double>& x) {
        return std::hypot(x[index(at.first)], x[index(at.second)]);
      };
      change += size(query_) * size(key_) * frequencies_[i] * (std::fabs(positions.query) + std::fabs(positions.key)) *
                0x1p-21;
    }
    return score_scale(claimed_) * factor_ * factor_ * change;
  }

  std::vector<double> turned(const std::vector<double>& x, double position) const {
    if (!rope_) return x;
    std::vector<double> y = x;
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
      const auto pair = static_cast<std::int64_t>(i);
      const Channels from = channels_of_pair(*rope_, rope_->pairing, pair);
      const Channels to = channels_of_pair(*rope_, rope_->output_pairing, pair);
      const double angle = frequencies_[i] * position * (rope_->direction == Direction::clockwise ? -1 : 1);
      const double c = factor_ * std::cos(angle);
      const double s = factor_ * std::sin(angle);
      y[index(to.first)] = x[index(from.first)] * c - x[index(from.second)] * s;
      y[index(to.second)] = x[index(from.first)] * s + x[index(from.second)] * c;
    }
    return y;
  }

 private:
  static std::size_t index(std::int64_t channel) { return static_cast<std::size_t>(channel); }

  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
    return sum;
  }

  const Attention& claimed_;
  std::vector<double> query_;
  std::vector<double> key_;
  std::optional<Rope> rope_;
  std::vector<double> frequencies_;
  double factor_ = 1;
  double slope_ = 0;
};

bool is_told(const Spec& claim, const Attention& claimed) {
  if (claimed.query_scale || claimed.head_dim < 4 || depends_on_length(claim)) return false;
  if (claimed.window && *claimed.window < 2) return false;
  const auto* alibi = carried<Alibi>(claimed);
  return carried<Rope>(claimed) != nullptr || (alibi != nullptr && alibi->form == AlibiForm::distance);
}

// Numbers of the dtype, so that what is expected of them is what is asked, of a length.
std::vector<double> ordinary(const Spec& claim, std::int64_t count, double length, double start) {
  std::vector<double> values;
  for (std::int64_t c = 0; c < count; ++c) {
    const double value =
        std::cos(start + static_cast<double>(c * c)) * length * std::sqrt(2.0 / static_cast<double>(count));
    values.push_back(round_to(claim.dtype, value));
  }
  return values;
}

// Factors of the products of queries and keys that stand together, which no turn and no distance changes.
class ScaledQueries {
 public:
  ScaledQueries(AttentionProbe& probe, const Spec& claim, const Attention& claimed)
      : probe_(probe),
        claim_(claim),
        vector_(ordinary(claim, claimed.head_dim, std::sqrt(2 / score_scale(claimed)), 0)) {
    at_0_ = scores({0}).front();
  }

  std::optional<QueryScale> scale() const {
    if (!(std::fabs(at_0_) > 0x1p-4) || !std::isfinite(at_0_)) return std::nullopt;
    std::vector<std::int64_t> list{0};
    for (std::int64_t position = 1; position < last(); position *= 2) list.push_back(position);
    list.push_back(last());
    const std::vector<double> all = factors(list);
    const auto first = std::ranges::find_if(all, [&](double one) { return !is_one(one); });
    if (first == all.end() || first == all.begin()) return std::nullopt;
    const auto at = static_cast<std::size_t>(first - all.begin());
    const std::int64_t border = first_beyond(1, list[at - 1], list[at]);
    for (const QueryScale& one : {periods(border), logarithm(border)}) {
      if (is_it(one, list, all, border)) return one;
    }
    return std::nullopt;
  }

 private:
  std::int64_t last() const { return claim_.max_position - 1; }

  std::vector<double> scores(const std::vector<std::int64_t>& positions) const {
    std::vector<AttentionProbe::TwoTokens> asked;
    for (const std::int64_t position : positions) asked.push_back({position, vector_, vector_, position});
    return probe_.scores(asked);
  }
  std::vector<double> factors(const std::vector<std::int64_t>& positions) const {
    std::vector<double> list = scores(positions);
    for (double& one : list) one /= at_0_;
    return list;
  }

  double off() const { return 64 * std::ldexp(1, -format_of(claim_.dtype).precision); }
  bool is_one(double factor) const { return std::fabs(factor - 1) <= off(); }

  // The first position whose factor is more than `factor`, between one where it is not and one where it is.
  std::int64_t first_beyond(double factor, std::int64_t below, std::int64_t beyond) const {
    constexpr std::int64_t parts = 64;
    while (beyond - below > 1) {
      std::vector<std::int64_t> list;
      for (std::int64_t i = 1; i < parts; ++i) {
        const std::int64_t position = below + (beyond - below) * i / parts;
        if (position > below && (list.empty() || position > list.back())) list.push_back(position);
      }
      const std::vector<double> found = factors(list);
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (found[i] > factor + off()) {
          beyond = list[i];
          break;
        }
        below = list[i];
      }
    }
    return beyond;
  }

  // Of a claim that begins to scale there, whose first step is a whole one: 1 + amount ln 2.
  QueryScale periods(std::int64_t border) const {
    const double step = factors({border}).front() - 1;
    const double amount = step / std::numbers::ln2;
    const double room = off() * 2 / std::numbers::ln2;
    QueryScale scale{.amount = amount > room ? roundest_in({amount - room, amount + room}).value : amount,
                     .period = border,
                     .offset = 0};
    // The second step tells how far the first is from 0.
    if (2 * border + 2 <= last()) {
      const double second = 1 + amount * std::log(2.5);
      const std::int64_t next = first_beyond(second, border, std::min(3 * border, last()));
      scale.period = next - border;
      scale.offset = scale.period - border;
    } else if (std::has_single_bit(static_cast<std::uint64_t>(border + 1))) {
      scale.period = border + 1;
      scale.offset = 1;
    }
    return scale;
  }

  // ln n / ln length rises slowly, so that it is first seen above 1 beyond the length.
  QueryScale logarithm(std::int64_t border) const {
    QueryScale scale{.amount = 0, .period = 0, .offset = 1, .rule = QueryScaleRule::log_n, .length = 2};
    const std::int64_t far = last();
    const double factor = factors({far}).front();
    if (!(factor > 1) || far <= border) return scale;
    const double length = std::exp(std::log(static_cast<double>(far + 1)) / factor);
    const double room = 4 * off() * length * std::log(length);
    if (const auto round = roundest_length_in({length - room, length + room})) scale.length = round->value;
    return scale;
  }

  bool is_it(const QueryScale& scale, std::vector<std::int64_t> list, std::vector<double> seen,
             std::int64_t border) const {
    if (scale.rule == QueryScaleRule::log_of_periods && (scale.period < 1 || !(scale.amount > 0))) return false;
    if (scale.rule == QueryScaleRule::log_n && scale.length < 2) return false;
    for (const std::int64_t beside : {-1, 0, 1, 7}) {
      if (border + beside > last()) continue;
      list.push_back(border + beside);
      seen.push_back(factors({border + beside}).front());
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double own = list[i] + scale.offset > 0 ? query_scale_at(scale, list[i]) : 1;
      if (!(std::fabs(seen[i] - own) <= 2 * off() * own)) return false;
    }
    return true;
  }

  AttentionProbe& probe_;
  const Spec& claim_;
  std::vector<double> vector_;
  double at_0_ = 0;
};

}  // namespace

std::optional<QueryScale> seen_query_scale(AttentionProbe& probe, const Spec& claim, const Attention& claimed) {
  if (claimed.sinks || claimed.logit_softcap || claimed.head_dim < 4 || !(score_scale(claimed) > 0) ||
      claim.min_position > 0 || claim.max_position < 4 || is_16_bit(claim.dtype))
    return std::nullopt;
  if (claimed.window && *claimed.window < 2) return std::nullopt;
  if (carried<Xpos>(claimed) != nullptr || depends_on_length(claim)) return std::nullopt;
  return ScaledQueries(probe, claim, claimed).scale();
}

std::string positions_of_scores(AttentionProbe& probe, const Spec& claim, const Attention& claimed) {
  if (!is_told(claim, claimed)) return {};
  const double scale = score_scale(claimed);
  if (!(scale > 0)) return {};
  // Of scores up to 4 both weights are seen. A key that is the query shows each turn.
  const std::vector<double> vector = ordinary(claim, claimed.head_dim, std::sqrt(4 / scale), 0);
  const std::vector<double> key = ordinary(claim, claimed.head_dim, std::sqrt(4 / scale), 0.5);
  const ClaimedScores expected(claimed, vector, key);
  std::vector<AttentionProbe::TwoTokens> asked;
  std::vector<QueryAndKey> given;
  for (const auto& [of_query, of_key] : std::vector<std::array<std::int64_t, 2>>{{0, 0},
                                                                                 {3, 3},
                                                                                 {5, 2},
                                                                                 {101, 97},
                                                                                 {257, 251},
                                                                                 {301, 300},
                                                                                 {515, 511},
                                                                                 {1001, 999},
                                                                                 {2049, 2047},
                                                                                 {4099, 4093}}) {
    if (of_query >= claim.max_position) continue;
    asked.push_back({of_query, vector, key, of_key});
    given.push_back({static_cast<double>(of_query), static_cast<double>(of_key)});
  }
  const std::vector<double> scores = probe.scores(asked);
  const double unit = std::ldexp(1, -format_of(claim.dtype).precision);
  // How far off the worst is, in what roundings make it.
  const auto off_by = [&](const std::function<QueryAndKey(const QueryAndKey&)>& positions) {
    double worst = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const QueryAndKey used = positions(given[i]);
      const double rounded = 64 * unit * (1 + std::fabs(scores[i])) + expected.float32_angles(used);
      const double off = std::fabs(scores[i] - expected.at(used)) / rounded;
      worst = std::isfinite(off) ? std::max(worst, off) : HUGE_VAL;
    }
    return worst;
  };
  // Between the two nothing is told.
  constexpr double surely_other = 4;
  if (off_by([](const QueryAndKey& positions) { return positions; }) < surely_other) return {};
  std::string_view told;
  for (const Way& way : known_ways()) {
    if (off_by(way.positions) > 1) continue;
    if (!told.empty()) return {};
    told = way.words;
  }
  if (told.empty()) {
    // The greatest position up to which scores are right, by queries that are three ahead of keys.
    const auto is_right = [&](std::int64_t position) {
      const QueryAndKey at{static_cast<double>(position), static_cast<double>(position - 3)};
      const double score = probe.scores({{position, vector, key, position - 3}}).front();
      const double rounded = 64 * unit * (1 + std::fabs(score)) + expected.float32_angles(at);
      return std::fabs(score - expected.at(at)) <= rounded;
    };
    std::int64_t right = 3;
    std::int64_t wrong = std::min<std::int64_t>(claim.max_position, 8192) - 1;
    if (wrong <= right || !is_right(right) || is_right(wrong)) return {};
    while (wrong - right > 1) {
      const std::int64_t middle = right + (wrong - right) / 2;
      (is_right(middle) ? right : wrong) = middle;
    }
    const auto held = static_cast<double>(right);
    const auto clamped = [&](const QueryAndKey& positions) {
      return QueryAndKey{std::min(positions.query, held), std::min(positions.key, held)};
    };
    if (off_by(clamped) <= 1) return fmt::format("positions above {} are clamped to it", right);
  }
  return std::string(told);
}

std::string turned_values(AttentionProbe& probe, const Spec& claim, const Attention& claimed) {
  const auto* rope = carried<Rope>(claimed);
  if (rope == nullptr || claimed.sinks || depends_on_length(claim) || pairs(*rope) == 0) return {};
  const std::int64_t position = std::min<std::int64_t>(5, claim.max_position - 1);
  const std::vector<double> value = ordinary(claim, claimed.head_dim, 8, 0);
  const std::vector<double> seen = probe.value_at(position, value);
  const std::vector<double> turned = ClaimedScores(claimed, value, value).turned(value, static_cast<double>(position));
  const double off = 64 * std::ldexp(1, -format_of(claim.dtype).precision);
  const auto is = [&](const std::vector<double>& other) {
    return std::ranges::equal(seen, other, [&](double a, double b) { return std::fabs(a - b) <= off; });
  };
  return !is(value) && is(turned) ? "values are turned by their positions too" : "";
}

}  // namespace sextant::identify
