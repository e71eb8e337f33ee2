#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "properties/model/models.hpp"
#include "properties/model/rotation_judge.hpp"
#include "properties/model/rotation_rows.hpp"
#include "properties/model/rotations.hpp"
#include "properties/model/scaled_rotations.hpp"
#include "properties/model/variants.hpp"
#include "properties/model/xpos_budget.hpp"

namespace sextant {
namespace {

using reference::Precision;
using reference::RealPair;

// Scales by what exponents count. A call whose centre is in its middle has counts of both signs by turns, and
// FastPowers keeps those of one.
class ScalesOfBothSigns {
 public:
  explicit ScalesOfBothSigns(const reference::XposReference& oracle)
      : from_centre_on_(oracle.fast_scales()), before_centre_(oracle.fast_scales()) {}

  std::span<const reference::DoubleDoubleWithin> at(std::int64_t count) {
    return (count < 0 ? before_centre_ : from_centre_on_).at(count);
  }

 private:
  reference::FastPowers from_centre_on_;
  reference::FastPowers before_centre_;
};

class XposJudge final : public RotationJudge {
 public:
  XposJudge(const Spec& spec, const Xpos& encoding)
      : XposJudge(encoding, XposBudget(encoding, arithmetic_of(spec), spec.max_position)) {}

 private:
  XposJudge(const Xpos& encoding, XposBudget budget)
      : RotationJudge(encoding.rope, budget.of_rotations()),
        oracle_(std::move(budget)),
        exact_(encoding),
        rotations_(exact_.fast_rotations()),
        scales_(exact_) {
    for (std::int64_t pair = 0; pair < pairs_count(); ++pair) {
      frequencies_.push_back(exact_.rotation(1, pair, reference::first_precision).angle.upper());
      log_steps_.push_back(exact_.log_step(pair, reference::first_precision).upper());
    }
  }

  void each_token(const Call& call, const std::function<void(std::size_t, const PairsAt&)>& visit) override {
    length_ = reference::sequence_length(call.positions);
    PairsAt at{.angles = frequencies_,
               .scale_errors = frequencies_,
               .least_scale_error = oracle_.least_scale_error(),
               .limit = oracle_.limit()};
    each_rotation(rotations_, call.positions, [&](std::size_t token, const reference::RotationRow& row) {
      const std::int64_t position = call.positions[token];
      const std::int64_t count = exact_.counted(position, length_);
      const auto distance = static_cast<double>(position);
      at.rotations = &row;
      at.scales = scales_.at(count);
      for (std::size_t pair = 0; pair < frequencies_.size(); ++pair) {
        at.angles[pair] = frequencies_[pair] * distance;
        at.scale_errors[pair] = oracle_.quick_scale_error(count, log_steps_[pair] * static_cast<double>(count));
      }
      visit(token, at);
    });
  }

  Expected expected(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                    Precision precision) override {
    XposBudget::Pair pair_at = oracle_.at({place[0], length_}, pair, x, precision);
    return {std::move(pair_at.value), std::move(pair_at.component_bound), pair_at.representable};
  }

  Allowance allowance(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                      Precision precision) override {
    XposBudget::Pair pair_at = oracle_.at({place[0], length_}, pair, x, precision);
    return {std::move(pair_at.pair_bound), std::move(pair_at.norm)};
  }

  double least_bound(std::span<const std::int64_t> place, std::int64_t pair, double length) override {
    const auto i = static_cast<std::size_t>(pair);
    return budget().least_pair_bound(scales_.at(exact_.counted(place[0], length_))[i].high * length,
                                     frequencies_[i] * static_cast<double>(place[0]), pair);
  }

  bool is_representable(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x) override {
    return oracle_.at({place[0], length_}, pair, x, reference::first_precision).representable;
  }

  XposBudget oracle_;
  reference::XposReference exact_;
  reference::FastRotations rotations_;
  ScalesOfBothSigns scales_;
  std::vector<double> frequencies_;
  std::vector<double> log_steps_;  // ln(scale) at a count of 1
  std::int64_t length_ = 0;        // of what is judged
};

Xpos in_role(Xpos encoding, Role role) {
  encoding.role = role;
  return encoding;
}

// One side of the score, with what quick bounds need of it.
struct Side {
  Side(const Spec& spec, const Xpos& encoding)
      : budget(encoding, arithmetic_of(spec), spec.max_position), scales(reference::XposReference(encoding)) {}

  XposBudget budget;
  ScalesOfBothSigns scales;
};

// Queries as queries and keys as keys, whatever role the spec names.
class XposTurning final : public TurningOracle {
 public:
  XposTurning(const Spec& spec, const Xpos& encoding)
      : TurningOracle(encoding.rope),
        role_(encoding.role),
        query_(spec, in_role(encoding, Role::query)),
        key_(spec, in_role(encoding, Role::key)),
        rope_(encoding.rope),
        fast_(rope_.fast(0)),
        row_(fast_.make_row()) {
    for (std::int64_t pair = 0; pair < pairs(encoding.rope); ++pair)
      frequencies_.push_back(std::fabs(rope_.rotation(1, pair, reference::first_precision).angle.upper()));
  }

  Role role() const override { return role_; }

