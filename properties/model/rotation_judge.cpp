#include "properties/model/rotation_judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/model/row_agreement.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;
using reference::RealPair;

}  // namespace

RotationJudge::RotationJudge(const Rope& head, const ErrorBudget& budget)
    : head_(head),
      pairs_(sextant::pairs(head)),
      passthrough_(passthrough_channels(head)),
      budget_(budget),
      judge_(budget_, ExactZero::either),
      x_(static_cast<std::size_t>(head.head_dim)),
      y_(static_cast<std::size_t>(head.head_dim)) {
  for (std::int64_t pair = 0; pair < pairs_; ++pair) {
    const Channels from = channels_of_pair(head, head.pairing, pair);
    const Channels to = channels_of_pair(head, head.output_pairing, pair);
    turned_.push_back({static_cast<std::size_t>(from.first), static_cast<std::size_t>(from.second),
                       static_cast<std::size_t>(to.first), static_cast<std::size_t>(to.second)});
  }
}

void RotationJudge::transpose() {
  is_transposed_ = !is_transposed_;
  for (TurnedChannels& at : turned_) {
    std::swap(at.from_first, at.to_first);
    std::swap(at.from_second, at.to_second);
  }
  for (Passthrough& channel : passthrough_) std::swap(channel.input, channel.output);
}

RealPair RotationJudge::pair_of(const Tensor& x, std::int64_t start, std::int64_t pair, Precision precision) const {
  const TurnedChannels& at = turned_[static_cast<std::size_t>(pair)];
  return {Enclosure(x.at(start + static_cast<std::int64_t>(at.from_first)), precision),
          Enclosure(x.at(start + static_cast<std::int64_t>(at.from_second)), precision)};
}

Judgement RotationJudge::values(const Call& call, const Tensor& answer) {
  Judgement judgement;
  const Tensor& x = call.vectors[0];
  const std::int64_t heads = x.shape[2];
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  each_token(call, [&](std::size_t token, const PairsAt& at) {
    const std::vector<std::int64_t> place = place_at(call.positions, tokens, static_cast<std::int64_t>(token));
    // Whatever lies nearer to zero on every axis has been right so far.
    judgement.place = std::ranges::max(place);
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t vector = static_cast<std::int64_t>(token) * heads + h;
      if (h > 0 && is_repeated(x, vector, head_.head_dim) && is_repeated(answer, vector, head_.head_dim)) continue;
      const Vector given{x, answer, vector * head_.head_dim, place};
      x.dtype == Dtype::float64 ? judge_vector<long double>(judgement, given, at)
                                : judge_vector<double>(judgement, given, at);
    }
  });
  if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return no_pair_held; });
  return judgement;
}

// Where no pair turns a zero keeps its sign too: y is x. Beside pairs that turn code may add zeros.
bool RotationJudge::passed(double given, double got) const {
  if (!same_or_nan(given, got)) return false;
  return !turned_.empty() || std::isnan(given) || std::signbit(given) == std::signbit(got);
}

template <class Real>
void RotationJudge::judge_vector(Judgement& judgement, const Vector& vector, const PairsAt& pairs) {
  vector.x.read(vector.start, x_);
  vector.y.read(vector.start, y_);
  // No later than any pair's: a screen passes no less for a later one.
  judgement.coordinate = std::ranges::min(vector.place);
  const Screen screen(budget_, judgement, *judgement.place);
  for (std::size_t i = 0; i < turned_.size(); ++i) {
    if (passes<Real>(screen, pairs, i)) continue;
    const auto pair = static_cast<std::int64_t>(i);
    judgement.coordinate = coordinate(vector.place, pair);
    judge_pair_of(judgement, vector, pairs, pair);
  }
  judgement.coordinate.reset();
  for (const Passthrough& channel : passthrough_) {
    if (judgement.finding.empty() ||
        !passed(x_[static_cast<std::size_t>(channel.input)], y_[static_cast<std::size_t>(channel.output)]))
      judge_untouched(judgement, vector, channel);
  }
}

