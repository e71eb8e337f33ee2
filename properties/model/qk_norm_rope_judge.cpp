#include "properties/model/qk_norm_rope_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/model/head_norm_budget.hpp"
#include "properties/model/rotation_judge.hpp"
#include "properties/model/rotation_rows.hpp"
#include "properties/model/row_agreement.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/value_judge.hpp"
#include "reference/qk_norm_rope.hpp"
#include "reference/rope.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

// One head of a call, normalized and not yet turned: as long double has it, and to any precision.
class NormalizedHead {
 public:
  NormalizedHead(const reference::HeadNorm& norm, const QkNormRope& encoding)
      : norm_(norm),
        epsilon_(encoding.epsilon),
        offset_(encoding.weight_offset),
        x_(static_cast<std::size_t>(encoding.rope.head_dim)),
        weight_(x_.size()),
        values_(x_.size()) {
    // d squares and d - 1 sums of numbers that are not negative, the quotient by d, the sum with epsilon: at most d + 2
    // roundings on one path, halved by the root; the root, its inverse, the gain and two products.
    error_ = (static_cast<long double>(x_.size()) / 2 + 8) * std::numeric_limits<long double>::epsilon();
  }

  void take(const Tensor& x, std::int64_t start, const Tensor& weights, std::int64_t row) {
    x.read(start, x_);
    weights.read(row * std::ssize(x_), weight_);
    largest_gain_ = 0;
    long double sum = 0;
    for (const double value : x_) sum += static_cast<long double>(value) * value;
    root_ = 1 / std::sqrt(sum / static_cast<long double>(x_.size()) + static_cast<long double>(epsilon_));
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const long double gain = static_cast<long double>(offset_) + weight_[i];
      largest_gain_ = std::max(largest_gain_, std::fabs(static_cast<double>(gain)) * (1 + 0x1p-50));
      values_[i] = x_[i] * gain * root_;
    }
    exact_root_.reset();
  }

  // Within error() of itself.
  long double value(std::int64_t channel) const { return values_[static_cast<std::size_t>(channel)]; }
  long double error() const { return error_; }

  DoubleDoubleWithin within(std::int64_t channel) const {
    const auto i = static_cast<std::size_t>(channel);
    const DoubleDoubleWithin gain = DoubleDoubleWithin::exactly(offset_) + DoubleDoubleWithin::exactly(weight_[i]);
    const auto high = static_cast<double>(root_);
    const DoubleDoubleWithin root{high, static_cast<double>(root_ - high), static_cast<double>(root_ * error_)};
    return DoubleDoubleWithin::exactly(x_[i]) * gain * root;
  }

  Enclosure exactly(std::int64_t channel, Precision precision) {
    if (!exact_root_ || exact_root_->first != precision.bits)
      exact_root_.emplace(precision.bits, norm_.inverse_root(x_, precision));
    const auto i = static_cast<std::size_t>(channel);
    return norm_.normalized(x_[i], weight_[i], exact_root_->second);
  }

  double largest_gain() const { return largest_gain_; }

 private:
  reference::HeadNorm norm_;
  double epsilon_;
  double offset_;
  std::vector<double> x_;
  std::vector<double> weight_;
  std::vector<long double> values_;
  long double error_ = 0;
  long double root_ = 0;
  double largest_gain_ = 0;
  std::optional<std::pair<long, Enclosure>> exact_root_;  // and at how many bits
};

