#include "reference/rope_nd.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "properties/model/budget.hpp"
#include "properties/model/models.hpp"
#include "properties/model/rotation_judge.hpp"
#include "properties/model/scaled_rotations.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;
using reference::RealPair;

// What calls of one length turn by, as doubles know it.
struct FastAxes {
  // The pairs that one axis turns.
  struct Axis {
    std::vector<std::size_t> pairs;
    reference::FastRotations rotations;
    reference::RotationRow row;         // of those pairs alone
    std::optional<std::int64_t> count;  // where row stands
  };

  FastAxes(reference::RopeNdReference& oracle, std::int64_t call_length) : length(call_length) {
    const std::vector<std::int64_t> axis_of = axis_of_pairs(oracle.encoding());
    std::vector<std::vector<std::size_t>> of_axes(static_cast<std::size_t>(axes(oracle.encoding())));
    for (std::size_t pair = 0; pair < axis_of.size(); ++pair) {
      of_axes[static_cast<std::size_t>(axis_of[pair])].push_back(pair);
      frequencies.push_back(
          oracle.radians(static_cast<std::int64_t>(pair), length, reference::first_precision).upper());
    }
    for (std::vector<std::size_t>& own : of_axes) {
      auto rotations = reference::FastRotations::of(
          [&](std::int64_t i, Precision precision) {
            return oracle.radians(static_cast<std::int64_t>(own[static_cast<std::size_t>(i)]), length, precision);
          },
          std::ssize(own));
      auto row = rotations.make_row();
      list.push_back({std::move(own), std::move(rotations), std::move(row), std::nullopt});
    }
  }

  // Makes the axis's pairs those of one of its coordinates, counted.
  void place(std::size_t axis, std::int64_t count, reference::RotationRow& row) {
    Axis& moved = list[axis];
    if (moved.count == count) return;
    moved.count = count;
    moved.rotations.at(count, moved.row);
    for (std::size_t i = 0; i < moved.pairs.size(); ++i) {
      const std::size_t pair = moved.pairs[i];
      row.sin_high[pair] = moved.row.sin_high[i];
      row.sin_low[pair] = moved.row.sin_low[i];
      row.cos_high[pair] = moved.row.cos_high[i];
      row.cos_low[pair] = moved.row.cos_low[i];
    }
  }

  // For a row that holds none of them yet.
  void forget() {
    for (Axis& axis : list) axis.count.reset();
  }

  reference::RotationRow make_row() const {
    const std::size_t pairs = frequencies.size();
    return {std::vector<double>(pairs), std::vector<double>(pairs), std::vector<double>(pairs),
            std::vector<double>(pairs)};
  }

  std::int64_t length;
  std::vector<double> frequencies;  // in radians, within 2^-50 of themselves
  std::vector<Axis> list;
};

// What the pair's frequency multiplies.
double count_of(const reference::RopeNdReference& oracle, std::span<const std::int64_t> place, std::int64_t pair) {
  const std::int64_t axis = oracle.axis_of(pair);
  return static_cast<double>(counted(oracle.encoding(), axis, place[static_cast<std::size_t>(axis)]));
}

class AxialJudge final : public RotationJudge {
 public:
  AxialJudge(const Spec& spec, const RopeNd& encoding)
      : RotationJudge(encoding.rope, {arithmetic_of(spec), reference::RopeNdReference(encoding), spec.max_position}),
        longest_(spec.max_position),
        oracle_(encoding),
        fast_(oracle_, 0),
        factors_(fast_.frequencies.size(),
                 DoubleDoubleWithin::of(oracle_.attention_factor(reference::first_precision))) {
    for (std::int64_t pair = 0; pair < pairs_count(); ++pair)
      longest_frequencies_.push_back(oracle_.radians(pair, longest_, reference::first_precision).lower());
  }

