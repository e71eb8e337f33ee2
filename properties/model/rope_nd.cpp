#include "reference/rope_nd.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "properties/model/budget.hpp"
#include "properties/model/models.hpp"
#include "properties/model/rotation_judge.hpp"
#include "properties/model/rotations.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;
using reference::RealPair;

// In radians, within 2^-50 of themselves.
std::vector<double> frequencies_of(const reference::RopeNdReference& oracle) {
  reference::RopeFrequencies frequencies = oracle.frequencies();
  std::vector<double> list;
  for (std::int64_t pair = 0; pair < pairs(oracle.encoding()); ++pair)
    list.push_back(frequencies.radians(pair, 0, reference::first_precision).upper());
  return list;
}

// The pairs that one axis turns.
struct Axis {
  std::vector<std::size_t> pairs;
  reference::FastRotations rotations;
  reference::RotationRow row;              // of those pairs alone
  std::optional<std::int64_t> coordinate;  // where row stands
};

class AxialJudge final : public RotationJudge {
 public:
  AxialJudge(const Spec& spec, const RopeNd& encoding)
      : RotationJudge(along_diagonal(encoding),
                      {arithmetic_of(spec), reference::RopeNdReference(encoding).frequencies(), spec.max_position}),
        oracle_(encoding),
        axis_of_(axis_of_pairs(encoding)),
        frequencies_(frequencies_of(oracle_)),
        scales_(static_cast<std::size_t>(pairs(encoding)), DoubleDoubleWithin::exactly(1)) {
    reference::RopeFrequencies frequencies = oracle_.frequencies();
    std::vector<std::vector<std::size_t>> of_axes(static_cast<std::size_t>(axes(encoding)));
    std::size_t pair = 0;
    for (const std::int64_t axis : axis_of_) of_axes[static_cast<std::size_t>(axis)].push_back(pair++);
    for (std::vector<std::size_t>& own : of_axes) {
      auto rotations = reference::FastRotations::of(
          [&](std::int64_t i, Precision precision) {
            return frequencies.radians(static_cast<std::int64_t>(own[static_cast<std::size_t>(i)]), 0, precision);
          },
          std::ssize(own));
      auto row = rotations.make_row();
      axes_.push_back({std::move(own), std::move(rotations), std::move(row), std::nullopt});
    }
  }

 private:
  void each_token(const Call& call, const std::function<void(std::size_t, const PairsAt&)>& visit) override {
    const std::size_t tokens = call.positions.size() / axes_.size();
    const std::size_t pairs = frequencies_.size();
    reference::RotationRow row{std::vector<double>(pairs), std::vector<double>(pairs), std::vector<double>(pairs),
                               std::vector<double>(pairs)};
    PairsAt at{.rotations = &row, .scales = scales_, .angles = std::vector<double>(pairs)};
    for (Axis& axis : axes_) axis.coordinate.reset();
    for (std::size_t token = 0; token < tokens; ++token) {
      for (std::size_t a = 0; a < axes_.size(); ++a)
        place(axes_[a], call.positions[a * tokens + token], row, at.angles);
      visit(token, at);
    }
  }

  // Makes the axis's pairs those of one of its coordinates.
  void place(Axis& axis, std::int64_t coordinate, reference::RotationRow& row, std::vector<double>& angles) const {
    if (axis.coordinate == coordinate) return;
    axis.coordinate = coordinate;
    axis.rotations.at(coordinate, axis.row);
    for (std::size_t i = 0; i < axis.pairs.size(); ++i) {
      const std::size_t pair = axis.pairs[i];
      row.sin_high[pair] = axis.row.sin_high[i];
      row.sin_low[pair] = axis.row.sin_low[i];
      row.cos_high[pair] = axis.row.cos_high[i];
      row.cos_low[pair] = axis.row.cos_low[i];
      angles[pair] = frequencies_[pair] * static_cast<double>(coordinate);
    }
  }

  Expected expected(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                    Precision precision) override {
    const reference::Rotation& turn = oracle_.rotation(place, pair, precision);
    return {reference::RopeReference::rotate(turn, x),
            budget().component_bound(hypot(x.first, x.second), turn.angle, pair)};
  }

