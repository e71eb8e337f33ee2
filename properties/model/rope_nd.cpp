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

  reference::RopeNdReference oracle_;
  ErrorBudget budget_;
};

class AxialTurning final : public TurningOracle {
 public:
  AxialTurning(const Spec& spec, const RopeNd& encoding)
      : TurningOracle(along_diagonal(encoding)),
        oracle_(encoding),
        budget_(spec.accuracy, spec.dtype, oracle_.frequencies(), spec.max_position) {}

  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const RealPair& x, Precision precision) override {
    const reference::Rotation& turn = oracle_.rotation(place.coordinates, pair, precision);
    const Enclosure norm = hypot(x.first, x.second);
    return {reference::RopeReference::rotate(turn, x), norm, budget_.pair_bound(norm, turn.angle, pair)};
  }

 private:
  reference::RopeNdReference oracle_;
  ErrorBudget budget_;
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
