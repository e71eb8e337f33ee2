#include "reference/rope_nd.hpp"

#include <algorithm>

#include "properties/model/budget.hpp"
#include "properties/model/models.hpp"
#include "properties/model/rotations.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;
using reference::RealPair;

class AxialJudge final : public ExactRotationJudge {
 public:
  AxialJudge(const Spec& spec, const RopeNd& encoding)
      : ExactRotationJudge(along_diagonal(encoding)),
        oracle_(encoding),
        budget_(spec.accuracy, spec.dtype, oracle_.frequencies(), spec.max_position) {}

 private:
  Expected expected(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                    Precision precision) override {
    const reference::Rotation& turn = oracle_.rotation(place, pair, precision);
    const Enclosure norm = hypot(x.first, x.second);
    return {reference::RopeReference::rotate(turn, x), budget_.component_bound(norm, turn.angle, pair), norm};
  }

  Allowance allowance(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                      Precision precision) override {
    const Enclosure norm = hypot(x.first, x.second);
    return {budget_.pair_bound(norm, oracle_.rotation(place, pair, precision).angle, pair), norm};
  }

  double least_bound(std::span<const std::int64_t>, std::int64_t, double length) override {
    return least_pair_bound(budget_, length);
  }

  reference::RopeNdReference oracle_;
  ErrorBudget budget_;
};

class AxialTurning final : public TurningOracle {
 public:
  AxialTurning(const Spec& spec, const RopeNd& encoding)
      : TurningOracle(along_diagonal(encoding)),
        oracle_(encoding),
        budget_(spec.accuracy, spec.dtype, oracle_.frequencies(), spec.max_position),
        axis_of_pairs_(axis_of_pairs(encoding)),
        along_axis_(along_diagonal(encoding)),
        fast_(along_axis_.fast(0)),
        row_(fast_.make_row()) {
    for (std::size_t pair = 0; pair < axis_of_pairs_.size(); ++pair) {
      frequencies_.push_back(
          along_axis_.rotation(1, static_cast<std::int64_t>(pair), reference::first_precision).angle.upper());
    }
  }

  // Pairs of one axis have their coordinate from it, and the others their own.
  void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) override {
    for (std::size_t axis = 0; axis < place.coordinates.size(); ++axis) {
      const std::int64_t position = place.coordinates[axis];
      fast_.at(position, row_);
      for (std::size_t i = 0; i < turns.size(); ++i) {
        if (axis_of_pairs_[i] != static_cast<std::int64_t>(axis)) continue;
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

 private:
  reference::RopeNdReference oracle_;
  ErrorBudget budget_;
  std::vector<std::int64_t> axis_of_pairs_;
  reference::RopeReference along_axis_;
  reference::FastRotations fast_;
  reference::RotationRow row_;
  std::vector<double> frequencies_;
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

  std::unique_ptr<Judge> judge() const override { return std::make_unique<AxialJudge>(spec(), encoding_); }
  std::unique_ptr<TurningOracle> turning() const override { return std::make_unique<AxialTurning>(spec(), encoding_); }

 private:
  RopeNd encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const RopeNd& encoding) {
  return std::make_unique<AxialModel>(spec, encoding);
}

}  // namespace sextant
