#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "properties/model/question.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

// Rotations by multiples of one frequency form a group: R(0) = 1 and R(b) R(a) = R(a + b), R(-a) R(a) = 1 included.

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// y of one call in the places where the next call reads it: where input and output are paired alike, y itself.
Tensor reordered(const Rope& encoding, const Tensor& y) {
  Tensor x = y;
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
    const Channels from = channels_of_pair(encoding, encoding.output_pairing, pair);
    const Channels to = channels_of_pair(encoding, encoding.pairing, pair);
    x.set(to.first, y.at(from.first));
    x.set(to.second, y.at(from.second));
  }
  for (const Passthrough& untouched : passthrough_channels(encoding)) x.set(untouched.input, y.at(untouched.output));
  return x;
}

Enclosure norm_at(const Tensor& x, const Channels& channels, Precision precision) {
  return hypot(Enclosure(x.at(channels.first), precision), Enclosure(x.at(channels.second), precision));
}

// |(z0 - f w0, z1 - f w1)|, f the attention factor.
Enclosure distance(const Tensor& z, const Tensor& w, const Channels& channels, const Enclosure& factor) {
  const Precision precision = factor.precision();
  return hypot(Enclosure(z.at(channels.first), precision) - factor * Enclosure(w.at(channels.first), precision),
               Enclosure(z.at(channels.second), precision) - factor * Enclosure(w.at(channels.second), precision));
}

bool all_finite(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    if (!std::isfinite(tensor.at(i))) return false;
  }
  return true;
}

// Judges ||error_i|| <= bound_i for every pair.
template <class ErrorAt, class BoundAt, class Place>
void judge_pairs(Judgement& judgement, const Rope& encoding, Dtype dtype, ErrorAt error_at, BoundAt bound_at,
                 Place place) {
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
    Deviation deviation;
    const Certainty within = reference::decide([&](Precision precision) {
      const Enclosure error = error_at(pair, precision);
      const auto [bound, norm] = bound_at(pair, precision);
      deviation = deviation_of(error, bound, reference::ulp(dtype, norm).upper());
      return reference::at_most(error, bound);
    });
    judgement.add(within, deviation, [&] {
      return fmt::format("{}, pair {}: off by {:.3g}, {:.3g} times the bound", place(), pair, deviation.absolute,
                         deviation.of_bound);
    });
  }
}

struct Limit {
  Enclosure bound;
  Enclosure norm;
};

// Tokens that all stand at position 0.
struct Still {
  std::int64_t tokens;
  std::int64_t fill;
};

CasesOf<Still> still_tokens() {
  CasesOf<Still> cases;
  cases.fields = [](const Spec&) -> std::vector<FieldOf<Still>> {
    return {{"tokens", FieldRole::count, &Still::tokens, {1, 64}}, {"fill", FieldRole::fill, &Still::fill, any_fill}};
  };
  cases.first = [](const Spec&) -> std::vector<Still> { return {{.tokens = 1, .fill = 1}, {.tokens = 3, .fill = 1}}; };
  cases.drawn = [](const Spec&) {
    return rc::gen::map(rc::gen::pair(gen::one_of({1, 1, 2, 5, 17}), gen::count(0, 1000)),
                        [](const std::pair<std::int64_t, std::int64_t>& drawn) {
                          return Still{.tokens = drawn.first, .fill = drawn.second};
                        });
  };
  return cases;
}

CheckOf<Still> identity_check(const Spec& spec, const Rope& encoding) {
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position);
  return [spec, encoding, oracle, budget](Session& session, const Still& asked) mutable {
    const gen::Extents extents{.batch = 1, .tokens = asked.tokens, .heads = 1};
    const Tensor x = gen::vectors(encoding, spec.dtype, extents, asked.fill);
    const Tensor y = rotate(session, spec, x, std::vector<std::int64_t>(static_cast<std::size_t>(asked.tokens), 0));
    Judgement judgement;
    for (std::int64_t token = 0; token < asked.tokens; ++token) {
      const std::int64_t start = token * encoding.head_dim;
      const auto place = [&] { return fmt::format("position 0, token {} of {}", token, asked.tokens); };
      for (std::int64_t i = 0; i < encoding.head_dim; ++i) {
        if (std::isfinite(y.at(start + i))) continue;
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
        return judgement;
      }
      judge_pairs(
          judgement, encoding, spec.dtype,
          [&](std::int64_t pair, Precision precision) {
            const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
            const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
            const Enclosure& factor = oracle.attention_factor(precision);
            return hypot(
                Enclosure(y.at(start + to.first), precision) - factor * Enclosure(x.at(start + from.first), precision),
                Enclosure(y.at(start + to.second), precision) -
                    factor * Enclosure(x.at(start + from.second), precision));
          },
          [&](std::int64_t pair, Precision precision) {
            const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
            const Enclosure norm =
                oracle.attention_factor(precision) *
                hypot(Enclosure(x.at(start + from.first), precision), Enclosure(x.at(start + from.second), precision));
            return Limit{budget.norm_bound(norm), norm};
          },
          place);
    }
    return judgement;
  };
}

bool inside(const Spec& spec, std::int64_t position) {
  return position >= spec.min_position && position < spec.max_position;
}

// Turning by `position`, then `by` more.
struct Turns {
  std::int64_t position;
  std::int64_t by;
  std::int64_t fill;
};

