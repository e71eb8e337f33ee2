#include "reference/rope.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/floats.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/rope_pairs.hpp"
#include "properties/model/rotation_rows.hpp"
#include "properties/model/rotations.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/value_judge.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

// x of every magnitude, where the claim still holds on hardware that flushes subnormal products to zero: zeros, and
// sizes from 2^10 above the normal numbers' last place to an eighth of the largest value, where no rotation overflows
// and a square does.
Tensor of_every_magnitude(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill) {
  constexpr std::array classes{gen::FloatClass::zero, gen::FloatClass::huge, gen::FloatClass::normal,
                               gen::FloatClass::beside_power_of_two};
  const Format format = format_of(dtype);
  const double least = std::ldexp(1.0, std::min(format.min_exponent + format.precision + 10, format.max_exponent - 6));
  Tensor x = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::uint64_t word = gen::word(fill, i);
    const double value =
        gen::from_bits(dtype, gen::float_in(dtype, classes[word % classes.size()], gen::word(fill + 1, i)));
    x.set(i, value == 0 ? value : std::copysign(std::clamp(std::fabs(value), least, largest_finite(dtype) / 8), value));
  }
  return x;
}

// fill is the one field that only says which values: those from here on are of every magnitude.
constexpr std::int64_t every_magnitude = 900;

// Channels that no frequency turns carry their input's value. The sign of zero is not part of it (rope/untouched.cpp):
// x * 1 + x' * 0, as honest code has it for such channels, makes +0 of -0. x holds no NaN here.
void judge_passthrough(Judgement& judgement, const std::vector<Passthrough>& channels, const Tensor& x, const Tensor& y,
                       std::int64_t start) {
  for (const Passthrough& channel : channels) {
    const double given = x.at(start + channel.input);
    const double got = y.at(start + channel.output);
    const bool same = got == given;
    const Deviation deviation =
        same ? Deviation{} : Deviation{not_finite().of_bound, std::fabs(got - given), ulp_error(x.dtype, got, given)};
    judgement.add(same ? Certainty::yes : Certainty::no, deviation, [&] {
      return fmt::format("channel {} is not rotated: got {}, expected {}", channel.output, value_text(x.dtype, got),
                         value_text(x.dtype, given));
    });
  }
}

