#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/rotations/identify_rope.hpp"
#include "properties/identify/rotations/rotation_layout.hpp"
#include "properties/identify/rotations/rounded_products.hpp"
#include "properties/identify/round_numbers.hpp"
#include "reference/rope_scaling.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// The queries, or keys, of a call whose queries and keys are the same and whose weights are all `weight`.
Tensor made_by(Session& session, const Spec& spec, const Tensor& x, const Tensor& weight,
               const std::vector<std::int64_t>& positions, VectorSide side) {
  auto made =
      qk_norm_rope(session, spec, {.q = x, .k = x, .q_weight = weight, .k_weight = weight, .positions = positions});
  return side == VectorSide::key ? std::move(made.k) : std::move(made.q);
}

Tensor queries(Session& session, const Spec& spec, const Tensor& x, const Tensor& weight,
               const std::vector<std::int64_t>& positions) {
  return made_by(session, spec, x, weight, positions, VectorSide::query);
}

Tensor filled(Dtype dtype, std::int64_t count, double value) {
  Tensor tensor = Tensor::zeros(dtype, {count});
  for (std::int64_t i = 0; i < count; ++i) tensor.set(i, value);
  return tensor;
}

// The rotation in it: what a norm with a gain of 1 has divided heads by is multiplied again, which commutes with it.
class WithoutNorm final : public Session {
 public:
  WithoutNorm(Session& session, const Spec& spec, const QkNormRope& encoding, double weight)
      : session_(session),
        spec_(spec),
        encoding_(encoding),
        weight_(filled(spec.dtype, encoding.rope.head_dim, weight)) {}

  Description describe() override { return session_.describe(); }
  Tensors call(std::string_view, const Tensors& inputs) override {
    const Tensor& x = inputs.at("x");
    Tensor y = queries(session_, spec_, x, weight_, inputs.at("positions").integers());
    const std::int64_t width = encoding_.rope.head_dim;
    for (std::int64_t start = 0; start < x.elements(); start += width) {
      double squares = 0;
      for (std::int64_t i = start; i < start + width; ++i) squares += x.at(i) * x.at(i);
      const double norm = std::sqrt(squares / static_cast<double>(width) + encoding_.epsilon);
      for (std::int64_t i = start; i < start + width; ++i) y.set(i, y.at(i) * norm);
    }
    return {{"y", std::move(y)}};
  }

 private:
  Session& session_;
  const Spec& spec_;
  const QkNormRope& encoding_;
  Tensor weight_;
};

class QkNormRopeIdentifier {
 public:
  QkNormRopeIdentifier(CountedSession& session, const Spec& claim, const QkNormRope& encoding)
      : session_(session), claim_(claim), encoding_(encoding) {}

  Identification run() {
    if (take_norm()) {
      Spec rope_claim = claim_;
      rope_claim.encoding = encoding_.rope;
      CountedSession inner(std::make_unique<WithoutNorm>(session_, claim_, encoding_, 1 - encoding_.weight_offset));
      Identification rotation = identify_rope(inner, rope_claim, encoding_.rope);
      std::ranges::move(rotation.seen, std::back_inserter(found_.seen));
      std::ranges::move(rotation.faults, std::back_inserter(found_.faults));
      found_.arithmetic = std::move(rotation.arithmetic);
      found_.table = std::move(rotation.table);
      if (rotation.spec) name(rotation);
      // What two heads of equal channels show of a norm says nothing where it is another one.
      if (!found_.spec || found_.confidence == Confidence::low) found_.convention.clear();
    }
    found_.calls = session_.calls();
    return std::move(found_);
  }

 private:
  std::int64_t width() const { return encoding_.rope.head_dim; }

  // What a head of equal values comes out as at position 0, under a weight.
  double made_of(double value, double weight, VectorSide side = VectorSide::query) {
    Tensor x = Tensor::zeros(claim_.dtype, {1, 1, 1, width()});
    for (std::int64_t i = 0; i < width(); ++i) x.set(i, value);
    return made_by(session_, claim_, x, filled(claim_.dtype, width(), weight), {0}, side).at(0);
  }

