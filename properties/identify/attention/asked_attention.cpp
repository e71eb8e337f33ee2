#include "properties/identify/attention/asked_attention.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/plain_scores.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_oracle.hpp"

namespace sextant::identify {
namespace {

// A bias that is another one's by a rule.
class OtherBias final : public ScoreBiasOracle {
 public:
  OtherBias(ScoreBiasOracle& own, const OtherAttention& other) : own_(own), other_(other) {}

  ScoreTerm at(const BiasPlace& place, const Tensor* weight, reference::Precision precision) override {
    const QuickScoreTerm term = quickly(place, weight);
    return {reference::Enclosure(static_cast<double>(term.value), precision), term.roundings};
  }
  QuickScoreTerm quickly(const BiasPlace& place, const Tensor* weight) override {
    return other_.bias(own_, place, weight);
  }

 private:
  ScoreBiasOracle& own_;
  const OtherAttention& other_;
};

// Vectors are turned by other places, and keys by another rule.
class OtherTurning final : public TurningOracle {
 public:
  OtherTurning(TurningOracle& own, TurningOracle* of_keys, const OtherAttention& other)
      : TurningOracle(own.head()), own_(own), of_keys_(of_keys), other_(other) {}

  Role role() const override { return own_.role(); }
  std::int64_t coordinate(const VectorPlace& place, std::int64_t pair) const override {
    return of(place).coordinate(at(place), pair);
  }
  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                    reference::Precision precision) override {
    return of(place).turned(at(place), pair, x, precision);
  }
  PairBounds bounds(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                    reference::Precision precision) override {
    return of(place).bounds(at(place), pair, x, precision);
  }
  bool is_representable(const VectorPlace& place, std::int64_t pair, double length) override {
    return of(place).is_representable(at(place), pair, length);
  }
  long double stretch(const VectorPlace& place, std::int64_t pair) override {
    return of(place).stretch(at(place), pair);
  }
  double least_bound(const VectorPlace& place, std::int64_t pair, double length) override {
    return of(place).least_bound(at(place), pair, length);
  }
  double least_evaluation(const VectorPlace& place, std::int64_t pair, double length) override {
    return of(place).least_evaluation(at(place), pair, length);
  }
  void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) override {
    of(place).turn_quickly(at(place), turns);
  }

 private:
  TurningOracle& of(const VectorPlace& place) const {
    return of_keys_ != nullptr && place.role == Role::key ? *of_keys_ : own_;
  }
  VectorPlace at(const VectorPlace& place) const { return other_.place ? other_.place(place) : place; }

  TurningOracle& own_;
  TurningOracle* of_keys_;
  const OtherAttention& other_;
};

// Whether answers are as near to the values as the bound without its scores' part asks, which the whole bound admits.
bool meets_least_bound(QuickAttention& quick, const AttentionArithmetic& arithmetic, const AttentionPlaceOfHead& place,
                       const std::vector<double>& got) {
  const double least = quick.least_bound(place);
  const std::vector<long double> values = quick.values(place);
  for (std::size_t c = 0; c < got.size(); ++c) {
    const auto value = static_cast<double>(values[c]);
    if (!(std::fabs(got[c] - value) <= value_bound(arithmetic, least, std::fabs(value)))) return false;
  }
  return true;
}

}  // namespace

bool RightRow::is_met_by(const std::vector<double>& got) const {
  for (std::size_t c = 0; c < got.size(); ++c) {
    if (!is_met_by(got, c)) return false;
  }
  return true;
}

bool RightRow::is_met_by(const std::vector<double>& got, std::size_t channel) const {
  return std::fabs(got[channel] - values[channel]) <= bounds[channel];
}

double RightRow::off(const std::vector<double>& got) const {
  double sum = 0;
  for (std::size_t c = 0; c < got.size(); ++c) sum += std::fabs(got[c] - values[c]);
  return sum;
}

