#include <fmt/format.h>

#include "properties/model/models.hpp"
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

  bool is_representable(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x) override {
    return oracle_.at(place[0], pair, x, reference::first_precision).representable;
  }

  XposBudget oracle_;
};

Xpos in_role(Xpos encoding, Role role) {
  encoding.role = role;
  return encoding;
}

// Queries as queries and keys as keys, whatever role the spec names.
class XposTurning final : public TurningOracle {
 public:
  XposTurning(const Spec& spec, const Xpos& encoding)
      : TurningOracle(encoding.rope),
        query_(in_role(encoding, Role::query), spec.dtype, spec.accuracy, spec.max_position),
        key_(in_role(encoding, Role::key), spec.dtype, spec.accuracy, spec.max_position) {}

  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const RealPair& x, Precision precision) override {
    XposBudget::Pair turned = (place.role == Role::query ? query_ : key_).at(place.coordinates[0], pair, x, precision);
    return {std::move(turned.value), std::move(turned.norm), std::move(turned.pair_bound)};
  }

 private:
  XposBudget query_;
  XposBudget key_;
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