CasesOf<Turns> turns() {
  CasesOf<Turns> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Turns>> {
    return {{"position", FieldRole::position, &Turns::position, claimed(spec)},
            {"by", FieldRole::step, &Turns::by, claimed(spec)},
            {"fill", FieldRole::fill, &Turns::fill, any_fill}};
  };
  cases.related = [](const Spec& spec, const Turns& asked) { return inside(spec, asked.position + asked.by); };
  cases.first = [](const Spec& spec) {
    std::vector<Turns> list{{.position = 1, .by = 1, .fill = 1},
                            {.position = spec.max_position / 2, .by = (spec.max_position - 1) / 2, .fill = 1}};
    const std::int64_t back = std::min(spec.max_position - 1, -spec.min_position);
    if (back > 0) list.push_back({.position = back, .by = -back, .fill = 1});
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    const auto parts =
        rc::gen::tuple(gen::position(gen::range_of(spec)), gen::position(gen::range_of(spec)), gen::count(0, 1000));
    return rc::gen::map(parts, [spec](const std::tuple<std::int64_t, std::int64_t, std::int64_t>& drawn) {
      const auto [a, b, fill] = drawn;
      // Halved, so that the sum is inside too.
      return inside(spec, a + b) ? Turns{a, b, fill} : Turns{a / 2, b / 2, fill};
    });
  };
  return cases;
}

CheckOf<Turns> composition_check(const Spec& spec, const Rope& encoding) {
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget =
      ErrorBudget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position).of_own_frequencies();
  return [spec, encoding, oracle, budget](Session& session, const Turns& asked) mutable {
    const std::int64_t a = asked.position;
    const std::int64_t b = asked.by;
    const Tensor x = gen::vectors(encoding, spec.dtype, {.batch = 1, .tokens = 1, .heads = 1}, asked.fill);
    const auto turned = [&](const Tensor& given, std::int64_t position) {
      return rotate(session, spec, given, std::vector<std::int64_t>{position});
    };
    const Tensor once = turned(x, a);
    const Tensor twice = turned(reordered(encoding, once), b);
    const Tensor whole = turned(x, a + b);
    Judgement judgement;
    const auto place = [&] { return fmt::format("turned by {} and then by {}, against {} at once", a, b, a + b); };
    if (!all_finite(once) || !all_finite(twice) || !all_finite(whole)) {
      judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
      return judgement;
    }
    // Each call is within pair_bound of the exact rotation, by frequencies of the subject's own, of what it was given,
    // and rotations keep lengths but for the factor f:
    // ||y2 - f w|| <= B(f ||y1||, b) + f B(f ||x||, a) + f B(f ||x||, a + b), y2 = turned y1.
    judge_pairs(
        judgement, encoding, spec.dtype,
        [&](std::int64_t pair, Precision precision) {
          return distance(twice, whole, channels_of_pair(encoding, encoding.output_pairing, pair),
                          oracle.attention_factor(precision));
        },
        [&](std::int64_t pair, Precision precision) {
          const Enclosure& factor = oracle.attention_factor(precision);
          const Enclosure first = factor * norm_at(x, channels_of_pair(encoding, encoding.pairing, pair), precision);
          const Enclosure second =
              factor * norm_at(once, channels_of_pair(encoding, encoding.output_pairing, pair), precision);
          const auto allowed = [&](const Enclosure& norm, std::int64_t position) {
            return budget.pair_bound(norm, oracle.angle(position, pair, spec.max_position, precision), pair);
          };
          return Limit{allowed(second, b) + factor * (allowed(first, a) + allowed(first, a + b)), second};
        },
        place);
    return judgement;
  };
}

}  // namespace

Property identity_property() {
  Property property;
  property.id = "identity_at_zero";
  property.explanation = {
      "position 0 leaves vectors as they are",
      "R(0) x = a x, a the attention factor of rope_scaling (1 without)",
      "Su et al. 2021, section 3.2.2, equation 15, at m = 0",
      "rope where the claim reaches position 0",
      "the angle is 0 in every arithmetic, so only evaluation and rounding are left: sqrt(2) k ulp(a ||x_i||) for a "
      "pair "
      "(properties/model/budget.hpp)",
      "sine and cosine taken twice, a path with an offset of its own, an attention factor left out, a bias"};
  property.not_applicable = stated_for<Rope>([](const Spec& spec) -> std::optional<std::string> {
    if (!inside(spec, 0)) return "the claim does not reach position 0";
    return std::nullopt;
  });
  use_cases(property, still_tokens(), of<Rope>(identity_check));
  return property;
}

Property composition_property() {
  Property property;
  property.id = "composition";
  property.needs = Needs::live_subject;
  property.explanation = {
      "rotating twice is rotating by the sum of the positions; rotating back undoes it",
      "R(b) R(a) x = a_f R(a + b) x, a_f the attention factor; with b = -a: R(-a) R(a) x = a_f^2 x",
      "Su et al. 2021, section 3.2.2: the angles are m w_i, and rotations about one axis add",
      "rope where frequencies do not depend on the length of the call",
      "three calls, each within B = sqrt(2) k ulp(norm) + min(d, 2) norm of the exact rotation of what it was given, "
      "by whatever frequencies "
      "(properties/model/budget.hpp), and exact rotations keep lengths: B(f ||y1||, b) + f (B(f ||x||, a) + B(f ||x||, "
      "a + "
      "b))",
      "positions of low precision, wrapped or clamped; another rotary_dim in re-rotation than in rotation; offsets; a "
      "rotation that is none"};
  property.not_applicable = stated_for<Rope>([](const Spec& spec) -> std::optional<std::string> {
    if (!inside(spec, 0) || spec.max_position < 2) return "the claim lacks position 0 or 1";
    return depends_on_length(spec);
  });
  use_cases(property, turns(), of<Rope>(composition_check));
  return property;
}

}  // namespace sextant
