#include "reference/rope.hpp"
#include "properties/gen/draw.hpp"

#include <algorithm>
#include <cmath>

#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/rope_pairs.hpp"
#include "properties/model/rotation_rows.hpp"
#include "properties/model/scaled_rotations.hpp"
#include "properties/model/scaled_turns.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;

// As scaled_turns.hpp asks.
class RopeTurns {
 public:
  explicit RopeTurns(const Rope& encoding) : oracle_(encoding), rotations_(oracle_.fast(0)) { find_frequencies(); }

  const Rope& head() const { return oracle_.encoding(); }
  const std::vector<double>& frequencies() const { return frequencies_; }
  const reference::FastRotations& rotations() const { return rotations_; }

  // Where the frequencies depend on the length, those of the last are kept.
  void set_length(std::int64_t length) {
    if (!length_limit(head().rope_scaling) || length_ == length) return;
    length_ = length;
    rotations_ = oracle_.fast(length);
    find_frequencies();
  }

  std::int64_t coordinate(CoordinatesAt place, std::int64_t) const { return place[0]; }
  double count(CoordinatesAt place, std::int64_t) const { return static_cast<double>(place[0]); }
  void turn_to(CoordinatesAt place, reference::RotationRow& row) const { rotations_.at(place[0], row); }
  reference::RotationRow make_row() const { return rotations_.make_row(); }

  const reference::Rotation& rotation(CoordinatesAt place, std::int64_t pair, std::int64_t length,
                                      Precision precision) {
    return oracle_.rotation(place[0], pair, length, precision);
  }
  Enclosure angle(CoordinatesAt place, std::int64_t pair, std::int64_t length, Precision precision) {
    return oracle_.angle(place[0], pair, length, precision);
  }
  const Enclosure& attention_factor(std::int64_t length, Precision precision) {
    return oracle_.attention_factor(length, precision);
  }
  ErrorBudget budget(const ArithmeticClaim& claim, std::int64_t longest) const {
    return {claim, oracle_.frequencies(), longest};
  }

 private:
  void find_frequencies() {
    frequencies_.clear();
    for (std::int64_t pair = 0; pair < pairs(head()); ++pair)
      frequencies_.push_back(oracle_.angle(1, pair, length_, reference::first_precision).upper());
  }

  reference::RopeReference oracle_;
  std::int64_t length_ = 0;
  reference::FastRotations rotations_;
  std::vector<double> frequencies_;
};

class RopeJudge final : public ScaledJudge<RopeTurns> {
 public:
  RopeJudge(const Spec& spec, const Rope& encoding) : ScaledJudge(spec, RopeTurns(encoding)) {}

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
    take_length(reference::sequence_length(positions));
    const std::vector<double>& frequencies = turns().frequencies();
    PairsAt at{.scales = factors(), .angles = frequencies};
    each_rotation(turns().rotations(), positions, [&](std::size_t token, const reference::RotationRow& row) {
      at.rotations = &row;
      const auto position = static_cast<double>(positions[token]);
      std::ranges::transform(frequencies, at.angles.begin(), [&](double w) { return w * position; });
      visit(first + token, at);
    });
  }
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
    add_wider_heads<Rope>(list, [](Rope& e) -> Rope& { return e; });
    return list.made();
  }

  rc::Gen<Question> drawn_questions() const override {
    // Extents that mostly differ from each other: equal ones hide swapped axes.
    const auto parts = gen::tuple(gen::position(range()), gen::one_of({1, 2, 3, 4, 7}), gen::one_of({1, 2, 3}),
                                  gen::one_of({1, 2, 5}), gen::count(0, 1000));
    const rc::Gen<Question> small = gen::map(
        parts, [](const auto& drawn) { return std::apply([](auto... value) { return Question{value...}; }, drawn); });
    return of_many_shapes(small, range(),
                          {{most_rows, longest_drawn, most_heads}, values_of_call / encoding_.head_dim});
  }

  std::unique_ptr<TurningOracle> turning() const override {
    return std::make_unique<ScaledTurning<RopeTurns>>(spec(), RopeTurns(encoding_));
  }
  std::unique_ptr<EncodedPairs> encoded_pairs() const override {
    return pairs(encoding_) == 0 ? nullptr : make_rope_pairs(spec(), encoding_);
  }

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