  // Whether a head whose values are in the channels that turn alone has the mean of those: then it comes out as long as
  // a head of equal values does.
  bool has_mean_of_turned(double of_one, double unit) {
    if (encoding_.rope.rotary_dim == width() || encoding_.rope.rotary_dim == 0) return false;
    const std::int64_t first = first_rotary_channel(encoding_.rope);
    Tensor x = Tensor::zeros(claim_.dtype, {1, 1, 1, width()});
    for (std::int64_t i = first; i < first + encoding_.rope.rotary_dim; ++i) x.set(i, 1024);
    const double made = queries(session_, claim_, x, filled(claim_.dtype, width(), 1), {0}).at(first);
    return std::fabs(made - of_one) <= 8 * unit * of_one;
  }

  // Where a head of ones comes out, and one of 1024 is 0, which an infinite mean divides.
  std::string words_of_overflow(std::string_view who, VectorSide side) {
    std::int64_t right = 1;
    std::int64_t lost = 1024;
    while (lost - right > 1) {
      const std::int64_t middle = right + (lost - right) / 2;
      (made_of(static_cast<double>(middle), 1, side) == 0 ? lost : right) = middle;
    }
    // Half of its last place above its greatest number, from which on a sum or a square is infinite.
    constexpr double limit = 65504 + 16;
    const auto exceeds = [&](double times) {
      const auto square = [&](std::int64_t value) { return times * static_cast<double>(value * value); };
      return square(right) < limit && square(lost) >= limit;
    };
    const std::string heads = fmt::format("{} whose channels are all {} or more become 0", who, lost);
    if (exceeds(1)) return heads + ": squares of channels, or their mean, overflow, as in float16";
    if (exceeds(static_cast<double>(width()))) return heads + ": the sum of squares overflows, as in float16";
    return heads + ", and those of less do not, as where squares overflow";
  }

