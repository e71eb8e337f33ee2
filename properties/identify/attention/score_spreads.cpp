#include "properties/identify/attention/score_spreads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/asked_attention.hpp"
#include "properties/identify/attention/attention_calls.hpp"
#include "properties/identify/attention/plain_scores.hpp"
#include "properties/model/attention_oracle.hpp"

namespace sextant::identify {
namespace {

// The claim's scores of one query after the other.
class SpreadOfScores {
 public:
  SpreadOfScores(const Spec& claim, const AttentionCase& request)
      : position_(position_model(claim, *held<Attention>(claim))),
        turning_(position_ ? position_->turning() : nullptr),
        bias_(position_ ? position_->score_bias() : nullptr),
        scores_(claim, request, turning_.get(), bias_.get(), noting_) {
    noting_.weights = ScoresToWeights::of_scores;
    noting_.scores = [this](const ScoresOfQuery& of) {
      const auto [least, most] = std::ranges::minmax(of.scores);
      spread_ = most - least;
    };
  }

  double at(const AttentionPlaceOfHead& place) {
    scores_.row(place);
    return spread_;
  }

 private:
  decltype(position_model(std::declval<const Spec&>(), std::declval<const Attention&>())) position_;
  std::unique_ptr<TurningOracle> turning_;
  std::unique_ptr<ScoreBiasOracle> bias_;
  OtherAttention noting_;
  PlainScores scores_;
  double spread_ = 0;
};

}  // namespace

double greatest_spread(const Spec& claim, const AttentionCase& request) {
  constexpr double most_products = 0x1p24;
  const auto& claimed = *held<Attention>(claim);
  const double products = static_cast<double>(request.batch * claimed.num_heads * request.queries()) *
                          static_cast<double>(request.tokens * claimed.head_dim);
  if (products > most_products) return std::numeric_limits<double>::infinity();
  SpreadOfScores spreads(claim, request);
  double greatest = 0;
  for (std::int64_t batch = 0; batch < request.batch; ++batch) {
    for (std::int64_t head = 0; head < claimed.num_heads; ++head) {
      for (std::int64_t token = 0; token < request.queries(); ++token) {
        if (request.seen_by(claimed, batch, token).count() > 0)
          greatest = std::max(greatest, spreads.at({batch, head, token}));
      }
    }
  }
  return greatest;
}

PlaceOfCalls place_of_spreads(Session& session, const Spec& claim) {
  double least = std::numeric_limits<double>::infinity();
  // Queries of usual calls times as large.
  constexpr int most_doublings = 8;
  for (int doublings = 0; doublings <= most_doublings && std::isinf(least); ++doublings) {
    for (const double part : {1.0, 1.25, 1.5, 1.75}) {
      auto request = case_of(claim, AskedAs::usual, 8);
      for (std::int64_t i = 0; i < request->q.elements(); ++i)
        request->q.set(i, round_to(claim.dtype, std::ldexp(part, doublings) * request->q.at(i)));
      const AskedCase asked(session, claim, std::move(*request), heads_of(AskedAs::usual));
      SpreadOfScores spreads(claim, asked.request());
      for (const AttentionPlaceOfHead& at : asked.wrong()) least = std::min(least, spreads.at(at));
      if (std::isfinite(least)) break;
    }
  }
  if (std::isinf(least)) return {"values are wrong in some calls whose scores are large"};
  // Of other vectors some may be wrong a little below.
  const double border = std::stod(fmt::format("{:.1g}", least * 0.75));
  return {
      fmt::format("values are wrong of some queries whose scores are more than {:g} apart, and right of those whose "
                  "scores are closer",
                  border),
      [claim, border](const AttentionCase& one) { return greatest_spread(claim, one) <= border; }};
}

}  // namespace sextant::identify