AskedCase::AskedCase(Session& session, const Spec& claim, AttentionCase request, std::int64_t most_heads)
    : claim_(claim), request_(std::move(request)), answer_(attend(session, claim, request_)) {
  const auto& encoding = *held<Attention>(claim);
  const std::int64_t heads = std::min(most_heads, encoding.num_heads);
  for (std::int64_t batch = 0; batch < request_.batch; ++batch) {
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t token = 0; token < request_.queries(); ++token) {
        if (request_.seen_by(encoding, batch, token).count() > 0) places_.push_back({batch, head, token});
      }
    }
  }
}

std::vector<AttentionPlaceOfHead> AskedCase::wrong() const {
  std::vector<AttentionPlaceOfHead> list;
  each(
      {}, places_,
      [&](const RightRow& right, const std::vector<double>& got) {
        if (!right.is_met_by(got)) list.push_back(right.place);
        return true;
      },
      std::nullopt, Rows::doubtful);
  return list;
}

std::optional<double> AskedCase::off_of(const OtherAttention& other,
                                        const std::vector<AttentionPlaceOfHead>& places) const {
  if (!other.applies) return off_of_all(other, places);
  std::vector<AttentionPlaceOfHead> own;
  std::vector<AttentionPlaceOfHead> claimed;
  for (const AttentionPlaceOfHead& at : places) (other.applies(at) ? own : claimed).push_back(at);
  const auto off_own = off_of_all(other, own);
  const auto off_claimed = off_own ? off_of_all({}, claimed) : std::nullopt;
  return off_claimed ? std::optional(*off_own + *off_claimed) : std::nullopt;
}

std::optional<double> AskedCase::off_of_all(const OtherAttention& other,
                                            const std::vector<AttentionPlaceOfHead>& places) const {
  bool all = true;
  double off = 0;
  std::size_t judged = 0;
  each(other, places, [&](const RightRow& right, const std::vector<double>& got) {
    off += right.off(got);
    ++judged;
    return all = right.is_met_by(got);
  });
  if (!all) return std::nullopt;
  return judged < places.size() && has_claimed_where_none_is_seen(other, places) ? std::nullopt : std::optional(off);
}

bool AskedCase::has_claimed_where_none_is_seen(const OtherAttention& other,
                                               const std::vector<AttentionPlaceOfHead>& places) const {
  Spec spec = claim_;
  AttentionCase request = request_;
  if (other.change) other.change(spec, request);
  std::vector<AttentionPlaceOfHead> unseeing;
  std::ranges::copy_if(places, std::back_inserter(unseeing), [&](const AttentionPlaceOfHead& at) {
    return request.seen_by(*held<Attention>(spec), at.batch, at.token).count() == 0;
  });
  bool has_claimed = false;
  each({}, unseeing, [&](const RightRow& right, const std::vector<double>& got) {
    has_claimed = right.is_met_by(got);
    return !has_claimed;
  });
  return has_claimed;
}

double AskedCase::off_of_claim(const std::vector<AttentionPlaceOfHead>& places) const {
  double off = 0;
  each({}, places, [&](const RightRow& right, const std::vector<double>& got) {
    off += right.off(got);
    return true;
  });
  return off;
}

std::vector<double> AskedCase::answer(const AttentionPlaceOfHead& place) const {
  const std::int64_t width = request_.q.shape[3];
  const std::int64_t first =
      ((place.batch * request_.q.shape[1] + place.head) * request_.queries() + place.token) * width;
  std::vector<double> got;
  for (std::int64_t c = 0; c < width; ++c) got.push_back(answer_.at(first + c));
  return got;
}

std::vector<RightRow> AskedCase::right_rows(const std::vector<AttentionPlaceOfHead>& places) const {
  std::vector<RightRow> rows;
  each({}, places, [&](const RightRow& right, const std::vector<double>&) {
    rows.push_back(right);
    return true;
  });
  return rows;
}

bool AskedCase::has_infinities() const {
  for (std::int64_t i = 0; i < answer_.elements(); ++i) {
    if (!std::isfinite(answer_.at(i))) return true;
  }
  return false;
}

