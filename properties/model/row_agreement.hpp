#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/channels.hpp"
#include "lib/spec/position_grid.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/budget.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/enclosure.hpp"
#include "reference/rounding.hpp"

namespace sextant {

/// The same value, or NaN in both; 0 and -0 are the same.
inline bool same_or_nan(double one, double other) { return one == other || (std::isnan(one) && std::isnan(other)); }

/// What one pair may be off by, and how long it is.
struct Allowance {
  reference::Enclosure bound;
  reference::Enclosure norm;
};

/// The code of one position, or one vector turned, as two calls gave it: row by row from the elements `one_start` and
/// `other_start` on.
struct TwoRows {
  const Tensor& one;
  std::int64_t one_start;
  const Tensor& other;
  std::int64_t other_start;
  std::span<const std::int64_t> place;  ///< the position's coordinates
  PositionGrid grid = {};               ///< that they are counted in

  double in_one(std::int64_t channel) const { return one.at(one_start + channel); }
  double in_other(std::int64_t channel) const { return other.at(other_start + channel); }

  /// "position 271, at [3, 20, 0, 5] and [0, 271, 0, 5]": where a value is, then where in the one answer and the other,
  /// if that is elsewhere.
  std::string text(std::int64_t channel) const;
};

/// Adds that one channel of the two rows holds the same value, or NaN in both.
void judge_same_value(Judgement& judgement, const TwoRows& rows, std::int64_t channel);

/// Adds that one channel of the two rows differs by at most bound_at(precision), a value of norm norm_at(precision).
template <class BoundAt, class NormAt>
void judge_channel(Judgement& judgement, const TwoRows& rows, std::int64_t channel, BoundAt bound_at, NormAt norm_at) {
  using reference::Certainty;
  using reference::Enclosure;
  const Dtype dtype = rows.one.dtype;
  const double a = rows.in_one(channel);
  const double b = rows.in_other(channel);
  if (std::isnan(a) != std::isnan(b) || (std::isinf(a) || std::isinf(b))) {
    judgement.add(Certainty::no, not_finite(),
                  [&] { return fmt::format("{}: {} in one call, {} in the other", rows.text(channel), a, b); });
    return;
  }
  if (a == b || std::isnan(a)) {
    judgement.add(Certainty::yes, {}, [&] { return rows.text(channel) + ": the same value in both calls"; });
    return;
  }
  Deviation deviation;
  const Certainty within = reference::decide([&](reference::Precision precision) {
    const Enclosure error = abs(Enclosure(a, precision) - Enclosure(b, precision));
    const Enclosure bound = bound_at(precision);
    deviation = deviation_of(error, bound, reference::ulp(dtype, norm_at(precision)).upper());
    return reference::at_most(error, bound);
  });
  judgement.add(within, deviation, [&] {
    return fmt::format("{}: {} in one call, {} in the other: {}", rows.text(channel), value_text(dtype, a),
                       value_text(dtype, b), bound_text(deviation.of_bound));
  });
}

/// How many ULP of its norm ErrorBudget's pair_bound allows a pair, whatever its angle: sqrt(2) k, rounded up.
double pair_ulps(const ErrorBudget& budget);

/// What part of their bound two answers may differ by and be passed over: the judgement's worst deviation is then that
/// of all, or all are below half of their bounds, or it is a violation and the others may be worse or not.
double agreement_limit(const Judgement& judgement);

/// Whether one channel of the two rows certainly differs by no more than that part of twice a bound, which is at least
/// `least_bound`.
bool certainly_agrees(const Judgement& judgement, const TwoRows& rows, std::int64_t channel, double least_bound);

/// Adds that the two channels of a pair differ by at most twice the bound of allowance_at(precision), which is at least
/// `least_bound`. What certainly agrees is passed over.
template <class AllowanceAt>
void judge_pair(Judgement& judgement, const TwoRows& rows, const Channels& channels, double least_bound,
                AllowanceAt allowance_at) {
  using reference::Enclosure;
  using reference::Precision;
  for (const std::int64_t channel : {channels.first, channels.second}) {
    if (certainly_agrees(judgement, rows, channel, least_bound)) continue;
    judge_channel(
        judgement, rows, channel,
        [&](Precision precision) { return Enclosure(2.0, precision) * allowance_at(precision).bound; },
        [&](Precision precision) { return allowance_at(precision).norm; });
  }
}

}  // namespace sextant