// The fast tier of a rotary encoding in calls of one length, with what bounds need of it in double.
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
      : RotationJudge(encoding),
        longest_(spec.max_position),
        oracle_(encoding),
        budget_(spec.accuracy, spec.dtype, oracle_.frequencies(), spec.max_position),
        judge_(budget_),
        factor_(DoubleDoubleWithin::of(oracle_.attention_factor(reference::first_precision))),
        fast_(oracle_, 0) {
    for (std::int64_t pair = 0; pair < pairs_count(); ++pair) {
      const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
      const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
      turned_.push_back({static_cast<std::size_t>(from.first), static_cast<std::size_t>(from.second),
                         static_cast<std::size_t>(to.first), static_cast<std::size_t>(to.second)});
    }
  }

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const Tensor& x = call.vectors[0];
    length_ = reference::sequence_length(call.positions);
    // Where the frequencies depend on the length of the call, those of the last call are kept.
    if (length_limit(head().rope_scaling) && fast_.length != length_) fast_ = FastRope(oracle_, length_);
    each_rotation(fast_.rotations, call.positions, [&](std::size_t i, const reference::RotationRow& row) {
      const Token token{x, answer, static_cast<std::int64_t>(i), call.positions[i], row};
      judgement.place = token.position;
      const Screen screen(budget_, judgement, token.position);
      const bool passes =
          x.dtype == Dtype::float64 ? passes_by<long double>(screen, token) : passes_by<double>(screen, token);
      if (!passes) judge_token(judgement, token);
    });
    return judgement;
  }

 private:
  // One token of a call and the rotations at its position, counterclockwise.
  struct Token {
    const Tensor& x;
    const Tensor& y;
    std::int64_t index;
    std::int64_t position;
    const reference::RotationRow& row;
  };

  // The channels of a pair, before and after.
  struct TurnedChannels {
    std::size_t from_first;
    std::size_t from_second;
    std::size_t to_first;
    std::size_t to_second;
  };

  double turn() const { return head().direction == Direction::clockwise ? -1 : 1; }

  // Whether judging any of a token's values would change nothing.
  template <class Real>
  bool passes_by(const Screen& screen, const Token& token) {
    // The rotation's components and the factor are within epsilon/2 of themselves as Real, and by 2^-99; two products,
    // their difference and that by the factor add four times that: of |x0 c| + |x1 s| <= norm, by Cauchy and Schwarz.
    constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
    constexpr Real slack = 4 * epsilon + static_cast<Real>(0x1p-97);
    const auto factor = static_cast<Real>(factor_.high) + static_cast<Real>(factor_.low);
    const auto width = static_cast<std::size_t>(head().head_dim);
    x_.resize(width);
    y_.resize(width);
    for (std::int64_t h = 0; h < token.x.shape[2]; ++h) {
      const std::int64_t start = (token.index * token.x.shape[2] + h) * head().head_dim;
      token.x.read(start, x_);
      token.y.read(start, y_);
      for (std::size_t i = 0; i < turned_.size(); ++i) {
        const TurnedChannels& at = turned_[i];
        const double x0 = x_[at.from_first];
        const double x1 = x_[at.from_second];
        const double norm = std::fabs(factor_.high) * std::sqrt(x0 * x0 + x1 * x1);
        if (!(norm > 0x1p-400 && norm < 0x1p400)) return false;
        const double angle = fast_.frequencies[i] * static_cast<double>(token.position);
        const double bound =
            screen.component_bound(norm, budget_.quick_angle_error(angle, static_cast<std::int64_t>(i)));
        const Real cosine = static_cast<Real>(token.row.cos_high[i]) + static_cast<Real>(token.row.cos_low[i]);
        const Real sine = static_cast<Real>(turn()) *
                          (static_cast<Real>(token.row.sin_high[i]) + static_cast<Real>(token.row.sin_low[i]));
        const Real allowed = slack * static_cast<Real>(norm);
        if (!screen.passes(y_[at.to_first], factor * (x0 * cosine - x1 * sine), allowed, bound) ||
            !screen.passes(y_[at.to_second], factor * (x0 * sine + x1 * cosine), allowed, bound))
          return false;
      }
      for (const Passthrough& channel : passthrough()) {
        if (y_[static_cast<std::size_t>(channel.output)] != x_[static_cast<std::size_t>(channel.input)]) return false;
      }
    }
    return true;
  }

  void judge_token(Judgement& judgement, const Token& token) {
    const Tensor& x = token.x;
    const std::int64_t position = token.position;
    const std::int64_t heads = x.shape[2];
    const std::int64_t first = token.index * heads * head().head_dim;
    for (std::int64_t pair = 0; pair < pairs_count(); ++pair) {
      const auto i = static_cast<std::size_t>(pair);
      const Channels from = channels_of_pair(head(), head().pairing, pair);
      const Channels to = channels_of_pair(head(), head().output_pairing, pair);
      const DoubleDoubleWithin upward = token.row.sin(i);
      const DoubleDoubleWithin sine =
          factor_ * DoubleDoubleWithin{turn() * upward.high, turn() * upward.low, upward.error};
      const DoubleDoubleWithin cosine = factor_ * token.row.cos(i);
      const double angle = fast_.frequencies[i] * static_cast<double>(position);
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t start = first + h * head().head_dim;
        const double x0 = x.at(start + from.first);
        const double x1 = x.at(start + from.second);
        const auto given0 = DoubleDoubleWithin::exactly(x0);
        const auto given1 = DoubleDoubleWithin::exactly(x1);
        const reference::Bounds bound =
            budget_.component_bound(std::fabs(factor_.high) * std::hypot(x0, x1), angle, pair);
        for (const std::int64_t channel : {to.first, to.second}) {
          const bool is_first = channel == to.first;
          const auto exact = [&](Precision precision) -> Target {
            const reference::Rotation& rotation = oracle_.rotation(position, pair, length_, precision);
            const Enclosure& factor = oracle_.attention_factor(precision);
            const reference::RealPair given{Enclosure(x0, precision), Enclosure(x1, precision)};
            const reference::RealPair turned = reference::RopeReference::rotate(rotation, given);
            const Enclosure norm = factor * hypot(given.first, given.second);
            return {factor * (is_first ? turned.first : turned.second),
                    budget_.component_bound(norm, rotation.angle, pair)};
          };
          const DoubleDoubleWithin truth = is_first ? given0 * cosine - given1 * sine : given0 * sine + given1 * cosine;
          judge_.judge(judgement, token.y.at(start + channel), {truth, bound}, exact, [&] {
            return fmt::format("position {}, batch row {}, head {}, channel {}", position, token.index / x.shape[1], h,
                               channel);
          });
        }
      }
    }
    for (std::int64_t h = 0; h < heads; ++h)
      judge_passthrough(judgement, passthrough(), x, token.y, first + h * head().head_dim);
  }

  Allowance allowance(std::span<const std::int64_t> place, std::int64_t pair, const reference::RealPair& x,
                      Precision precision) override {
    const Enclosure norm = oracle_.attention_factor(precision) * hypot(x.first, x.second);
    return {budget_.pair_bound(norm, oracle_.angle(place[0], pair, longest_, precision), pair), norm};
  }

  std::int64_t longest_;
  reference::RopeReference oracle_;
  ErrorBudget budget_;
  ValueJudge judge_;
  DoubleDoubleWithin factor_;
  FastRope fast_;
  std::int64_t length_ = 0;  // of the call that is judged
  std::vector<TurnedChannels> turned_;
  std::vector<double> x_;  // one head's
  std::vector<double> y_;
};

