#include "reference/rope.hpp"

#include <algorithm>
#include <cmath>

#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/rope_pairs.hpp"
#include "properties/model/rotation_judge.hpp"
#include "properties/model/rotation_rows.hpp"
#include "properties/model/scaled_rotations.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

// The fast tier of a rotary encoding in calls of one length, with its frequencies in double.
struct FastRope {
  FastRope(reference::RopeReference& oracle, std::int64_t call_length)
      : length(call_length), rotations(oracle.fast(call_length)) {
    for (std::int64_t pair = 0; pair < pairs(oracle.encoding()); ++pair)
      frequencies.push_back(oracle.rotation(1, pair, call_length, reference::first_precision).angle.upper());
  }

  std::int64_t length;
  reference::FastRotations rotations;
  std::vector<double> frequencies;
};

class RopeJudge final : public RotationJudge {
 public:
  RopeJudge(const Spec& spec, const Rope& encoding)
      : RotationJudge(encoding, {arithmetic_of(spec), reference::RopeFrequencies(encoding), spec.max_position}),
        longest_(spec.max_position),
        oracle_(encoding),
        fast_(oracle_, 0),
        factors_(fast_.frequencies.size(),
                 DoubleDoubleWithin::of(oracle_.attention_factor(reference::first_precision))) {
    for (std::int64_t pair = 0; pair < pairs_count(); ++pair)
      longest_frequencies_.push_back(oracle_.angle(1, pair, longest_, reference::first_precision).lower());
  }

 private:
  void each_token(const Call& call, const std::function<void(std::size_t, const PairsAt&)>& visit) override {
    const std::int64_t batch = call.vectors[0].shape[0];
    if (length_scope(head().rope_scaling) == LengthScope::call) {
      visit_tokens(call.positions, 0, visit);
      return;
    }
    const std::size_t tokens = call.positions.size() / static_cast<std::size_t>(std::max<std::int64_t>(batch, 1));
    for (std::size_t first = 0; first < call.positions.size(); first += tokens)
      visit_tokens(std::span(call.positions).subspan(first, tokens), first, visit);
  }

  // Of tokens that have one length, from number `first` of the call on.
  void visit_tokens(std::span<const std::int64_t> positions, std::size_t first,
                    const std::function<void(std::size_t, const PairsAt&)>& visit) {
    length_ = reference::sequence_length(positions);
    // Where the frequencies depend on the length, those of the last are kept.
    if (length_limit(head().rope_scaling) && fast_.length != length_) fast_ = FastRope(oracle_, length_);
    PairsAt at{.scales = factors_, .angles = fast_.frequencies};
    each_rotation(fast_.rotations, positions, [&](std::size_t token, const reference::RotationRow& row) {
      at.rotations = &row;
      const auto position = static_cast<double>(positions[token]);
      std::ranges::transform(fast_.frequencies, at.angles.begin(), [&](double w) { return w * position; });
      visit(first + token, at);
    });
  }

  Expected expected(std::span<const std::int64_t> place, std::int64_t pair, const reference::RealPair& x,
                    Precision precision) override {
    const reference::Rotation& rotation = oracle_.rotation(place[0], pair, length_, precision);
    const Enclosure& factor = oracle_.attention_factor(precision);
    const reference::RealPair turned = reference::RopeReference::rotate(rotation, x);
    const Enclosure norm = factor * hypot(x.first, x.second);
    return {{factor * turned.first, factor * turned.second}, budget().component_bound(norm, rotation.angle, pair)};
  }

  Allowance allowance(std::span<const std::int64_t> place, std::int64_t pair, const reference::RealPair& x,
                      Precision precision) override {
    const Enclosure norm = oracle_.attention_factor(precision) * hypot(x.first, x.second);
    return {budget().pair_bound(norm, oracle_.angle(place[0], pair, longest_, precision), pair), norm};
  }

  double least_bound(std::span<const std::int64_t> place, std::int64_t pair, double length) override {
    const double angle = longest_frequencies_[static_cast<std::size_t>(pair)] * static_cast<double>(place[0]);
    return budget().least_pair_bound(std::fabs(factors_.front().high) * length, angle, pair);
  }

  std::int64_t longest_;
  reference::RopeReference oracle_;
  FastRope fast_;
  std::vector<DoubleDoubleWithin> factors_;  // the attention factor, for each pair
  std::vector<double> longest_frequencies_;  // in calls of that length
  std::int64_t length_ = 0;                  // of what is judged
};

class RopeTurning final : public TurningOracle {
 public:
  RopeTurning(const Spec& spec, const Rope& encoding)
      : TurningOracle(encoding),
        oracle_(encoding),
        budget_(arithmetic_of(spec), oracle_.frequencies(), spec.max_position),
        own_(budget_.of_own_frequencies()),
        factor_(DoubleDoubleWithin::of(oracle_.attention_factor(reference::first_precision))),
        fast_(oracle_, 0),
        row_(fast_.rotations.make_row()) {}

