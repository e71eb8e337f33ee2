#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/family.hpp"
#include "properties/model/question.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/turned_call.hpp"
#include "properties/rope/turned.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

// Rotations by multiples of one frequency form a group: R(0) = 1 and R(b) R(a) = R(a + b), R(-a) R(a) = 1 included.

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// y of one call in the places where the next call reads it: where input and output are paired alike, y itself.
Tensor reordered(const Rope& head, const Tensor& y) {
  Tensor x = y;
  for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
    const Channels from = channels_of_pair(head, head.output_pairing, pair);
    const Channels to = channels_of_pair(head, head.pairing, pair);
    x.set(to.first, y.at(from.first));
    x.set(to.second, y.at(from.second));
  }
  for (const Passthrough& untouched : passthrough_channels(head)) x.set(untouched.input, y.at(untouched.output));
  return x;
}

// |a - factor b|.
Enclosure distance(const GivenPair& a, const GivenPair& b, const Enclosure& factor) {
  const Precision precision = factor.precision();
  return hypot(Enclosure(a.first, precision) - factor * Enclosure(b.first, precision),
               Enclosure(a.second, precision) - factor * Enclosure(b.second, precision));
}

struct Limit {
  Enclosure bound;
  Enclosure norm;
};

// Judges error_at(precision) <= limit_at(precision).bound for one pair.
template <class ErrorAt, class LimitAt, class Text>
void judge_pair(Judgement& judgement, Dtype dtype, ErrorAt error_at, LimitAt limit_at, Text text) {
  Deviation deviation;
  const Certainty within = reference::decide([&](Precision precision) {
    const Enclosure error = error_at(precision);
    const Limit limit = limit_at(precision);
    deviation = deviation_of(error, limit.bound, reference::ulp(dtype, limit.norm).upper());
    return reference::at_most(error, limit.bound);
  });
  judgement.add(within, deviation, [&] {
    return fmt::format("{}: off by {:.3g}, {}", text(), deviation.absolute, bound_text(deviation.of_bound));
  });
}

std::string not_finite_text(const std::string& place) { return place + ": a value is NaN or infinite"; }

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
    return gen::map(gen::pair(gen::one_of({1, 1, 2, 5, 17}), gen::count(0, 1000)),
                    [](const std::pair<std::int64_t, std::int64_t>& drawn) {
                      return Still{.tokens = drawn.first, .fill = drawn.second};
                    });
  };
  return cases;
}

CheckOf<Still> identity_check(const Spec& spec) {
  return [spec, axes = axes_of(spec.encoding), rotations = Rotations(spec)](Session& session, const Still& asked) {
    const Rope& head = rotations.head();
    TurningOracle& oracle = rotations.oracle();
    const Tensor x = gen::vectors(head, spec.dtype, {.batch = 1, .tokens = asked.tokens, .heads = 1}, asked.fill);
    const Tensor y =
        rotate(session, spec, x, std::vector<std::int64_t>(static_cast<std::size_t>(axes * asked.tokens), 0));
    const VectorPlace origin{std::vector<std::int64_t>(static_cast<std::size_t>(axes), 0), 1, oracle.role()};
    Judgement judgement;
    for (std::int64_t token = 0; token < asked.tokens; ++token) {
      const std::int64_t start = token * head.head_dim;
      for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
        const GivenPair given = pair_in(x, start, channels_of_pair(head, head.pairing, pair));
        const GivenPair got = pair_in(y, start, channels_of_pair(head, head.output_pairing, pair));
        const auto text = [&] { return fmt::format("position 0, token {} of {}, pair {}", token, asked.tokens, pair); };
        if (!got.finite()) {
          judgement.add(Certainty::no, not_finite(), [&] { return not_finite_text(text()); });
          return judgement;
        }
        // Most have exactly the values that they must: doubles tell.
        if (oracle.stretch(origin, pair) == 1 && got.first == given.first && got.second == given.second) {
          judgement.add(Certainty::yes, {}, [&] { return text() + ": the values that were given"; });
          continue;
        }
        // The angle is exactly 0, and so the bound has nothing of its error.
        const auto truth = [&](Precision precision) {
          return oracle.turned(origin, pair, given.real(precision), precision);
        };
        judge_pair(
            judgement, spec.dtype,
            [&](Precision precision) {
              const reference::RealPair value = truth(precision).value;
              const reference::RealPair real = got.real(precision);
              return hypot(real.first - value.first, real.second - value.second);
            },
            [&](Precision precision) {
              const TurnedPair turned = truth(precision);
              return Limit{turned.bound, turned.norm};
            },
            text);
      }
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
        gen::tuple(gen::position(gen::range_of(spec)), gen::position(gen::range_of(spec)), gen::count(0, 1000));
    return gen::map(parts, [spec](const std::tuple<std::int64_t, std::int64_t, std::int64_t>& drawn) {
      const auto [a, b, fill] = drawn;
      // Halved, so that the sum is inside too.
      return inside(spec, a + b) ? Turns{a, b, fill} : Turns{a / 2, b / 2, fill};
    });
  };
  return cases;
}

