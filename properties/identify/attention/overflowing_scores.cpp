#include "properties/identify/attention/overflowing_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/attention_calls.hpp"
#include "properties/identify/attention/other_query_scales.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/model.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

constexpr double least_score = 6;
constexpr double most_score = 4096;

class EqualScores {
 public:
  EqualScores(Session& session, const Spec& claim)
      : session_(session), claim_(claim), claimed_(*held<Attention>(claim)), first_(model_of(claim)->range().first) {}

  // The score that a number of this size is rounded to in the claim's dtype.
  double rounded(double score) const { return round_to(claim_.dtype, score / of_query()) * of_query(); }

  enum class Values { finite, not_finite, mixed };

  // Of each batch row the values, where all of its scores are one number.
  std::vector<Values> values(const std::vector<double>& scores, std::int64_t tokens) const {
    AttentionCase request = ordinary_case(claim_, tokens, std::ssize(scores));
    std::ranges::fill(request.positions, first_);
    for (std::int64_t i = 0; i < request.k.elements(); ++i) request.k.set(i, 1);
    const std::int64_t of_row = request.q.elements() / request.batch;
    for (std::int64_t i = 0; i < request.q.elements(); ++i)
      request.q.set(i, round_to(claim_.dtype, scores[index(i / of_row)] / of_query()));
    for (Tensor* zeros : {request.weight ? &*request.weight : nullptr, request.sinks ? &*request.sinks : nullptr}) {
      for (std::int64_t i = 0; zeros != nullptr && i < zeros->elements(); ++i) zeros->set(i, 0);
    }
    const Tensor out = attend(session_, claim_, request_of(request));
    std::vector<Values> found;
    for (std::int64_t row = 0; row < request.batch; ++row) {
      std::int64_t finite = 0;
      for (std::int64_t i = row * of_row; i < (row + 1) * of_row; ++i) finite += std::isfinite(out.at(i)) ? 1 : 0;
      found.push_back(finite == of_row ? Values::finite : finite == 0 ? Values::not_finite : Values::mixed);
    }
    return found;
  }

 private:
  // The score of a query whose channels are all 1, with such a key at its own position.
  double of_query() const {
    const double by = claimed_.query_scale ? query_scale_at(*claimed_.query_scale, first_) : 1;
    return score_scale(claimed_) * static_cast<double>(claimed_.head_dim) * by;
  }

  Session& session_;
  const Spec& claim_;
  const Attention& claimed_;
  std::int64_t first_;
};

// The greatest score whose values are finite, and the least of which they are not.
struct Border {
  double finite;
  double not_finite;
};

std::optional<Border> border_of(const EqualScores& scores) {
  Border border{least_score, most_score};
  constexpr std::int64_t rows = 24;
  constexpr int most_calls = 6;
  bool is_seen = false;
  for (int call = 0; call < most_calls; ++call) {
    std::vector<double> tried;
    const double times = std::pow(border.not_finite / border.finite, 1.0 / static_cast<double>(rows - 1));
    for (std::int64_t row = 0; row < rows; ++row) {
      const double score = scores.rounded(border.finite * std::pow(times, static_cast<double>(row)));
      if (tried.empty() || score > tried.back()) tried.push_back(score);
    }
    const std::vector<EqualScores::Values> values = scores.values(tried, 1);
    const auto first_bad = std::ranges::find_if(values, [](auto one) { return one != EqualScores::Values::finite; });
    if (first_bad == values.end()) return std::nullopt;
    const bool is_border = first_bad != values.begin() && std::all_of(first_bad, values.end(), [](auto one) {
                             return one == EqualScores::Values::not_finite;
                           });
    if (!is_border) return std::nullopt;
    const std::size_t at = index(first_bad - values.begin());
    const Border closer{tried[at - 1], tried[at]};
    const bool is_closest = is_seen && closer.finite == border.finite && closer.not_finite == border.not_finite;
    border = closer;
    is_seen = true;
    if (is_closest || border.not_finite < border.finite * (1 + 0x1p-12)) break;
  }
  return border;
}

}  // namespace

std::optional<Overflow> overflow_of_scores(Session& session, const Spec& claim) {
  const auto& claimed = *held<Attention>(claim);
  if (claimed.logit_softcap) return std::nullopt;
  const EqualScores scores(session, claim);
  const auto border = border_of(scores);
  if (!border) return std::nullopt;
  // Several tokens, whose exponentials add up to a little more.
  constexpr std::int64_t tokens = 3;
  const double below = 0.97 * border->finite - std::log(static_cast<double>(tokens));
  const auto verified = scores.values({below, 1.03 * border->not_finite, below / 2, 2 * border->not_finite}, tokens);
  using enum EqualScores::Values;
  if (verified != std::vector{finite, not_finite, finite, not_finite}) return std::nullopt;
  // Where e^s is beyond the greatest number of a format; products of 16 bits are off by some units.
  const double off = is_16_bit(claim.dtype) ? std::ldexp(4, -format_of(claim.dtype).precision) : 0x1p-10;
  for (const double greatest : {65504.0, 0x1.fffffep127, 0x1.fffffffffffffp1023}) {
    const double limit = std::log(greatest);
    if (limit < border->finite * (1 - off) || limit > border->not_finite * (1 + off)) continue;
    return Overflow{
        fmt::format("scores above {:.4g} overflow: the greatest is not subtracted before the exponential", limit),
        Overflow::Of::exponential};
  }
  return Overflow{fmt::format("values are NaN or infinite where scores are above {:.3g}", border->finite)};
}

}  // namespace sextant::identify