bool AskedCase::is_rounded_to(Dtype format) const {
  if (format_of(format).precision >= format_of(claim_.dtype).precision) return false;
  for (std::int64_t i = 0; i < answer_.elements(); ++i) {
    if (round_to(format, answer_.at(i)) != answer_.at(i)) return false;
  }
  bool all = true;
  each(
      {}, places_, [&](const RightRow& right, const std::vector<double>& got) { return all = right.is_met_by(got); },
      format);
  return all;
}

std::optional<double> AskedCase::often_greatest() const {
  double greatest = 0;
  for (std::int64_t i = 0; i < answer_.elements(); ++i) greatest = std::max(greatest, std::fabs(answer_.at(i)));
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < answer_.elements(); ++i) count += std::fabs(answer_.at(i)) == greatest ? 1 : 0;
  constexpr std::int64_t often = 3;
  if (count < often || greatest == 0 || !std::isfinite(greatest)) return std::nullopt;
  return greatest;
}

void AskedCase::each(const OtherAttention& other, const std::vector<AttentionPlaceOfHead>& places, const Take& take,
                     std::optional<Dtype> rounded, Rows rows) const {
  Spec spec = claim_;
  AttentionCase request = request_;
  if (other.change) other.change(spec, request);
  const auto position = position_model(spec, *held<Attention>(spec));
  const auto own_turning = position ? position->turning() : nullptr;
  std::unique_ptr<TurningOracle> turning_of_keys;
  if (other.of_keys) {
    Spec of_keys = spec;
    other.of_keys(of_keys);
    turning_of_keys = position_model(of_keys, *held<Attention>(of_keys))->turning();
  }
  std::unique_ptr<TurningOracle> changed_turning;
  if (own_turning && (other.place || turning_of_keys))
    changed_turning = std::make_unique<OtherTurning>(*own_turning, turning_of_keys.get(), other);
  TurningOracle* turning = changed_turning ? changed_turning.get() : own_turning.get();
  const auto own = position ? position->score_bias() : nullptr;
  std::unique_ptr<ScoreBiasOracle> changed;
  if (other.bias) {
    if (!own) return;
    changed = std::make_unique<OtherBias>(*own, other);
  }
  ScoreBiasOracle* bias = changed ? changed.get() : own.get();
  const AttentionArithmetic arithmetic(spec);
  const auto right_of = [&](const AttentionPlaceOfHead& place, const QuickAttentionRow& row) {
    RightRow right{place, {}, {}};
    for (std::size_t c = 0; c < row.value.size(); ++c) {
      const auto value = static_cast<double>(row.value[c]);
      double bound = value_bound(arithmetic, row.bounds[c], std::fabs(value)) + row.errors[c];
      if (rounded) bound += ulp(*rounded, std::fabs(value) + bound) / 2;
      right.values.push_back(other.result ? other.result(value) : value);
      right.bounds.push_back(bound);
    }
    return right;
  };
  std::unique_ptr<PlainScores> plain;
  std::unique_ptr<QuickAttention> quick;
  if (other.weights != ScoresToWeights::softmax)
    plain = std::make_unique<PlainScores>(spec, request, turning, bias, other);
  else
    quick = quick_attention(spec, request, turning, bias);
  for (const AttentionPlaceOfHead& place : places) {
    // What a query has that sees no key under another mask is its implementation's own affair.
    if (request.seen_by(*held<Attention>(spec), place.batch, place.token).count() == 0) continue;
    if (rows == Rows::doubtful && quick && meets_least_bound(*quick, arithmetic, place, answer(place))) continue;
    const QuickAttentionRow row = plain ? plain->row(place) : quick->row(place);
    if (!take(right_of(place, row), answer(place))) return;
  }
}

const OtherAttention* explaining(const AskedCase& asked, const std::vector<OtherAttention>& others,
                                 const std::vector<AttentionPlaceOfHead>& places) {
  constexpr double nearer_than_claim = 8;
  constexpr double nearer = 1.25;
  double least = asked.off_of_claim(places) / nearer_than_claim * nearer;
  const OtherAttention* found = nullptr;
  for (const OtherAttention& other : others) {
    const auto off = asked.off_of(other, places);
    if (!off || *off * nearer > least) continue;
    least = *off;
    found = &other;
  }
  return found;
}

}  // namespace sextant::identify