// The sum of two positions is that of their coordinates. On every second axis they exchange theirs, so that axes can be
// told apart.
std::vector<std::int64_t> coordinates(std::int64_t axes, std::int64_t even, std::int64_t odd) {
  std::vector<std::int64_t> place;
  for (std::int64_t axis = 0; axis < axes; ++axis) place.push_back(axis % 2 == 0 ? even : odd);
  return place;
}

CheckOf<Turns> composition_check(const Spec& spec) {
  return [spec, axes = axes_of(spec.encoding), rotations = Rotations(spec)](Session& session, const Turns& asked) {
    const Rope& head = rotations.head();
    TurningOracle& oracle = rotations.oracle();
    const std::int64_t a = asked.position;
    const std::int64_t b = asked.by;
    const Tensor x = gen::vectors(head, spec.dtype, {.batch = 1, .tokens = 1, .heads = 1}, asked.fill);
    const auto place = [&](std::int64_t even, std::int64_t odd) {
      return VectorPlace{coordinates(axes, even, odd), spec.max_position, oracle.role()};
    };
    const VectorPlace at_a = place(a, b);
    const VectorPlace at_b = place(b, a);
    const VectorPlace at_sum = place(a + b, a + b);
    const Tensor once = rotate(session, spec, x, at_a.coordinates);
    const Tensor between = reordered(head, once);
    const Tensor twice = rotate(session, spec, between, at_b.coordinates);
    const Tensor whole = rotate(session, spec, x, at_sum.coordinates);
    Judgement judgement;
    for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
      const Channels from = channels_of_pair(head, head.pairing, pair);
      const Channels to = channels_of_pair(head, head.output_pairing, pair);
      const GivenPair given = pair_in(x, 0, from);
      const GivenPair second = pair_in(between, 0, from);
      const GivenPair end = pair_in(twice, 0, to);
      const GivenPair at_once = pair_in(whole, 0, to);
      if (!oracle.is_representable(at_a, pair, given.length()) ||
          !oracle.is_representable(at_sum, pair, given.length()))
        continue;
      const auto text = [&] {
        return fmt::format("turned by {} and then by {}, against {} at once, pair {}", fmt::join(at_a.coordinates, "/"),
                           fmt::join(at_b.coordinates, "/"), fmt::join(at_sum.coordinates, "/"), pair);
      };
      if (!second.finite() || !at_once.finite()) {
        judgement.add(Certainty::no, not_finite(), [&] { return not_finite_text(text()); });
        return judgement;
      }
      if (!oracle.is_representable(at_b, pair, second.length())) continue;
      if (!end.finite()) {
        judgement.add(Certainty::no, not_finite(), [&] { return not_finite_text(text()); });
        return judgement;
      }
      // Each call is within B of the exact turn T, by frequencies of the subject's own, of what it was given, and
      // T(b) T(a) = c T(a + b). With y1 and y2 the two turns' results and w the one's:
      //   |y2 - c w| <= B(b, y1) + |T(b)| B(a, x) + c B(a + b, x).
      // Most are nearer than one before: doubles tell. Only what may be the worst so far is asked of the exact tier.
      const double factor = oracle.of_two_turns(reference::first_precision).upper();
      const double most = std::hypot(end.first - factor * at_once.first, end.second - factor * at_once.second) +
                          0x1p-50 * (std::fabs(end.first) + std::fabs(end.second) +
                                     std::fabs(factor) * (std::fabs(at_once.first) + std::fabs(at_once.second)));
      const double least_bound =
          (oracle.least_bound(at_b, pair, second.length()) +
           static_cast<double>(oracle.stretch(at_b, pair)) * oracle.least_bound(at_a, pair, given.length()) +
           std::fabs(factor) * oracle.least_bound(at_sum, pair, given.length())) *
          (1 - 0x1p-40);
      if (is_no_worse(judgement, most, least_bound)) continue;
      judge_pair(
          judgement, spec.dtype,
          [&](Precision precision) { return distance(end, at_once, oracle.of_two_turns(precision)); },
          [&](Precision precision) {
            const reference::RealPair real = given.real(precision);
            const reference::RealPair real_second = second.real(precision);
            const reference::RealPair unit{Enclosure(1.0, precision), Enclosure(0.0, precision)};
            const Enclosure stretch = oracle.turned(at_b, pair, unit, precision).norm;
            return Limit{oracle.bounds(at_b, pair, real_second, precision).own +
                             stretch * oracle.bounds(at_a, pair, real, precision).own +
                             oracle.of_two_turns(precision) * oracle.bounds(at_sum, pair, real, precision).own,
                         oracle.turned(at_b, pair, real_second, precision).norm};
          },
          text);
    }
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return no_pair_held; });
    return judgement;
  };
}