class RopeTurning final : public TurningOracle {
 public:
  RopeTurning(const Spec& spec, const Rope& encoding)
      : TurningOracle(encoding),
        oracle_(encoding),
        budget_(spec.accuracy, spec.dtype, oracle_.frequencies(), spec.max_position) {}

  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                    Precision precision) override {
    const reference::Rotation& rotation = oracle_.rotation(place.coordinates[0], pair, place.length, precision);
    const Enclosure& factor = oracle_.attention_factor(precision);
    const reference::RealPair y = reference::RopeReference::rotate(rotation, x);
    const Enclosure norm = factor * hypot(x.first, x.second);
    return {{factor * y.first, factor * y.second}, norm, budget_.pair_bound(norm, rotation.angle, pair)};
  }

 private:
  reference::RopeReference oracle_;
  ErrorBudget budget_;
};

class RopeModel final : public RotationModel {
 public:
  RopeModel(const Spec& spec, const Rope& encoding) : RotationModel(spec, encoding.head_dim), encoding_(encoding) {}

  std::optional<std::string> depends_on_length() const override {
    // Up to that length every call has the same frequencies.
    const auto limit = length_limit(encoding_.rope_scaling);
    if (!limit || spec().max_position <= *limit) return std::nullopt;
    return fmt::format("depends on the length of the call: {} has other frequencies beyond {}",
                       name_of(encoding_.rope_scaling), *limit);
  }

  std::vector<Variant> variants() const override;