  bool take_norm() {
    const double unit = std::ldexp(1, -format_of(claim_.dtype).precision);
    // n = x (offset + w) / sqrt(x^2 + epsilon): of large heads offset + w.
    const double of_one = made_of(1024, 1);
    const double of_two = made_of(1024, 2);
    // Of both sides, or of one.
    const auto are_lost = [&](VectorSide side) { return made_of(1024, 1, side) == 0 && made_of(1024, 2, side) == 0; };
    const bool are_queries_lost = of_one == 0 && of_two == 0;
    const bool are_keys_lost = are_lost(VectorSide::key);
    if (are_queries_lost || are_keys_lost) {
      const std::string_view who = !are_keys_lost     ? "queries, and no keys,"
                                   : are_queries_lost ? "heads"
                                                      : "keys, and no queries,";
      const VectorSide side = are_queries_lost ? VectorSide::query : VectorSide::key;
      found_.faults.emplace_back(
          made_of(1, 1, side) == 0
              ? fmt::format("{} whose channels are all alike become 0, as where their mean is subtracted first", who)
              : words_of_overflow(who, side));
      return false;
    }
    // x (offset + w) / sqrt(epsilon): of a variance there is none.
    const double by_epsilon = 1024 * (encoding_.weight_offset + 1) / std::sqrt(encoding_.epsilon);
    if (std::fabs(of_one / by_epsilon - 1) <= 32 * unit) {
      found_.faults.emplace_back(
          "heads whose channels are all alike are divided by the root of epsilon alone, as where their mean is "
          "subtracted before their squares are summed");
      return false;
    }
    if (adds_epsilon_to_root(unit)) {
      found_.faults.emplace_back("epsilon is added to the root of the mean, not below the root");
      return false;
    }
    if (std::fabs(made_of(512, 1) - of_one) > 8 * unit * of_one) {
      found_.table.emplace_back("heads of different lengths come out different: they are not normalized");
      return false;
    }
    const double root = std::sqrt(static_cast<double>(width()));
    const auto is_over_root = [&](double seen, double weight) {
      return std::fabs(seen * root / (encoding_.weight_offset + weight) - 1) <= 32 * unit;
    };
    if (is_over_root(of_one, 1) && is_over_root(of_two, 2)) {
      found_.faults.emplace_back("heads are divided by the root of the sum of their squares, not of the mean");
      return false;
    }
    const double gain = encoding_.weight_offset + 1;
    if (std::fabs(of_one - gain * gain) <= 16 * unit * of_one &&
        std::fabs(of_two - (gain + 1) * (gain + 1)) <= 16 * unit * of_two) {
      // A gain of 1 is its own square, which gains of 2 are not.
      found_.faults.emplace_back("heads are multiplied by the square of the weight");
      return false;
    }
    if (std::string words = words_of_other_heads(unit); !words.empty()) {
      found_.faults.emplace_back(std::move(words));
      return false;
    }
    if (has_mean_of_turned(of_one, unit)) {
      found_.faults.emplace_back("the mean is that of the channels that turn, not of the head");
      return false;
    }
    if (std::fabs(of_two - of_one) <= 16 * unit * of_one) {
      found_.faults.emplace_back("heads are normalized, and the weights are left out");
      return false;
    }
    const double offset = of_one / (of_two - of_one) - 1;
    if (std::fabs(of_two - of_one - 1) > 16 * unit || std::fabs(offset - std::round(offset)) > 32 * unit ||
        (std::round(offset) != 0 && std::round(offset) != 1)) {
      found_.table.push_back(fmt::format("a weight of 1 makes heads of {:.7g}, one of 2 of {:.7g}", of_one, of_two));
      return false;
    }
    encoding_.weight_offset = std::round(offset);
    found_.seen.push_back(
        fmt::format("heads are normalized, times {}", encoding_.weight_offset == 0 ? "the weight" : "1 + the weight"));
    if (std::string words = words_of_rounded_root(unit); !words.empty()) {
      found_.faults.emplace_back(std::move(words), DiagnosedStage::rounding);
      return false;
    }
    take_epsilon(unit);
    return true;
  }

  // What a token's two heads come out as, one twice as large as the other.
  std::string words_of_other_heads(double unit) {
    Tensor x = Tensor::zeros(claim_.dtype, {1, 1, 2, width()});
    for (std::int64_t i = 0; i < width(); ++i) {
      x.set(i, 1024);
      x.set(width() + i, 512);
    }
    const Tensor made = queries(session_, claim_, x, filled(claim_.dtype, width(), 1 - encoding_.weight_offset), {0});
    const double first = made.at(0);
    const double second = made.at(width());
    if (std::fabs(second / first - 0.5) > 16 * unit) return {};
    if (std::fabs(first - 1) <= 16 * unit)
      return "every head of a token is divided by the root of the first one's mean";
    // 1024 over the root of (1024^2 + 512^2) / 2.
    if (std::fabs(first - std::sqrt(1.6)) <= 16 * unit) return "the mean is over all heads of a token, not over each";
    return {};
  }

  // Heads so large that epsilon is nothing, divided by numbers whose inverses no short format has.
  std::string words_of_rounded_root(double unit) {
    for (const Dtype narrow : {Dtype::bfloat16, Dtype::float16}) {
      if (std::ldexp(1, -format_of(narrow).precision) < 64 * unit) continue;
      bool is_it = true;
      bool is_exact = true;
      for (const double x : {96.0, 160.0, 224.0, 352.0, 416.0}) {
        const double made = made_of(x, 1 - encoding_.weight_offset);
        is_it = is_it && std::fabs(made - x * round_to(narrow, 1 / x)) <= 16 * unit;
        is_exact = is_exact && std::fabs(made - 1) <= 16 * unit;
      }
      if (is_it && !is_exact) return fmt::format("the inverse of the root is rounded to {}", name_of(narrow));
    }
    return {};
  }

