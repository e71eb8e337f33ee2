#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lib/spec/rope.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/rotation_judge.hpp"
#include "reference/rope.hpp"

// Judge and turning of rotary encodings under a scaling rule, for rope and rope_nd. `Turns` has an encoding's oracle
// and its fast tier in calls of one length:
//
//   Turns(encoding)
//   const Rope& head()                                    the channels, and the rule
//   void set_length(length)                               makes the fast tier that of such calls
//   const std::vector<double>& frequencies()              in radians, of one sense, within 2^-50 of themselves
//   std::int64_t coordinate(place, pair)                  which of the coordinates turns the pair
//   double count(place, pair)                             what the pair's frequency multiplies
//   void turn_to(place, row), RotationRow make_row()      every pair's rotation, counterclockwise
//   rotation(place, pair, length, precision)              the exact tier
//   angle(place, pair, length, precision)
//   attention_factor(length, precision)
//   ErrorBudget budget(claim, longest)
//
// `place` holds the coordinates of a position.

namespace sextant {

using CoordinatesAt = std::span<const std::int64_t>;

template <class Turns>
class ScaledJudge : public RotationJudge {
 protected:
  ScaledJudge(const Spec& spec, Turns turns)
      : RotationJudge(turns.head(), turns.budget(arithmetic_of(spec), spec.max_position)),
        turns_(std::move(turns)),
        longest_(spec.max_position) {
    take_length(longest_);
    for (const double w : turns_.frequencies()) longest_frequencies_.push_back(std::fabs(w) * (1 - 0x1p-50));
  }

  Turns& turns() { return turns_; }
  const std::vector<reference::DoubleDoubleWithin>& factors() const { return factors_; }

  /// From now on tokens of calls of that length are judged.
  void take_length(std::int64_t length) {
    length_ = length;
    turns_.set_length(length);
    factors_.assign(turns_.frequencies().size(),
                    reference::DoubleDoubleWithin::of(turns_.attention_factor(length, reference::first_precision)));
  }

 private:
  std::int64_t coordinate(CoordinatesAt place, std::int64_t pair) const final { return turns_.coordinate(place, pair); }

  Expected expected(CoordinatesAt place, std::int64_t pair, const reference::RealPair& x,
                    reference::Precision precision) final {
    const reference::Rotation& rotation = turns_.rotation(place, pair, length_, precision);
    const reference::Enclosure& factor = turns_.attention_factor(length_, precision);
    const reference::RealPair turned = reference::RopeReference::rotate(rotation, x);
    const reference::Enclosure norm = factor * hypot(x.first, x.second);
    return {{factor * turned.first, factor * turned.second}, budget().component_bound(norm, rotation.angle, pair)};
  }

  Allowance allowance(CoordinatesAt place, std::int64_t pair, const reference::RealPair& x,
                      reference::Precision precision) final {
    const reference::Enclosure norm = turns_.attention_factor(length_, precision) * hypot(x.first, x.second);
    return {budget().pair_bound(norm, turns_.angle(place, pair, longest_, precision), pair), norm};
  }

  double least_bound(CoordinatesAt place, std::int64_t pair, double length) final {
    const double angle = longest_frequencies_[static_cast<std::size_t>(pair)] * turns_.count(place, pair);
    return budget().least_pair_bound(std::fabs(factors_.front().high) * length, angle, pair);
  }

  Turns turns_;
  std::vector<reference::DoubleDoubleWithin> factors_;  // the attention factor, for each pair
  std::int64_t longest_;
  std::vector<double> longest_frequencies_;  // in calls of that length
  std::int64_t length_ = 0;                  // of what is judged
};

template <class Turns>
class ScaledTurning final : public TurningOracle {
 public:
  ScaledTurning(const Spec& spec, Turns turns)
      : TurningOracle(turns.head()),
        turns_(std::move(turns)),
        budget_(turns_.budget(arithmetic_of(spec), spec.max_position)),
        own_(budget_.of_own_frequencies()),
        longest_(spec.max_position),
        row_(turns_.make_row()) {}

  std::int64_t coordinate(const VectorPlace& place, std::int64_t pair) const override {
    return turns_.coordinate(place.coordinates, pair);
  }

  void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) override {
    turns_.set_length(place.length);
    turns_.turn_to(place.coordinates, row_);
    const reference::DoubleDoubleWithin within = factor_at(place.length);
    const auto factor = static_cast<long double>(within.high) + static_cast<long double>(within.low);
    const long double upward = head().direction == Direction::clockwise ? -factor : factor;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const auto pair = static_cast<std::int64_t>(i);
      const double angle = turns_.frequencies()[i] * turns_.count(place.coordinates, pair);
      turns[i] = {factor * (static_cast<long double>(row_.cos_high[i]) + static_cast<long double>(row_.cos_low[i])),
                  upward * (static_cast<long double>(row_.sin_high[i]) + static_cast<long double>(row_.sin_low[i])),
                  std::fabs(within.high),
                  pair_ulps(budget_),
                  std::min(budget_.quick_angle_error(angle, pair), 2.0) * (1 + 0x1p-40),
                  0};
    }
  }

  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                    reference::Precision precision) override {
    const reference::Rotation& rotation = turns_.rotation(place.coordinates, pair, place.length, precision);
    const reference::Enclosure& factor = turns_.attention_factor(place.length, precision);
    const reference::RealPair y = reference::RopeReference::rotate(rotation, x);
    const reference::Enclosure norm = factor * hypot(x.first, x.second);
    return {{factor * y.first, factor * y.second}, norm, budget_.pair_bound(norm, rotation.angle, pair)};
  }

  PairBounds bounds(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                    reference::Precision precision) override {
    const reference::Enclosure norm = turns_.attention_factor(place.length, precision) * hypot(x.first, x.second);
    const reference::Enclosure angle = turns_.angle(place.coordinates, pair, place.length, precision);
    return {own_.pair_bound(norm, angle, pair), budget_.norm_bound(norm), budget_.norm_bound(norm)};
  }

  reference::Enclosure of_two_turns(reference::Precision precision) override {
    return turns_.attention_factor(longest_, precision);
  }

  long double stretch(const VectorPlace& place, std::int64_t) override { return stretch_of(factor_at(place.length)); }

  double least_bound(const VectorPlace& place, std::int64_t pair, double length) override {
    turns_.set_length(place.length);
    const double angle = turns_.frequencies()[static_cast<std::size_t>(pair)] * turns_.count(place.coordinates, pair);
    return budget_.component_bound(std::fabs(factor_at(place.length).high) * length, angle, pair).lower;
  }
  double least_evaluation(const VectorPlace& place, std::int64_t, double length) override {
    return budget_.least_norm_bound(std::fabs(factor_at(place.length).high) * length);
  }

 private:
  const reference::DoubleDoubleWithin& factor_at(std::int64_t length) {
    if (!factor_ || factor_->first != length) {
      factor_.emplace(length,
                      reference::DoubleDoubleWithin::of(turns_.attention_factor(length, reference::first_precision)));
    }
    return factor_->second;
  }

  Turns turns_;
  ErrorBudget budget_;
  ErrorBudget own_;
  std::int64_t longest_;
  std::optional<std::pair<std::int64_t, reference::DoubleDoubleWithin>> factor_;  // of calls of the last length
  reference::RotationRow row_;
};

}  // namespace sextant