  std::vector<Question> first_questions() const override {
    std::vector<std::int64_t> positions{gen::simplest_position(range()), range().first, range().last - 1};
    // The calls on either side of the length at which a scaling rule takes other frequencies.
    if (const auto limit = length_limit(encoding_.rope_scaling)) {
      for (const std::int64_t p : {*limit - 1, *limit}) {
        if (p >= range().first && p < range().last) positions.push_back(p);
      }
    }
    std::vector<Question> questions;
    for (const std::int64_t p : positions) questions.push_back({.position = p});
    // Calls of several tokens, over those ends too: one that begins before a limit and ends behind it.
    for (const std::int64_t p : positions)
      questions.push_back({.position = p, .tokens = 3, .batch = 2, .heads = 2, .fill = 1});
    questions.push_back({.position = positions[0], .tokens = 2, .heads = 3, .fill = every_magnitude});
    // As many tokens, heads and rows as kernels meet, one after the other.
    questions.push_back({.position = positions[0], .tokens = 1025, .heads = 2, .fill = 1});
    std::ranges::copy(questions_of_every_extent(positions[0]), std::back_inserter(questions));
    return questions;
  }

  rc::Gen<Question> drawn_questions() const override {
    // Extents that mostly differ from each other: equal ones hide swapped axes.
    const auto parts = rc::gen::tuple(gen::position(range()), gen::one_of({1, 2, 3, 4, 7}), gen::one_of({1, 2, 3}),
                                      gen::one_of({1, 2, 5}), gen::count(0, 1000));
    const rc::Gen<Question> small = rc::gen::map(
        parts, [](const auto& drawn) { return std::apply([](auto... value) { return Question{value...}; }, drawn); });
    return of_many_shapes(small, range(), {{most_rows, longest_call, most_heads}, values_of_call / encoding_.head_dim});
  }

  SweepOf<Question> sweep(std::int64_t most_values) const override {
    return sweep_over(range(), judged_values(), most_values);
  }

  Call accuracy_call(const Question& question) const override {
    const gen::Extents extents{.batch = question.batch, .tokens = question.tokens, .heads = question.heads};
    return {.positions = gen::positions(range(), question.position, extents, static_cast<gen::Order>(question.order)),
            .vectors = {question.fill < every_magnitude
                            ? gen::vectors(encoding_, spec().dtype, extents, question.fill)
                            : of_every_magnitude(spec().dtype,
                                                 {extents.batch, extents.tokens, extents.heads, encoding_.head_dim},
                                                 question.fill)},
            .fill = question.fill};
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<RopeJudge>(spec(), encoding_); }
  std::unique_ptr<TurningOracle> turning() const override { return std::make_unique<RopeTurning>(spec(), encoding_); }
  std::unique_ptr<EncodedPairs> encoded_pairs() const override { return make_rope_pairs(spec(), encoding_); }

 private:
  Tensor drawn(const gen::Extents& extents, std::int64_t fill) const override {
    return gen::vectors(encoding_, spec().dtype, extents, fill);
  }
  // The first drawing of gen::vectors, (1, 0) in every pair, is a question of its own.
  std::int64_t first_drawing() const override { return 0; }

  Rope encoding_;
};

std::vector<Variant> RopeModel::variants() const {
  Variants<Rope> list(spec());
  list.with("rope_theta", [](Rope& e) { e.rope_theta = e.rope_theta * 3 + 7; });
  list.with("pairing", [](Rope& e) { e.pairing = e.output_pairing = other(e.pairing); });
  list.with("output_pairing", [](Rope& e) { e.output_pairing = other(e.output_pairing); });
  list.with("direction", [](Rope& e) { e.direction = other(e.direction); });
  list.with("rotary_dim",
            [](Rope& e) { e.rotary_dim = e.rotary_dim == e.head_dim ? e.head_dim / 2 / 2 * 2 : e.head_dim; });
  list.with("rope_scaling", [](Rope& e) {
    e.rope_scaling = std::holds_alternative<LinearScaling>(e.rope_scaling) ? RopeScaling(DefaultScaling{})
                                                                           : RopeScaling(LinearScaling{2.5});
  });
  list.with("factor", [](Rope& e) {
    std::visit(
        [](auto& rule) {
          if constexpr (requires { rule.factor *= 2; }) {
            rule.factor *= 2;
          }
        },
        e.rope_scaling);
  });
  return list.made();
}

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Rope& encoding) {
  return std::make_unique<RopeModel>(spec, encoding);
}

}  // namespace sextant