  void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) override {
    at_length(place.length);
    const std::int64_t position = place.coordinates[0];
    fast_.rotations.at(position, row_);
    const auto factor = static_cast<long double>(factor_.high) + static_cast<long double>(factor_.low);
    const long double upward = head().direction == Direction::clockwise ? -factor : factor;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const double angle = fast_.frequencies[i] * static_cast<double>(position);
      turns[i] = {factor * (static_cast<long double>(row_.cos_high[i]) + static_cast<long double>(row_.cos_low[i])),
                  upward * (static_cast<long double>(row_.sin_high[i]) + static_cast<long double>(row_.sin_low[i])),
                  std::fabs(factor_.high),
                  pair_ulps(budget_),
                  std::min(budget_.quick_angle_error(angle, static_cast<std::int64_t>(i)), 2.0) * (1 + 0x1p-40),
                  0};
    }
  }

  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                    Precision precision) override {
    const reference::Rotation& rotation = oracle_.rotation(place.coordinates[0], pair, place.length, precision);
    const Enclosure& factor = oracle_.attention_factor(precision);
    const reference::RealPair y = reference::RopeReference::rotate(rotation, x);
    const Enclosure norm = factor * hypot(x.first, x.second);
    return {{factor * y.first, factor * y.second}, norm, budget_.pair_bound(norm, rotation.angle, pair)};
  }

  PairBounds bounds(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                    Precision precision) override {
    const Enclosure norm = oracle_.attention_factor(precision) * hypot(x.first, x.second);
    const Enclosure angle = oracle_.angle(place.coordinates[0], pair, place.length, precision);
    return {own_.pair_bound(norm, angle, pair), budget_.norm_bound(norm), budget_.norm_bound(norm)};
  }

  Enclosure of_two_turns(Precision precision) override { return oracle_.attention_factor(precision); }

  long double stretch(const VectorPlace&, std::int64_t) override { return stretch_of(factor_); }

  double least_bound(const VectorPlace& place, std::int64_t pair, double length) override {
    at_length(place.length);
    const double angle = fast_.frequencies[static_cast<std::size_t>(pair)] * static_cast<double>(place.coordinates[0]);
    return budget_.component_bound(std::fabs(factor_.high) * length, angle, pair).lower;
  }
  double least_evaluation(const VectorPlace&, std::int64_t, double length) override {
    return budget_.least_norm_bound(std::fabs(factor_.high) * length);
  }

 private:
  // Where the frequencies depend on the length, those of the last are kept.
  void at_length(std::int64_t length) {
    if (length_limit(head().rope_scaling) && fast_.length != length) fast_ = FastRope(oracle_, length);
  }

  reference::RopeReference oracle_;
  ErrorBudget budget_;
  ErrorBudget own_;
  DoubleDoubleWithin factor_;
  FastRope fast_;
  reference::RotationRow row_;
};

class RopeModel final : public ScaledRotationModel {
 public:
  RopeModel(const Spec& spec, const Rope& encoding)
      : ScaledRotationModel(spec, encoding, ladders_of(encoding)), encoding_(encoding) {}

  std::vector<Variant> variants() const override {
    Variants<Rope> list(spec());
    add_rope_variants<Rope>(list, [](Rope& e) -> Rope& { return e; });
    return list.made();
  }

  std::vector<Variant> siblings() const override {
    Variants<Rope> list(spec(), variants());
    list.with("head_dim", [](Rope& e) {
      if (e.rotary_dim == e.head_dim) e.rotary_dim *= 2;
      e.head_dim *= 2;
    });
    return list.made();
  }

  rc::Gen<Question> drawn_questions() const override {
    // Extents that mostly differ from each other: equal ones hide swapped axes.
    const auto parts = rc::gen::tuple(gen::position(range()), gen::one_of({1, 2, 3, 4, 7}), gen::one_of({1, 2, 3}),
                                      gen::one_of({1, 2, 5}), gen::count(0, 1000));
    const rc::Gen<Question> small = rc::gen::map(
        parts, [](const auto& drawn) { return std::apply([](auto... value) { return Question{value...}; }, drawn); });
    return of_many_shapes(small, range(),
                          {{most_rows, longest_drawn, most_heads}, values_of_call / encoding_.head_dim});
  }

  std::unique_ptr<TurningOracle> turning() const override { return std::make_unique<RopeTurning>(spec(), encoding_); }
  std::unique_ptr<EncodedPairs> encoded_pairs() const override { return make_rope_pairs(spec(), encoding_); }

 private:
  std::unique_ptr<RotationJudge> rotation_judge() const override {
    return std::make_unique<RopeJudge>(spec(), encoding_);
  }
  Tensor drawn(const gen::Extents& extents, std::int64_t fill) const override {
    return gen::vectors(encoding_, spec().dtype, extents, fill);
  }
  // The first drawing of gen::vectors, (1, 0) in every pair, is a question of its own.
  std::int64_t first_drawing() const override { return 0; }

  Rope encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Rope& encoding) {
  return std::make_unique<RopeModel>(spec, encoding);
}

}  // namespace sextant