  Allowance allowance(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                      Precision precision) override {
    const Enclosure norm = hypot(x.first, x.second);
    return {budget().pair_bound(norm, oracle_.rotation(place, pair, precision).angle, pair), norm};
  }

  double least_bound(std::span<const std::int64_t> place, std::int64_t pair, double length) override {
    const auto i = static_cast<std::size_t>(pair);
    const auto coordinate = static_cast<double>(place[static_cast<std::size_t>(axis_of_[i])]);
    return budget().least_pair_bound(length, frequencies_[i] * coordinate, pair);
  }

  reference::RopeNdReference oracle_;
  std::vector<std::int64_t> axis_of_;
  std::vector<double> frequencies_;
  std::vector<DoubleDoubleWithin> scales_;
  std::vector<Axis> axes_;
};

class AxialTurning final : public TurningOracle {
 public:
  AxialTurning(const Spec& spec, const RopeNd& encoding)
      : TurningOracle(along_diagonal(encoding)),
        oracle_(encoding),
        axis_of_(axis_of_pairs(encoding)),
        budget_(arithmetic_of(spec), oracle_.frequencies(), spec.max_position),
        own_(budget_.of_own_frequencies()),
        frequencies_(frequencies_of(oracle_)),
        fast_(reference::RopeReference(along_diagonal(encoding)).fast(0)),
        row_(fast_.make_row()) {}

  // Pairs of one axis have their coordinate from it, and the others their own.
  void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) override {
    for (std::size_t axis = 0; axis < place.coordinates.size(); ++axis) {
      const std::int64_t position = place.coordinates[axis];
      fast_.at(position, row_);
      for (std::size_t i = 0; i < turns.size(); ++i) {
        if (axis_of_[i] != static_cast<std::int64_t>(axis)) continue;
        const double error =
            budget_.quick_angle_error(frequencies_[i] * static_cast<double>(position), static_cast<std::int64_t>(i));
        turns[i] = {static_cast<long double>(row_.cos_high[i]) + static_cast<long double>(row_.cos_low[i]),
                    static_cast<long double>(row_.sin_high[i]) + static_cast<long double>(row_.sin_low[i]),
                    1,
                    pair_ulps(budget_),
                    std::min(error, 2.0) * (1 + 0x1p-40),
                    0};
      }
    }
  }

  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const RealPair& x, Precision precision) override {
    const reference::Rotation& turn = oracle_.rotation(place.coordinates, pair, precision);
    const Enclosure norm = hypot(x.first, x.second);
    return {reference::RopeReference::rotate(turn, x), norm, budget_.pair_bound(norm, turn.angle, pair)};
  }

  PairBounds bounds(const VectorPlace& place, std::int64_t pair, const RealPair& x, Precision precision) override {
    const Enclosure norm = hypot(x.first, x.second);
    const Enclosure& angle = oracle_.rotation(place.coordinates, pair, precision).angle;
    return {own_.pair_bound(norm, angle, pair), budget_.norm_bound(norm), budget_.norm_bound(norm)};
  }

  long double stretch(const VectorPlace&, std::int64_t) override { return 1; }

  double least_bound(const VectorPlace& place, std::int64_t pair, double length) override {
    const auto i = static_cast<std::size_t>(pair);
    const auto coordinate = static_cast<double>(place.coordinates[static_cast<std::size_t>(axis_of_[i])]);
    return budget_.component_bound(length, frequencies_[i] * coordinate, pair).lower;
  }
  double least_evaluation(const VectorPlace&, std::int64_t, double length) override {
    return budget_.least_norm_bound(length);
  }

 private:
  reference::RopeNdReference oracle_;
  std::vector<std::int64_t> axis_of_;
  ErrorBudget budget_;
  ErrorBudget own_;
  std::vector<double> frequencies_;
  reference::FastRotations fast_;
  reference::RotationRow row_;
};

class AxialModel final : public RotationModel {
 public:
  AxialModel(const Spec& spec, const RopeNd& encoding) : RotationModel(spec, encoding.head_dim), encoding_(encoding) {}

  std::vector<Variant> variants() const override {
    Variants<RopeNd> list(spec());
    list.with("rope_theta", [](RopeNd& e) { e.rope_theta = e.rope_theta * 3 + 7; });
    list.with("pairing", [](RopeNd& e) { e.pairing = other(e.pairing); });
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