// Normalized coordinates count from the middle of the image.
std::optional<std::string> no_group(const Spec& spec) {
  const auto* xpos = held<Xpos>(spec);
  if (xpos != nullptr && xpos->centre != std::variant<std::int64_t, HalfOfCall>(std::int64_t{0}))
    return "xpos's powers count from the centre, not from position 0";
  const auto* axial = held<RopeNd>(spec);
  if (axial == nullptr || axial->coordinates == Coordinates::index) return std::nullopt;
  return "normalized coordinates do not count from position 0";
}

}  // namespace

Property identity_property() {
  Property property;
  property.id = "identity_at_zero";
  property.explanation = {
      "position 0 leaves vectors as they are",
      "R(0) x = a x, a the attention factor of rope_scaling (1 without)",
      "Su et al. 2021, section 3.2.2, equation 15, at m = 0",
      "rope, rope_nd and xpos where the claim reaches position 0 and coordinates count from it",
      "the angle is 0 in every arithmetic, so only evaluation and rounding are left: sqrt(2) k ulp(a ||x_i||) for a "
      "pair (properties/model/budget.hpp; for xpos also what its power errs by, xpos_budget.hpp)",
      "sine and cosine taken twice, a path with an offset of its own, an attention factor left out, a bias"};
  property.not_applicable =
      stated_for<Rope, RopeNd, Xpos>([](const Spec& spec, const auto& encoding) -> std::optional<std::string> {
        if (auto reason = no_pair_turns(spec, encoding)) return reason;
        if (!inside(spec, 0)) return "the claim does not reach position 0";
        return no_group(spec);
      });
  use_cases(property, still_tokens(), identity_check);
  return property;
}

Property composition_property() {
  Property property;
  property.id = "composition";
  property.needs = Needs::live_subject;
  property.explanation = {
      "rotating twice is rotating by the sum of the positions; rotating back undoes it",
      "R(b) R(a) x = a_f R(a + b) x, a_f the attention factor; with b = -a: R(-a) R(a) x = a_f^2 x; with xpos's powers "
      "a_f is 1, and with several axes a and b are added on each",
      "Su et al. 2021, section 3.2.2: the angles are m w_i, and rotations about one axis add",
      "rope, rope_nd and xpos where frequencies do not depend on the length of the call and coordinates count from 0",
      "three calls, each within B = sqrt(2) k ulp(norm) + min(d, 2) norm of the exact rotation of what it was given, "
      "by whatever frequencies (properties/model/budget.hpp; for xpos also xpos_budget.hpp), and exact rotations "
      "multiply lengths by the attention factor or power s: B(b, y1) + s(b) B(a, x) + a_f B(a + b, x)",
      "positions of low precision, wrapped or clamped; another rotary_dim in re-rotation than in rotation; offsets; a "
      "rotation that is none"};
  property.not_applicable =
      stated_for<Rope, RopeNd, Xpos>([](const Spec& spec, const auto& encoding) -> std::optional<std::string> {
        if (auto reason = no_pair_turns(spec, encoding)) return reason;
        if (!inside(spec, 0) || spec.max_position < 2) return "the claim lacks position 0 or 1";
        if (auto reason = no_group(spec)) return reason;
        return depends_on_length(spec);
      });
  use_cases(property, turns(), composition_check);
  return property;
}

}  // namespace sextant