// Whether judging either value of a pair would change nothing.
//
// The rotation's components and the scale are within epsilon/2 of themselves as Real, and by 2^-99, the scale by its
// error besides; two products, their difference and that by the scale add four times epsilon: of |x0 c| + |x1 s| <=
// norm, by Cauchy and Schwarz. Below 2^-960 a scale's error, at least 2^-1060, is not small beside it: float64 alone
// has bounds as small.
template <class Real>
bool RotationJudge::passes(const Screen& screen, const PairsAt& pairs, std::size_t pair) const {
  constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
  constexpr Real slack = 4 * epsilon + static_cast<Real>(0x1p-97);
  constexpr bool is_float64 = !std::is_same_v<Real, double>;
  const TurnedChannels& at = turned_[pair];
  const double x0 = x_[at.from_first];
  const double x1 = x_[at.from_second];
  const double length = std::sqrt(x0 * x0 + x1 * x1);
  const reference::DoubleDoubleWithin& scale = pairs.scales[pair];
  const double norm = std::fabs(scale.high) * length;
  if (!(length > 0x1p-400 && length < 0x1p400 && norm < pairs.limit / 2 && std::fabs(scale.high) < pairs.limit / 2 &&
        (norm > 0x1p-960 || !is_float64)))
    return false;
  double bound =
      screen.component_bound(norm, budget_.quick_angle_error(pairs.angles[pair], static_cast<std::int64_t>(pair)));
  if (!pairs.scale_errors.empty()) bound += pairs.scale_errors[pair] * norm + pairs.least_scale_error * length;
  const auto factor = static_cast<Real>(scale.high) + static_cast<Real>(scale.low);
  const reference::RotationRow& row = *pairs.rotations;
  const Real cosine = static_cast<Real>(row.cos_high[pair]) + static_cast<Real>(row.cos_low[pair]);
  const Real sine =
      static_cast<Real>(turn()) * (static_cast<Real>(row.sin_high[pair]) + static_cast<Real>(row.sin_low[pair]));
  const Real allowed = slack * static_cast<Real>(norm) + static_cast<Real>(2 * scale.error * length);
  return screen.passes(y_[at.to_first], factor * (x0 * cosine - x1 * sine), allowed, bound) &&
         screen.passes(y_[at.to_second], factor * (x0 * sine + x1 * cosine), allowed, bound);
}

void RotationJudge::judge_pair_of(Judgement& judgement, const Vector& vector, const PairsAt& pairs, std::int64_t pair) {
  const auto i = static_cast<std::size_t>(pair);
  const TurnedChannels& at = turned_[i];
  const double x0 = x_[at.from_first];
  const double x1 = x_[at.from_second];
  const double length = std::hypot(x0, x1);
  const DoubleDoubleWithin& scale = pairs.scales[i];
  const double norm = std::fabs(scale.high) * length;
  const auto expected_at = [&](Precision precision) {
    // The opposite rotation is this one between two reflections.
    const double mirror = is_transposed_ ? -1 : 1;
    Expected all =
        expected(vector.place, pair, {Enclosure(x0, precision), Enclosure(mirror * x1, precision)}, precision);
    if (is_transposed_) all.value.second = -all.value.second;
    return all;
  };
  constexpr double margin = 1 + 0x1p-40;
  if (std::isfinite(pairs.limit)) {
    const double most = std::max(std::fabs(scale.high), norm);
    const bool certainly_not = most > pairs.limit * margin;
    const bool certainly = most * margin < pairs.limit;
    if (certainly_not || (!certainly && !expected_at(reference::first_precision).representable)) {
      judgement.left_out += 2;
      return;
    }
  }
  reference::Bounds bound = budget_.component_bound(norm, pairs.angles[i], pair);
  if (!pairs.scale_errors.empty()) {
    const double more = pairs.scale_errors[i] * norm + pairs.least_scale_error * length;
    if (bound.lower > 0) bound.lower += more / margin;
    bound.upper += more * margin;
  }
  const DoubleDoubleWithin upward = pairs.rotations->sin(i);
  const DoubleDoubleWithin sine = scale * DoubleDoubleWithin{turn() * upward.high, turn() * upward.low, upward.error};
  const DoubleDoubleWithin cosine = scale * pairs.rotations->cos(i);
  const double unit = ulp(budget_.dtype(), norm);
  const auto given0 = DoubleDoubleWithin::exactly(x0);
  const auto given1 = DoubleDoubleWithin::exactly(x1);
  for (const bool is_first : {true, false}) {
    const auto exact = [&](Precision precision) -> Target {
      Expected all = expected_at(precision);
      return {is_first ? std::move(all.value.first) : std::move(all.value.second), std::move(all.bound)};
    };
    const DoubleDoubleWithin truth = is_first ? given0 * cosine - given1 * sine : given0 * sine + given1 * cosine;
    const std::size_t channel = is_first ? at.to_first : at.to_second;
    judge_.judge(judgement, y_[channel], {truth, bound, unit}, exact,
                 [&] { return fmt::format("{}, channel {}", text_of(vector), channel); });
  }
}