 private:
  void each_token(const Call& call, const std::function<void(std::size_t, const PairsAt&)>& visit) override {
    length_ = reference::sequence_length(call.positions);
    // Where the frequencies depend on the length, those of the last are kept.
    if (length_limit(head().rope_scaling) && fast_.length != length_) fast_ = FastAxes(oracle_, length_);
    fast_.forget();
    const std::size_t tokens = call.positions.size() / fast_.list.size();
    reference::RotationRow row = fast_.make_row();
    PairsAt at{.rotations = &row, .scales = factors_, .angles = fast_.frequencies};
    for (std::size_t token = 0; token < tokens; ++token) {
      for (std::size_t a = 0; a < fast_.list.size(); ++a) {
        const std::int64_t count =
            counted(oracle_.encoding(), static_cast<std::int64_t>(a), call.positions[a * tokens + token]);
        fast_.place(a, count, row);
        for (const std::size_t pair : fast_.list[a].pairs)
          at.angles[pair] = fast_.frequencies[pair] * static_cast<double>(count);
      }
      visit(token, at);
    }
  }

  Expected expected(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                    Precision precision) override {
    const reference::Rotation& turn = oracle_.rotation(place, pair, length_, precision);
    const Enclosure& factor = oracle_.attention_factor(precision);
    const RealPair turned = reference::RopeReference::rotate(turn, x);
    const Enclosure norm = factor * hypot(x.first, x.second);
    return {{factor * turned.first, factor * turned.second}, budget().component_bound(norm, turn.angle, pair)};
  }

  Allowance allowance(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                      Precision precision) override {
    const Enclosure norm = oracle_.attention_factor(precision) * hypot(x.first, x.second);
    return {budget().pair_bound(norm, oracle_.rotation(place, pair, longest_, precision).angle, pair), norm};
  }

  double least_bound(std::span<const std::int64_t> place, std::int64_t pair, double length) override {
    const double angle = longest_frequencies_[static_cast<std::size_t>(pair)] * count_of(oracle_, place, pair);
    return budget().least_pair_bound(std::fabs(factors_.front().high) * length, angle, pair);
  }

  std::int64_t longest_;
  reference::RopeNdReference oracle_;
  FastAxes fast_;
  std::vector<DoubleDoubleWithin> factors_;  // the attention factor, for each pair
  std::vector<double> longest_frequencies_;  // in calls of that length
  std::int64_t length_ = 0;                  // of what is judged
};

class AxialTurning final : public TurningOracle {
 public:
  AxialTurning(const Spec& spec, const RopeNd& encoding)
      : TurningOracle(encoding.rope),
        oracle_(encoding),
        budget_(arithmetic_of(spec), oracle_, spec.max_position),
        own_(budget_.of_own_frequencies()),
        factor_(DoubleDoubleWithin::of(oracle_.attention_factor(reference::first_precision))),
        fast_(oracle_, 0),
        row_(fast_.make_row()) {}

  void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) override {
    at_length(place.length);
    const auto factor = static_cast<long double>(factor_.high) + static_cast<long double>(factor_.low);
    const long double upward = head().direction == Direction::clockwise ? -factor : factor;
    for (std::size_t axis = 0; axis < place.coordinates.size(); ++axis) {
      const std::int64_t count = counted(oracle_.encoding(), static_cast<std::int64_t>(axis), place.coordinates[axis]);
      fast_.place(axis, count, row_);
      for (const std::size_t i : fast_.list[axis].pairs) {
        const double angle = fast_.frequencies[i] * static_cast<double>(count);
        turns[i] = {factor * (static_cast<long double>(row_.cos_high[i]) + static_cast<long double>(row_.cos_low[i])),
                    upward * (static_cast<long double>(row_.sin_high[i]) + static_cast<long double>(row_.sin_low[i])),
                    std::fabs(factor_.high),
                    pair_ulps(budget_),
                    std::min(budget_.quick_angle_error(angle, static_cast<std::int64_t>(i)), 2.0) * (1 + 0x1p-40),
                    0};
      }
    }
  }

  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const RealPair& x, Precision precision) override {
    const reference::Rotation& turn = oracle_.rotation(place.coordinates, pair, place.length, precision);
    const Enclosure& factor = oracle_.attention_factor(precision);
    const RealPair y = reference::RopeReference::rotate(turn, x);
    const Enclosure norm = factor * hypot(x.first, x.second);
    return {{factor * y.first, factor * y.second}, norm, budget_.pair_bound(norm, turn.angle, pair)};
  }

  PairBounds bounds(const VectorPlace& place, std::int64_t pair, const RealPair& x, Precision precision) override {
    const Enclosure norm = oracle_.attention_factor(precision) * hypot(x.first, x.second);
    const Enclosure& angle = oracle_.rotation(place.coordinates, pair, place.length, precision).angle;
    return {own_.pair_bound(norm, angle, pair), budget_.norm_bound(norm), budget_.norm_bound(norm)};
  }

  Enclosure of_two_turns(Precision precision) override { return oracle_.attention_factor(precision); }

  long double stretch(const VectorPlace&, std::int64_t) override { return stretch_of(factor_); }

  double least_bound(const VectorPlace& place, std::int64_t pair, double length) override {
    at_length(place.length);
    const double angle = fast_.frequencies[static_cast<std::size_t>(pair)] * count_of(oracle_, place.coordinates, pair);
    return budget_.component_bound(std::fabs(factor_.high) * length, angle, pair).lower;
  }
  double least_evaluation(const VectorPlace&, std::int64_t, double length) override {
    return budget_.least_norm_bound(std::fabs(factor_.high) * length);
  }

 private:
  // Where the frequencies depend on the length, those of the last are kept.
  void at_length(std::int64_t length) {
    if (length_limit(head().rope_scaling) && fast_.length != length) fast_ = FastAxes(oracle_, length);
  }

  reference::RopeNdReference oracle_;
  ErrorBudget budget_;
  ErrorBudget own_;
  DoubleDoubleWithin factor_;
  FastAxes fast_;
  reference::RotationRow row_;
};