  // Whether a head of two sizes by turns, beside which epsilon does not matter, is divided by the root of its mean of
  // squares: then it comes out as long as one of equal values does. As many channels of each size are turned, and as
  // many are not, so that a factor of the turned ones is the same of both.
  bool has_mean_of_squares(double unit) {
    const auto length_of = [&](double even, double odd) {
      Tensor x = Tensor::zeros(claim_.dtype, {1, 1, 1, width()});
      for (std::int64_t i = 0; i < width(); ++i) x.set(i, i % 2 == 0 ? even : odd);
      const Tensor made = queries(session_, claim_, x, filled(claim_.dtype, width(), 1), {0});
      double squares = 0;
      for (std::int64_t i = 0; i < width(); ++i) squares += made.at(i) * made.at(i);
      return std::sqrt(squares);
    };
    const double of_equal = length_of(1024, 1024);
    return std::fabs(length_of(1024, 256) - of_equal) <= 16 * unit * of_equal;
  }

  // Of a head of values x, x small: x / n - x is epsilon itself.
  bool adds_epsilon_to_root(double unit) {
    constexpr double x = 0x1p-12;
    const double root = x / made_of(x, 1 - encoding_.weight_offset);
    const double inside = std::sqrt(x * x + encoding_.epsilon);
    const double off = 16 * unit * root;
    return std::fabs(root - x - encoding_.epsilon) <= off && std::fabs(root - inside) > 4 * off &&
           encoding_.epsilon > 4 * off && has_mean_of_squares(unit);
  }

  // Of a head of values x, x small: (x / n)^2 - x^2.
  void take_epsilon(double unit) {
    constexpr double x = 0x1p-12;
    const double made = made_of(x, 1 - encoding_.weight_offset);
    const double square = (x / made) * (x / made);
    const Range seen{square * (1 - 8 * unit) - x * x, square * (1 + 8 * unit) - x * x};
    epsilons_ = seen;
    if (!seen.holds(encoding_.epsilon) && seen.low > 0) encoding_.epsilon = roundest_in(seen).value;
    if (seen.high < encoding_.epsilon) {
      // A claim has one.
      encoding_.epsilon = std::max(seen.high, 0x1p-60);
      found_.convention.emplace_back(fmt::format("epsilon is left out: it is below {:.1g}", encoding_.epsilon));
    }
    found_.seen.push_back(fmt::format("epsilon {:.4g} to {:.4g}", std::max(seen.low, 0.0), seen.high));
  }

  static double factor_of(const Rope& rope) {
    return pairs(rope) == 0 ? 1
                            : reference::RopeFrequencies(rope).attention_factor(0, reference::first_precision).upper();
  }

  // f x / sqrt(f^2 mean + epsilon) is x / sqrt(mean + epsilon / f^2): the epsilon that a factor leaves which is
  // multiplied in before, and no other one.
  std::optional<double> epsilon_under_factor() const {
    const auto& claimed = *held<QkNormRope>(claim_);
    if (length_limit(claimed.rope.rope_scaling)) return std::nullopt;
    const double factor = factor_of(claimed.rope);
    const double left = claimed.epsilon / (factor * factor);
    const bool has_it = factor != 1 && std::fabs(factor_of(encoding_.rope) - 1) < 0x1p-16 && epsilons_.holds(left);
    return has_it && !epsilons_.holds(claimed.epsilon) ? std::optional(left) : std::nullopt;
  }