// Judges heads that are normalized and turned. docs/proofs/accuracy-classes.md, step 26: with N and t of
// HeadNormBudget and a the attention factor, a component of a pair of normalized norm |n| may be off by
//   component_bound(a ((1 + N) |n| + 2 t)) + a (N |n| + 2 t),
// and a channel that does not turn by half an ULP of what it may be, and N |n_i| + t.
class QkNormRopeJudge final : public Judge {
 public:
  QkNormRopeJudge(const Spec& spec, const QkNormRope& encoding)
      : rope_(encoding.rope),
        longest_(spec.max_position),
        budget_(arithmetic_of(spec), rope_.frequencies(), longest_),
        norm_budget_(arithmetic_of(spec), encoding),
        judge_(budget_, ExactZero::either),
        passthrough_(passthrough_channels(encoding.rope)),
        rotations_(rope_.fast(longest_)),
        head_(reference::HeadNorm(encoding), encoding),
        y_(static_cast<std::size_t>(encoding.rope.head_dim)) {
    for (std::int64_t pair = 0; pair < pairs(head()); ++pair) {
      from_.push_back(channels_of_pair(head(), head().pairing, pair));
      to_.push_back(channels_of_pair(head(), head().output_pairing, pair));
    }
    take_length(longest_);
  }

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(call.vectors[0].shape[0], 1));
    const bool alike = length_scope(head().rope_scaling) == LengthScope::call;
    const std::size_t together = alike ? call.positions.size() : call.positions.size() / batch;
    for (std::size_t first = 0; first < call.positions.size(); first += together) {
      const std::span positions = std::span(call.positions).subspan(first, together);
      take_length(reference::sequence_length(positions));
      each_rotation(rotations_, positions, [&](std::size_t token, const reference::RotationRow& row) {
        judge_token(judgement, call, answer, {positions[token], static_cast<std::int64_t>(first + token), &row});
      });
    }
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return no_pair_held; });
    return judgement;
  }

  Judgement agreement(const Parts& calls, const Tensor& whole, const Tensor& part) override {
    Judgement judgement;
    take_length(longest_);
    const std::int64_t heads = part.shape[2];
    for (std::int64_t vector = 0; vector < part.shape[0] * part.shape[1] * heads; ++vector) {
      const std::int64_t start = vector * head().head_dim;
      if (calls.in_whole(start) < 0) continue;
      const std::int64_t token = vector / heads;
      const std::int64_t position = calls.part.positions[static_cast<std::size_t>(token)];
      take_head(calls.part, token, side_of(calls.part, vector % heads));
      judgement.coordinate = position;
      agree(judgement, {whole, calls.in_whole(start), part, start, std::span(&position, 1), head().positions},
            position);
    }
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return no_pair_held; });
    return judgement;
  }

 private:
  struct Token {
    std::int64_t position;
    std::int64_t number;
    const reference::RotationRow* rotations;
  };

  const Rope& head() const { return rope_.encoding(); }

  // Which of a token's vectors, queries and then keys: of which tensor, and of which head there.
  struct Side {
    std::int64_t tensor;
    std::int64_t head;
  };
  static Side side_of(const Call& call, std::int64_t vector) {
    const std::int64_t queries = call.vectors[0].shape[2];
    return vector < queries ? Side{0, vector} : Side{1, vector - queries};
  }

  static std::int64_t number_of_vector(const Call& call, std::int64_t token, const Side& side) {
    return token * call.vectors[static_cast<std::size_t>(side.tensor)].shape[2] + side.head;
  }
  void take_head(const Call& call, std::int64_t token, const Side& side) {
    head_.take(call.vectors[static_cast<std::size_t>(side.tensor)],
               number_of_vector(call, token, side) * head().head_dim, *call.weight, side.tensor);
  }

  // From now on tokens of calls of that length are judged.
  void take_length(std::int64_t length) {
    if (length_ == length) return;
    length_ = length;
    if (length_limit(head().rope_scaling)) rotations_ = rope_.fast(length);
    factor_ = DoubleDoubleWithin::of(rope_.attention_factor(length, reference::first_precision));
    frequencies_.clear();
    for (std::int64_t pair = 0; pair < pairs(head()); ++pair)
      frequencies_.push_back(std::fabs(rope_.angle(1, pair, length, reference::first_precision).upper()));
  }

  double angle_at(std::int64_t position, std::int64_t pair) const {
    return frequencies_[static_cast<std::size_t>(pair)] * static_cast<double>(position);
  }

  // What a pair may be off by as the budget of rotations has it, and what is added to that for the norm.
  struct OfPair {
    double size;
    double more;
  };
  OfPair of_pair(double norm) const {
    const double factor = std::fabs(factor_.high);
    const double more = norm_budget_.relative * norm + 2 * factor * norm_budget_.least(head_.largest_gain());
    return {norm + more, more};
  }

  // Both within 2^-40 of themselves, from a norm (times the factor) within 2^-50 of itself.
  reference::Bounds pair_bounds(double norm, double angle, std::int64_t pair) const {
    constexpr double margin = 1 + 0x1p-40;
    const auto [size, more] = of_pair(norm);
    const reference::Bounds turned = budget_.component_bound(size, angle, pair);
    return {turned.lower > 0 ? turned.lower + more / margin : 0, turned.upper + more * margin};
  }

  Enclosure exact_pair_bound(const Enclosure& norm, const Enclosure& angle, std::int64_t pair) {
    const Precision precision = norm.precision();
    const Enclosure least =
        abs(rope_factor(precision)) * Enclosure(2 * norm_budget_.least(head_.largest_gain()), precision);
    const Enclosure more = Enclosure(norm_budget_.relative, precision) * norm + least;
    return budget_.component_bound(norm + more, angle, pair) + more;
  }

  Enclosure rope_factor(Precision precision) { return rope_.attention_factor(length_, precision); }

  // Of a channel that does not turn. The strictest classes' values are judged by what they round to.
  double ulps_of_unturned() const {
    const bool is_strict =
        budget_.accuracy() == AccuracyClass::correctly_rounded || budget_.accuracy() == AccuracyClass::faithful;
    return is_strict ? budget_.ulps() : 0.5;
  }
  Enclosure exact_unturned_bound(const Enclosure& truth) const {
    const Precision precision = truth.precision();
    const Enclosure more = Enclosure(norm_budget_.relative, precision) * abs(truth) +
                           Enclosure(norm_budget_.least(head_.largest_gain()), precision);
    return Enclosure(ulps_of_unturned(), precision) * reference::ulp(budget_.dtype(), abs(truth) + more) + more;
  }

  void judge_token(Judgement& judgement, const Call& call, const Tensor& answer, const Token& token) {
    const std::int64_t tokens = answer.shape[1];
    const std::int64_t vectors = answer.shape[2];
    judgement.place = token.position;
    for (std::int64_t i = 0; i < vectors; ++i) {
      const Side side = side_of(call, i);
      const std::int64_t in_answer = token.number * vectors + i;
      const Tensor& x = call.vectors[static_cast<std::size_t>(side.tensor)];
      if (side.head > 0 && is_repeated(x, number_of_vector(call, token.number, side), head().head_dim) &&
          is_repeated(answer, in_answer, head().head_dim))
        continue;
      take_head(call, token.number, side);
      answer.read(in_answer * head().head_dim, y_);
      const auto place = [&](std::int64_t channel) {
        return fmt::format("position {}, batch row {}, token {}, {} head {}, channel {}", token.position,
                           token.number / tokens, token.number % tokens, side.tensor == 0 ? "query" : "key", side.head,
                           channel);
      };
      const Screen screen(budget_, judgement, token.position);
      for (std::int64_t pair = 0; pair < std::ssize(from_); ++pair) {
        if (!passes(screen, token, pair)) judge_turned(judgement, token, pair, place);
      }
      for (const Passthrough& channel : passthrough_) judge_unturned(judgement, screen, channel, place);
    }
  }

  // A component's sine and cosine in long double, each within half its epsilon of itself, or by 2^-97.
  struct Turn {
    long double cosine;
    long double sine;
  };
  Turn turn_of(const Token& token, std::int64_t pair) const {
    const auto i = static_cast<std::size_t>(pair);
    const reference::RotationRow& row = *token.rotations;
    const long double sine = static_cast<long double>(row.sin_high[i]) + static_cast<long double>(row.sin_low[i]);
    return {static_cast<long double>(row.cos_high[i]) + static_cast<long double>(row.cos_low[i]), sense() * sine};
  }
  double sense() const { return head().direction == Direction::clockwise ? -1 : 1; }

  // Whether judging either value of a pair would change nothing. As RotationJudge has it, with the error of what is
  // turned besides, which moves the pair by that part of its norm.
  bool passes(const Screen& screen, const Token& token, std::int64_t pair) const {
    const Channels& from = from_[static_cast<std::size_t>(pair)];
    const Channels& to = to_[static_cast<std::size_t>(pair)];
    const long double n0 = head_.value(from.first);
    const long double n1 = head_.value(from.second);
    const auto factor = static_cast<long double>(factor_.high) + static_cast<long double>(factor_.low);
    const auto norm = static_cast<double>(std::fabs(factor) * std::sqrt(n0 * n0 + n1 * n1));
    if (!(norm > 0x1p-400 && norm < 0x1p400)) return false;
    const auto [size, more] = of_pair(norm);
    const double bound =
        screen.component_bound(size, budget_.quick_angle_error(angle_at(token.position, pair), pair)) + more;
    const auto [cosine, sine] = turn_of(token, pair);
    constexpr long double epsilon = std::numeric_limits<long double>::epsilon();
    const long double slack = (head_.error() + 5 * epsilon + static_cast<long double>(0x1p-97)) * norm;
    return screen.passes(y_[static_cast<std::size_t>(to.first)], factor * (n0 * cosine - n1 * sine), slack, bound) &&
           screen.passes(y_[static_cast<std::size_t>(to.second)], factor * (n0 * sine + n1 * cosine), slack, bound);
  }

  template <class Place>
  void judge_turned(Judgement& judgement, const Token& token, std::int64_t pair, Place place) {
    const auto i = static_cast<std::size_t>(pair);
    const DoubleDoubleWithin n0 = head_.within(from_[i].first);
    const DoubleDoubleWithin n1 = head_.within(from_[i].second);
    const DoubleDoubleWithin upward = token.rotations->sin(i);
    const DoubleDoubleWithin sine =
        factor_ * DoubleDoubleWithin{sense() * upward.high, sense() * upward.low, upward.error};
    const DoubleDoubleWithin cosine = factor_ * token.rotations->cos(i);
    const double norm = std::fabs(factor_.high) * std::hypot(n0.high, n1.high);
    const reference::Bounds bound = pair_bounds(norm, angle_at(token.position, pair), pair);
    const double unit = ulp(budget_.dtype(), norm);
    for (const bool is_first : {true, false}) {
      const auto exact = [&](Precision precision) -> Target {
        const reference::RealPair n{head_.exactly(from_[i].first, precision),
                                    head_.exactly(from_[i].second, precision)};
        const reference::Rotation& rotation = rope_.rotation(token.position, pair, length_, precision);
        reference::RealPair turned = reference::RopeReference::rotate(rotation, n);
        const Enclosure factor = rope_factor(precision);
        return {factor * (is_first ? turned.first : turned.second),
                exact_pair_bound(abs(factor) * hypot(n.first, n.second), rotation.angle, pair)};
      };
      const DoubleDoubleWithin truth = is_first ? n0 * cosine - n1 * sine : n0 * sine + n1 * cosine;
      const std::int64_t channel = is_first ? to_[i].first : to_[i].second;
      judge_.judge(judgement, y_[static_cast<std::size_t>(channel)], {truth, bound, unit}, exact,
                   [&] { return place(channel); });
    }
  }

  template <class Place>
  void judge_unturned(Judgement& judgement, const Screen& screen, const Passthrough& channel, Place place) {
    const double got = y_[static_cast<std::size_t>(channel.output)];
    const long double truth = head_.value(channel.input);
    const auto size = static_cast<double>(std::fabs(truth));
    const double more = norm_budget_.relative * size + norm_budget_.least(head_.largest_gain());
    constexpr double margin = 1 + 0x1p-40;
    const double unit = ulp(budget_.dtype(), (size + more) / margin);
    const double larger = ulp(budget_.dtype(), (size + more) * margin);
    const double least = ulps_of_unturned() * unit + more / margin;
    if (size > 0x1p-400 && size < 0x1p400 && screen.passes(got, truth, head_.error() * size, least)) return;
    const bool is_told = size > 0x1p-400 && unit == larger;
    const QuickTarget quick{head_.within(channel.input),
                            {is_told ? least / margin : 0, (ulps_of_unturned() * larger + more * margin) * margin}};
    judge_.judge(
        judgement, got, quick,
        [&](Precision precision) -> Target {
          const Enclosure exact = head_.exactly(channel.input, precision);
          return {exact, exact_unturned_bound(exact)};
        },
        [&] { return place(channel.output); });
  }

  void agree(Judgement& judgement, const TwoRows& rows, std::int64_t position) {
    for (std::int64_t pair = 0; pair < std::ssize(from_); ++pair) {
      const Channels& from = from_[static_cast<std::size_t>(pair)];
      const auto length = static_cast<double>(std::hypot(head_.value(from.first), head_.value(from.second)));
      const double least = pair_bounds(std::fabs(factor_.high) * length, angle_at(position, pair), pair).lower;
      judge_pair(judgement, rows, to_[static_cast<std::size_t>(pair)], least, [&](Precision precision) -> Allowance {
        const Enclosure norm = abs(rope_factor(precision)) *
                               hypot(head_.exactly(from.first, precision), head_.exactly(from.second, precision));
        return {exact_pair_bound(norm, rope_.angle(position, pair, length_, precision), pair), norm};
      });
    }
    for (const Passthrough& channel : passthrough_) {
      judge_channel(
          judgement, rows, channel.output,
          [&](Precision precision) {
            return Enclosure(2.0, precision) * exact_unturned_bound(head_.exactly(channel.input, precision));
          },
          [&](Precision precision) { return abs(head_.exactly(channel.input, precision)); });
    }
  }

  reference::RopeReference rope_;
  std::int64_t longest_;
  ErrorBudget budget_;
  HeadNormBudget norm_budget_;
  ValueJudge judge_;
  std::vector<Passthrough> passthrough_;
  std::vector<Channels> from_;
  std::vector<Channels> to_;
  reference::FastRotations rotations_;
  std::int64_t length_ = -1;  // of what is judged
  DoubleDoubleWithin factor_{1, 0, 0};
  std::vector<double> frequencies_;  // in calls of that length
  NormalizedHead head_;
  std::vector<double> y_;
};

}  // namespace

std::unique_ptr<Judge> make_qk_norm_rope_judge(const Spec& spec, const QkNormRope& encoding) {
  return std::make_unique<QkNormRopeJudge>(spec, encoding);
}

}  // namespace sextant
