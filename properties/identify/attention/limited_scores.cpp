#include "properties/identify/attention/limited_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/attention_probe.hpp"
#include "properties/identify/round_numbers.hpp"

namespace sextant::identify {
namespace {

// Beyond every limit whose weights are numbers of float64 still, and before it is scaled a number of float16.
constexpr double far_score = 1024;

// The score that two such tokens have at position 0, where nothing turns.
std::vector<double> scores_of(AttentionProbe& probe, const Attention& claimed, const std::vector<double>& products,
                              const std::vector<double>& own = {}) {
  std::vector<AttentionProbe::TwoTokens> asked;
  const double size = std::exp2(std::round(std::log2(std::fabs(products.front()) / score_scale(claimed)) / 2));
  for (std::size_t i = 0; i < products.size(); ++i) {
    const double product = products[i];
    AttentionProbe::TwoTokens one;
    one.query.assign(index(claimed.head_dim), 0);
    one.key = one.query;
    one.query.front() = size;
    one.key.front() = product / score_scale(claimed) / size;
    if (!own.empty()) {
      one.own_key.assign(index(claimed.head_dim), 0);
      one.own_key.front() = own[i] / score_scale(claimed) / size;
    }
    asked.push_back(std::move(one));
  }
  return probe.scores(asked);
}

// The same of one such score. Against 0 no more than about 80 is seen, as e^-88 is beyond float32: against a score
// nearer to it more is.
double far_score_seen(AttentionProbe& probe, const Attention& claimed, double score, double against_zero) {
  if (std::isfinite(against_zero) && std::fabs(against_zero) < 80) return against_zero;
  std::vector<double> own;
  for (double nearer = 64; nearer < far_score; nearer += 64) own.push_back(std::copysign(nearer, score));
  const std::vector<double> off = scores_of(probe, claimed, std::vector<double>(own.size(), score), own);
  // A score that is limited too is 0 off.
  const auto nearest = std::ranges::min_element(off, {}, [](double one) {
    return std::isfinite(one) && std::fabs(one) >= 1 ? std::fabs(one) : std::numeric_limits<double>::infinity();
  });
  return *nearest + own[index(nearest - off.begin())];
}

}  // namespace

std::vector<OtherAttention> limited_scores(Session& session, const Spec& claim) {
  const auto& claimed = *held<Attention>(claim);
  const bool is_plain = !claimed.sinks && !claimed.query_scale && !claimed.logit_softcap && claimed.head_dim >= 2 &&
                        claim.min_position <= 0 && score_scale(claimed) > 0 &&
                        (!claimed.window || *claimed.window >= 2);
  if (!is_plain) return {};
  AttentionProbe probe(session, claim, claimed);
  const std::vector<double> seen = scores_of(probe, claimed, {far_score, -far_score});
  const double off = 64 * std::ldexp(1, -format_of(claim.dtype).precision);
  // Infinity where there is none.
  const auto limit = [&](double score) {
    const double size = std::fabs(score);
    const bool is_one = std::isfinite(score) && size >= 0.5 && size <= 0.5 * far_score;
    return is_one ? roundest_in({size * (1 - off), size * (1 + off)}).value : std::numeric_limits<double>::infinity();
  };
  const double above = limit(std::max(far_score_seen(probe, claimed, far_score, seen.front()), 0.0));
  const double below = limit(std::min(far_score_seen(probe, claimed, -far_score, seen.back()), 0.0));
  std::vector<OtherAttention> list;
  const auto add = [&](std::string words, std::function<double(double product, double bias)> score) {
    list.push_back({.words = std::move(words), .weights = ScoresToWeights::of_scores, .score = std::move(score)});
  };
  if (std::isfinite(above) && std::isfinite(below))
    add(above == below ? fmt::format("scores are cut off at {0:g} and -{0:g}", above)
                       : fmt::format("scores are cut off at {:g} and -{:g}", above, below),
        [above, below](double product, double bias) { return std::clamp(product + bias, -below, above); });
  if (std::isfinite(above) && std::isfinite(below) && (claimed.causal || claimed.window)) {
    list.push_back(list.back());
    list.back().words += ", those of keys that a query does not see too";
    list.back().change = [](Spec& spec, AttentionCase&) {
      held<Attention>(spec)->causal = false;
      held<Attention>(spec)->window.reset();
    };
    list.back().scores = [claimed, below](const ScoresOfQuery& of) {
      const KeyRange own = of.request.seen_by(claimed, of.place.batch, of.place.token);
      for (std::int64_t key = of.keys.first; key < of.keys.end; ++key) {
        if (!own.contains(key)) of.scores[index(key - of.keys.first)] = -below;
      }
    };
  }
  // A product not yet scaled that is the rounder number.
  const auto rounder_product = [&](double score) -> std::optional<double> {
    if (!std::isfinite(score)) return std::nullopt;
    const double size = score / score_scale(claimed);
    const RoundNumber of_product = roundest_in({size * (1 - off), size * (1 + off)});
    const RoundNumber of_score = roundest_in({score * (1 - off), score * (1 + off)});
    return of_product.digits < of_score.digits ? std::optional(of_product.value) : std::nullopt;
  };
  const double scale = score_scale(claimed);
  if (const auto least = rounder_product(below); least && !std::isfinite(above))
    add(fmt::format("products of queries and keys below -{0:g} are -{0:g}, before they are scaled", *least),
        [limit = *least * scale](double scaled, double bias) { return std::max(scaled, -limit) + bias; });
  if (const auto most = rounder_product(above); most && !std::isfinite(below))
    add(fmt::format("products of queries and keys above {0:g} are {0:g}, before they are scaled", *most),
        [limit = *most * scale](double scaled, double bias) { return std::min(scaled, limit) + bias; });
  if (std::isfinite(above))
    add(fmt::format("scores above {0:g} are {0:g}", above),
        [above](double product, double bias) { return std::min(product + bias, above); });
  if (std::isfinite(below))
    add(fmt::format("scores below -{0:g} are -{0:g}", below),
        [below](double product, double bias) { return std::max(product + bias, -below); });
  return list;
}

}  // namespace sextant::identify