  void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) override {
    const std::int64_t position = place.coordinates[0];
    const XposBudget& budget = side(place).budget;
    fast_.at(position, row_);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const auto pair = static_cast<std::int64_t>(i);
      const long double scale = stretch(place, pair);
      const long double upward = head().direction == Direction::clockwise ? -scale : scale;
      const double error =
          budget.of_rotations().quick_angle_error(frequencies_[i] * static_cast<double>(position), pair);
      const double of_scale = quick_scale_error(budget, place, static_cast<double>(scale));
      turns[i] = {scale * (static_cast<long double>(row_.cos_high[i]) + static_cast<long double>(row_.cos_low[i])),
                  upward * (static_cast<long double>(row_.sin_high[i]) + static_cast<long double>(row_.sin_low[i])),
                  static_cast<double>(scale),
                  pair_ulps(budget.of_rotations()),
                  (std::min(error, 2.0) + of_scale) * (1 + 0x1p-40),
                  budget.least_scale_error()};
    }
  }

  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const RealPair& x, Precision precision) override {
    XposBudget::Pair turned = side(place).budget.at(where(place), pair, x, precision);
    return {std::move(turned.value), std::move(turned.norm), std::move(turned.pair_bound)};
  }

  PairBounds bounds(const VectorPlace& place, std::int64_t pair, const RealPair& x, Precision precision) override {
    XposBudget::Pair turned = side(place).budget.at(where(place), pair, x, precision);
    return {std::move(turned.own_bound), std::move(turned.evaluation_bound), std::move(turned.norm_bound)};
  }

  bool is_representable(const VectorPlace& place, std::int64_t pair, double length) override {
    return std::max(norm_of(place, pair, 1), norm_of(place, pair, length)) < side(place).budget.limit() * (1 - 0x1p-40);
  }

  long double stretch(const VectorPlace& place, std::int64_t pair) override {
    Side& own = side(place);
    return stretch_of(own.scales.at(own.budget.counted(where(place)))[static_cast<std::size_t>(pair)]);
  }

  double least_bound(const VectorPlace& place, std::int64_t pair, double length) override {
    const double norm = norm_of(place, pair, length);
    const double angle = frequencies_[static_cast<std::size_t>(pair)] * static_cast<double>(place.coordinates[0]);
    return side(place).budget.of_rotations().component_bound(norm, angle, pair).lower + scaling(place, pair, norm);
  }
  double least_evaluation(const VectorPlace& place, std::int64_t pair, double length) override {
    return side(place).budget.of_rotations().least_norm_bound(norm_of(place, pair, length));
  }
  double least_norm_bound(const VectorPlace& place, std::int64_t pair, double length) override {
    const double norm = norm_of(place, pair, length);
    return side(place).budget.of_rotations().least_norm_bound(norm) + scaling(place, pair, norm);
  }

 private:
  static XposBudget::Place where(const VectorPlace& place) { return {place.coordinates[0], place.length}; }

  static double quick_scale_error(const XposBudget& budget, const VectorPlace& place, double scale) {
    return budget.quick_scale_error(budget.counted(where(place)), std::log(scale));
  }

  Side& side(const VectorPlace& place) { return place.role == Role::query ? query_ : key_; }

  double norm_of(const VectorPlace& place, std::int64_t pair, double length) {
    return static_cast<double>(stretch(place, pair)) * length;
  }

  // r N, or somewhat less; 0 where doubles cannot tell.
  double scaling(const VectorPlace& place, std::int64_t pair, double norm) {
    const double scale = static_cast<double>(stretch(place, pair));
    const double relative = quick_scale_error(side(place).budget, place, scale);
    return scale > 0x1p-900 && relative > 0 ? relative * norm * (1 - 0x1p-40) : 0;
  }

  Role role_;
  Side query_;
  Side key_;
  reference::RopeReference rope_;
  reference::FastRotations fast_;
  reference::RotationRow row_;
  std::vector<double> frequencies_;
};

class XposModel final : public RotationModel {
 public:
  XposModel(const Spec& spec, const Xpos& encoding)
      : RotationModel(spec, encoding.rope.head_dim), encoding_(encoding) {}

  std::vector<Variant> variants() const override {
    Variants<Xpos> list(spec());
    add_rope_variants<Xpos>(list, [](Xpos& e) -> Rope& { return e.rope; });
    list.with("scale_base", [](Xpos& e) { e.scale_base *= 2; });
    list.with("role", [](Xpos& e) { e.role = e.role == Role::query ? Role::key : Role::query; });
    list.with("centre", [](Xpos& e) {
      auto* centre = std::get_if<std::int64_t>(&e.centre);
      centre != nullptr ? * centre += 1 : e.centre = std::int64_t{0};
    });
    list.with("centre", [](Xpos& e) {
      if (const auto* half = std::get_if<HalfOfCall>(&e.centre))
        e.centre = *half == HalfOfCall::floor ? HalfOfCall::ceil : HalfOfCall::floor;
    });
    return list.made();
  }

  std::vector<Variant> siblings() const override {
    Variants<Xpos> list(spec(), variants());
    add_wider_heads<Xpos>(list, [](Xpos& e) -> Rope& { return e.rope; });
    return list.made();
  }

  std::optional<std::string> depends_on_length() const override {
    if (std::holds_alternative<std::int64_t>(encoding_.centre)) return std::nullopt;
    return "depends on the length of the call: its half is the centre that powers count from";
  }

  std::unique_ptr<TurningOracle> turning() const override { return std::make_unique<XposTurning>(spec(), encoding_); }

  std::optional<std::string> not_judged_in_attention() const override {
    if (is_representable(encoding_, spec())) return std::nullopt;
    return fmt::format("{} cannot hold xpos's scales up to position {}", name_of(spec().dtype),
                       spec().max_position - 1);
  }

 private:
  std::unique_ptr<RotationJudge> rotation_judge() const override {
    return std::make_unique<XposJudge>(spec(), encoding_);
  }
  Xpos encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Xpos& encoding) {
  return std::make_unique<XposModel>(spec, encoding);
}

}  // namespace sextant