class AxialModel final : public ScaledRotationModel {
 public:
  AxialModel(const Spec& spec, const RopeNd& encoding)
      : ScaledRotationModel(spec, encoding.rope, ladders_of(encoding)), encoding_(encoding) {}

  std::vector<Question> first_questions() const override {
    std::vector<Question> questions = EncodingModel::first_questions();
    for (const Question& question : ScaledRotationModel::first_questions()) questions.push_back(question);
    return questions;
  }

  std::vector<Variant> variants() const override {
    Variants<RopeNd> list(spec());
    add_rope_variants<RopeNd>(list, [](RopeNd& e) -> Rope& { return e.rope; });
    // One pair goes from the longest section to the last axis, or to a new one.
    list.with("sections", [](RopeNd& e) {
      const auto longest = std::ranges::max_element(e.sections);
      if (longest + 1 == e.sections.end()) e.sections.push_back(0);
      --*std::ranges::max_element(e.sections);
      ++e.sections.back();
    });
    list.with("section_order", [](RopeNd& e) {
      e.section_order = e.section_order == SectionOrder::blocked ? SectionOrder::interleaved : SectionOrder::blocked;
    });
    list.with("axis_order", [](RopeNd& e) {
      e.axis_order = order_of_axes(e);
      std::ranges::rotate(e.axis_order, e.axis_order.begin() + 1);
    });
    list.with("pairing_scope", [](RopeNd& e) { e.rope.parts = e.rope.parts == 1 ? axes(e) : 1; });
    list.with("extents", [](RopeNd& e) {
      for (std::int64_t& extent : e.extents) extent += 3;
    });
    list.with("coordinates", [](RopeNd& e) {
      if (e.coordinates == Coordinates::index) return;
      e.coordinates = Coordinates::index;
      e.extents.clear();
    });
    list.with("frequencies", [](RopeNd& e) {
      e.frequencies = e.frequencies == AxisFrequencies::shared ? AxisFrequencies::per_axis : AxisFrequencies::shared;
      e.rope_thetas.clear();
    });
    list.with("rope_thetas", [](RopeNd& e) {
      if (e.rope_thetas.empty()) e.rope_thetas.assign(e.sections.size(), e.rope.rope_theta);
      e.rope_thetas.back() = e.rope_thetas.back() * 3 + 7;
    });
    return list.made();
  }

  std::unique_ptr<TurningOracle> turning() const override { return std::make_unique<AxialTurning>(spec(), encoding_); }

 private:
  std::unique_ptr<RotationJudge> rotation_judge() const override {
    return std::make_unique<AxialJudge>(spec(), encoding_);
  }
  RopeNd encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const RopeNd& encoding) {
  return std::make_unique<AxialModel>(spec, encoding);
}

}  // namespace sextant
