#include <fmt/format.h>

#include "lib/numeric/ulp.hpp"
#include "properties/model/models.hpp"
#include "properties/model/quick_exponential.hpp"
#include "properties/model/rotations.hpp"
#include "properties/model/variants.hpp"
#include "properties/model/xpos_budget.hpp"

namespace sextant {
namespace {

using reference::Precision;
using reference::RealPair;

class XposJudge final : public ExactRotationJudge {
 public:
  XposJudge(const Spec& spec, const Xpos& encoding)
      : ExactRotationJudge(encoding.rope), oracle_(encoding, spec.dtype, spec.accuracy, spec.max_position) {}

 private:
  Expected expected(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                    Precision precision) override {
    XposBudget::Pair pair_at = oracle_.at(place[0], pair, x, precision);
    return {std::move(pair_at.value), std::move(pair_at.component_bound), std::move(pair_at.norm),
            pair_at.representable};
  }

  Allowance allowance(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                      Precision precision) override {
    XposBudget::Pair pair_at = oracle_.at(place[0], pair, x, precision);
    return {std::move(pair_at.pair_bound), std::move(pair_at.norm)};
  }

  double least_bound(std::span<const std::int64_t> place, std::int64_t pair, double length) override {
    return least_pair_bound(oracle_.rotation_budget(), length * oracle_.quick_scale(place[0], pair) * (1 - 0x1p-30));
  }

  bool is_representable(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x) override {
    return oracle_.at(place[0], pair, x, reference::first_precision).representable;
  }

  XposBudget oracle_;
};

Xpos in_role(Xpos encoding, Role role) {
  encoding.role = role;
  return encoding;
}

// s = e^(p slope), |slope| = |ln zeta| / scale_base, and r of xpos_budget.hpp.
struct QuickScale {
  long double factor;  // within 2^-60
  double relative;
};

class QuickScales {
 public:
  QuickScales(const Xpos& encoding, AccuracyClass accuracy)
      : scale_base_(encoding.scale_base), roundoff_(angle_roundoff(accuracy)) {
    const reference::XposReference oracle(in_role(encoding, Role::query));
    for (std::int64_t pair = 0; pair < pairs(encoding.rope); ++pair)
      slopes_.push_back(reference::DoubleDoubleWithin::of(log(oracle.scale(1, pair, reference::first_precision))));
  }

  QuickScale at(std::int64_t position, std::size_t pair, Role role) const {
    // A power of zeta < 1 is at most 1 in one role, and the inverse in the other: e^-|x|, x = high + low.
    const auto factor = reference::DoubleDoubleWithin::exactly(static_cast<double>(position)) * slopes_[pair];
    const bool falls = (factor.high < 0) == (role == Role::query);
    const auto high = static_cast<long double>(std::fabs(factor.high));
    const auto low = static_cast<long double>(factor.high < 0 ? -factor.low : factor.low);
    const long double power = quick_exponential(-high) * (1 - low);
    const double exponent = std::fabs(static_cast<double>(position)) / scale_base_;
    const double total = (3 + 4 * exponent + std::fabs(factor.high)) * roundoff_ * (1 + 0x1p-40);
    return {falls ? power : 1 / power, total < 0.5 ? total / (1 - total) : 1e9};
  }

 private:
  double scale_base_;
  double roundoff_;
  std::vector<reference::DoubleDoubleWithin> slopes_;
};

// Queries as queries and keys as keys, whatever role the spec names.
class XposTurning final : public TurningOracle {
 public:
  XposTurning(const Spec& spec, const Xpos& encoding)
      : TurningOracle(encoding.rope),
        query_(in_role(encoding, Role::query), spec.dtype, spec.accuracy, spec.max_position),
        key_(in_role(encoding, Role::key), spec.dtype, spec.accuracy, spec.max_position),
        scales_(encoding, spec.accuracy),
        rope_(encoding.rope),
        fast_(rope_.fast(0)),
        row_(fast_.make_row()),
        least_(ulp(spec.dtype, 0)) {
    for (std::int64_t pair = 0; pair < pairs(encoding.rope); ++pair)
      frequencies_.push_back(std::fabs(rope_.rotation(1, pair, reference::first_precision).angle.upper()));
  }

  void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) override {
    const std::int64_t position = place.coordinates[0];
    fast_.at(position, row_);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const QuickScale scale = scales_.at(position, i, place.role);
      const long double upward = head().direction == Direction::clockwise ? -scale.factor : scale.factor;
      const ErrorBudget& budget = query_.rotation_budget();
      const double error =
          budget.quick_angle_error(frequencies_[i] * static_cast<double>(position), static_cast<std::int64_t>(i));
      turns[i] = {
          scale.factor * (static_cast<long double>(row_.cos_high[i]) + static_cast<long double>(row_.cos_low[i])),
          upward * (static_cast<long double>(row_.sin_high[i]) + static_cast<long double>(row_.sin_low[i])),
          static_cast<double>(scale.factor),
          pair_ulps(budget),
          (std::min(error, 2.0) + scale.relative) * (1 + 0x1p-40),
          least_};
    }
  }

  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const RealPair& x, Precision precision) override {
    XposBudget::Pair turned = (place.role == Role::query ? query_ : key_).at(place.coordinates[0], pair, x, precision);
    return {std::move(turned.value), std::move(turned.norm), std::move(turned.pair_bound)};
  }

 private:
  XposBudget query_;
  XposBudget key_;
  QuickScales scales_;
  reference::RopeReference rope_;
  reference::FastRotations fast_;
  reference::RotationRow row_;
  double least_;
  std::vector<double> frequencies_;
};

class XposModel final : public RotationModel {
 public:
  XposModel(const Spec& spec, const Xpos& encoding)
      : RotationModel(spec, encoding.rope.head_dim), encoding_(encoding) {}

  std::vector<Variant> variants() const override {
    Variants<Xpos> list(spec());
    list.with("rope_theta", [](Xpos& e) { e.rope.rope_theta = e.rope.rope_theta * 3 + 7; });
    list.with("pairing", [](Xpos& e) { e.rope.pairing = e.rope.output_pairing = other(e.rope.pairing); });
    list.with("direction", [](Xpos& e) { e.rope.direction = other(e.rope.direction); });
    list.with("scale_base", [](Xpos& e) { e.scale_base *= 2; });
    list.with("role", [](Xpos& e) { e.role = e.role == Role::query ? Role::key : Role::query; });
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<XposJudge>(spec(), encoding_); }
  std::unique_ptr<TurningOracle> turning() const override { return std::make_unique<XposTurning>(spec(), encoding_); }

  std::optional<std::string> not_judged_in_attention() const override {
    if (is_representable(encoding_, spec())) return std::nullopt;
    return fmt::format("{} cannot hold xpos's scales up to position {}", name_of(spec().dtype),
                       spec().max_position - 1);
  }

 private:
  Xpos encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Xpos& encoding) {
  return std::make_unique<XposModel>(spec, encoding);
}

}  // namespace sextant