  void name(const Identification& rotation) {
    encoding_.rope = *held<Rope>(*rotation.spec);
    const auto under_factor = epsilon_under_factor();
    if (under_factor) encoding_.epsilon = *under_factor;
    found_.spec = claim_;
    found_.spec->encoding = encoding_;
    take_order();
    const FittedAnswers fitted = fitted_answers(session_, *found_.spec);
    found_.spec = fitted.spec;
    found_.of_bound = fitted.of_bound;
    if (under_factor && fitted.hold && found_.faults.empty())
      found_.convention.emplace_back(
          "the attention factor is multiplied in before heads are normalized, which takes it away again",
          DiagnosedStage::table);
    if (!fitted.hold && found_.faults.empty()) found_.faults.push_back(words_of_weights());
    const bool departs = fitted.hold && told_rounded_steps(session_, claim_, found_);
    found_.confidence = found_.faults.empty() ? rotation.confidence : Confidence::low;
    if (departs && found_.confidence == Confidence::high) found_.confidence = Confidence::medium;
    // That of the rotation alone is of answers that were divided.
    if (found_.faults.empty() && found_.confidence == Confidence::low) found_.confidence = Confidence::medium;
  }

  // What weights of 3 for queries and 5 for keys show of who has whose, and of an offset that one of them lacks.
  Fault words_of_weights() {
    Tensor x = Tensor::zeros(claim_.dtype, {1, 1, 1, width()});
    for (std::int64_t i = 0; i < width(); ++i) x.set(i, 1024);
    const double offset = encoding_.weight_offset;
    const Tensor three = filled(claim_.dtype, width(), 3 - offset);
    const Tensor five = filled(claim_.dtype, width(), 5 - offset);
    const std::vector<std::int64_t> origin{0};
    const auto made =
        qk_norm_rope(session_, claim_, {.q = x, .k = x, .q_weight = three, .k_weight = five, .positions = origin});
    // At position 0 nothing turns.
    const auto are = [&](double query, double key) {
      return std::fabs(made.q.at(0) - query) < 0.1 && std::fabs(made.k.at(0) - key) < 0.1;
    };
    if (are(5, 3)) return {"queries have the keys' weight, and keys the queries'"};
    if (are(3, 3)) return {"keys have the queries' weight"};
    if (are(5, 5)) return {"queries have the keys' weight"};
    if (offset != 0 && are(3, 5 - offset)) return {"weight_offset is left out of the keys' weight"};
    if (offset != 0 && are(3 - offset, 5)) return {"weight_offset is left out of the queries' weight"};
    return misfit("not every value is as near to it as its accuracy class claims");
  }

  // Weights of a pair that differ show which comes first: of (1, 0) either w0 (cos, sin) or (w0 cos, w1 sin).
  void take_order() {
    const Channels from = channels_of_pair(encoding_.rope, encoding_.rope.pairing, 0);
    const Channels to = channels_of_pair(encoding_.rope, encoding_.rope.output_pairing, 0);
    Tensor x = Tensor::zeros(claim_.dtype, {1, 1, 1, width()});
    x.set(from.first, 1);
    Tensor weight = filled(claim_.dtype, width(), 1 - encoding_.weight_offset);
    const Tensor plain = queries(session_, claim_, x, weight, {1});
    weight.set(from.first, 2 - encoding_.weight_offset);
    const Tensor weighted = queries(session_, claim_, x, weight, {1});
    // What stands at another position than 1 shows no order.
    if (std::fabs(plain.at(to.second)) < 0.1) return;
    const double ratio = weighted.at(to.second) / plain.at(to.second);
    if (std::fabs(ratio - 2) < 0.1) {
      found_.seen.emplace_back("heads are normalized, then turned");
    } else if (std::fabs(ratio - 1) < 0.1) {
      found_.faults.emplace_back("heads are turned, then normalized: weights belong to other channels");
    } else {
      found_.faults.emplace_back("weights are applied neither before nor after the rotation alone");
    }
  }

  CountedSession& session_;
  Spec claim_;
  QkNormRope encoding_;  // what has been told so far
  Range epsilons_{0, 0};
  Identification found_;
};

}  // namespace

Identification identify_qk_norm_rope(CountedSession& session, const Spec& claim, const QkNormRope& encoding) {
  return QkNormRopeIdentifier(session, claim, encoding).run();
}

}  // namespace sextant::identify