// Channels that no frequency turns carry their input's value. The sign of zero is not part of it (rope/untouched.cpp):
// x * 1 + x' * 0, as honest code has it for such channels, makes +0 of -0. x holds no NaN here.
void RotationJudge::judge_untouched(Judgement& judgement, const Vector& vector, const Passthrough& channel) const {
  const double given = x_[static_cast<std::size_t>(channel.input)];
  const double got = y_[static_cast<std::size_t>(channel.output)];
  const Dtype dtype = vector.x.dtype;
  const bool same = passed(given, got);
  const Deviation deviation =
      same ? Deviation{} : Deviation{not_finite().of_bound, std::fabs(got - given), ulp_error(dtype, got, given)};
  judgement.add(same ? Certainty::yes : Certainty::no, deviation, [&] {
    return fmt::format("{}, channel {} is not rotated: got {}, expected {}", text_of(vector), channel.output,
                       value_text(dtype, got), value_text(dtype, given));
  });
}

std::string RotationJudge::text_of(const Vector& vector) const {
  const std::int64_t heads = vector.x.shape[2];
  const std::int64_t number = vector.start / head_.head_dim;
  const std::int64_t tokens = vector.x.shape[1];
  return fmt::format("position {}, batch row {}, token {}, head {}", text_of_place(head_.positions, vector.place),
                     number / heads / tokens, number / heads % tokens, number % heads);
}

Judgement RotationJudge::agreement(const Parts& calls, const Tensor& whole, const Tensor& part) {
  Judgement judgement;
  const Tensor& x = calls.part.vectors[0];
  const std::int64_t heads = x.shape[2];
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  for (std::int64_t vector = 0; vector < tokens * heads; ++vector) {
    const std::int64_t start = vector * head_.head_dim;
    if (calls.in_whole(start) < 0) continue;
    const std::vector<std::int64_t> place = place_at(calls.part.positions, tokens, vector / heads);
    const TwoRows rows{whole, calls.in_whole(start), part, start, place, head_.positions};
    judgement.coordinate = std::ranges::max(place);
    const auto agrees = [&](std::int64_t channel) {
      return std::isfinite(rows.in_one(channel)) && rows.in_one(channel) == rows.in_other(channel);
    };
    for (std::int64_t pair = 0; pair < pairs_; ++pair) {
      const Channels channels = channels_of_pair(head_, head_.output_pairing, pair);
      const Channels given = channels_of_pair(head_, head_.pairing, pair);
      const double least = least_bound(place, pair, std::hypot(x.at(start + given.first), x.at(start + given.second)));
      if (certainly_agrees(judgement, rows, channels.first, least) &&
          certainly_agrees(judgement, rows, channels.second, least))
        continue;
      // What is equal needs no oracle.
      if (!(agrees(channels.first) && agrees(channels.second)) &&
          !is_representable(place, pair, pair_of(x, start, pair, reference::first_precision)))
        continue;
      judge_pair(judgement, rows, channels, least, [&](Precision precision) {
        return allowance(place, pair, pair_of(x, start, pair, precision), precision);
      });
    }
    for (const Passthrough& channel : passthrough_) judge_same_value(judgement, rows, channel.output);
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return no_pair_held; });
  }
  return judgement;
}

}  // namespace sextant
