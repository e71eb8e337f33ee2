#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/floats.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/turned_call.hpp"

// Three properties of one experiment: a call is asked, one pair of one vector is changed, and the call is asked again.
// The properties say where the answers must not differ, and what a pair that is not finite becomes.

namespace sextant {
namespace {

using gen::FloatClass;

enum class Where { own_vector, other_vectors };

// Which of a pair's two values change.
enum class Part : std::int64_t { both, first, second };
constexpr std::int64_t part_count = 3;

// A question, which vector of it changes, which pair of that, the bits of what it becomes, and the Part of it that
// does. Vectors and pairs are counted round.
struct Change : Question {
  std::int64_t vector = 0;
  std::int64_t pair = 0;
  std::int64_t bits = 0;
  std::int64_t part = static_cast<std::int64_t>(Part::both);
};

struct Experiment {
  Call call;                    // as it was changed
  std::array<double, 2> given;  // the pair before
  Tensor before;
  Tensor after;
  std::int64_t vector;  // that was changed
  std::int64_t start;   // of it
  std::int64_t pair;
  Channels in;
  Channels out;
};

// Values that the dtype cannot hold stay within it: the change is about isolation, not overflow.
double fitting(Dtype dtype, double value) {
  return std::isfinite(value) && std::fabs(value) > largest_finite(dtype) / 4
             ? std::copysign(largest_finite(dtype) / 4, value)
             : value;
}

Experiment carry_out(Session& session, const Spec& spec, const Rotations& rotations, const Change& question) {
  const Rope& head = rotations.head();
  Call call = rotations.call(question);
  const std::int64_t vector = question.vector % (question.batch * question.tokens * question.heads);
  const std::int64_t pair = question.pair % (head.rotary_dim / 2);  // whether pairs turn or not
  const double change = fitting(spec.dtype, gen::from_bits(spec.dtype, question.bits));
  const std::int64_t start = vector * head.head_dim;
  const Channels in = channels_of_pair(head, head.pairing, pair);
  const Channels out = channels_of_pair(head, head.output_pairing, pair);
  Tensor before = rotations.ask(session, call);
  const std::array given{call.vectors[0].at(start + in.first), call.vectors[0].at(start + in.second)};
  const auto part = static_cast<Part>(question.part);
  if (part != Part::second) call.vectors[0].set(start + in.first, change);
  if (part != Part::first) call.vectors[0].set(start + in.second, change / 2);
  Tensor after = rotations.ask(session, call);
  return {std::move(call), given, std::move(before), std::move(after), vector, start, pair, in, out};
}

// 0 and -0 are the same, since a sum with an exact zero may change the one into the other.
bool same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

Judgement judge(const Experiment& experiment, const Spec& spec, std::int64_t head_dim, Where where) {
  Judgement judgement;
  const std::set<std::int64_t> own{experiment.out.first, experiment.out.second};
  const std::string changed =
      where == Where::own_vector ? "another pair" : fmt::format("a pair of vector {}", experiment.vector);
  for (std::int64_t i = 0; i < experiment.before.elements(); ++i) {
    const std::int64_t channel = i - experiment.start;
    const bool in_vector = channel >= 0 && channel < head_dim;
    if (in_vector != (where == Where::own_vector) || (in_vector && own.contains(channel))) continue;
    const double a = experiment.before.at(i);
    const double b = experiment.after.at(i);
    judgement.add_exact(
        same_value(a, b)
            ? std::nullopt
            : std::optional(fmt::format("vector {}, channel {}: {} became {} when {} changed", i / head_dim,
                                        i % head_dim, value_text(spec.dtype, a), value_text(spec.dtype, b), changed)),
        [] { return "untouched"; });
  }
  if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "nothing else to touch"; });
  return judgement;
}

// What a value of the pair is multiplied by on its way into one of the turned pair.
struct Coefficient {
  bool is_nonzero;  // the true one
  int sign;         // 1 or -1 where every implementation within the claim has that, none of them 0; else 0
};

// Of each value of the turned pair, of both values of the pair.
using Coefficients = std::array<std::array<Coefficient, 2>, 2>;

// A pair that turns moves (1, 0) to its cosine and sine, (0, 1) to -sine and cosine, times its scale; an implementation
// within the claim is no further from them than the bound on a pair of length 1. A pair that stands still is copied, or
// multiplied by 1 and 0.
Coefficients coefficients_of(const Rotations& rotations, const Experiment& experiment) {
  if (experiment.pair >= pairs(rotations.head())) return {{{{{true, 1}, {false, 0}}}, {{{false, 0}, {true, 1}}}}};
  constexpr reference::Precision precision = reference::first_precision;
  const reference::Enclosure zero(0.0, precision);
  const reference::Enclosure one(1.0, precision);
  const VectorPlace place = rotations.place(experiment.call, experiment.vector, rotations.lengths(experiment.call));
  Coefficients all{};
  for (std::size_t from = 0; from < 2; ++from) {
    const reference::RealPair unit = from == 0 ? reference::RealPair{one, zero} : reference::RealPair{zero, one};
    const TurnedPair turned = rotations.oracle().turned(place, experiment.pair, unit, precision);
    for (std::size_t to = 0; to < 2; ++to) {
      const reference::Enclosure& value = to == 0 ? turned.value.first : turned.value.second;
      all[to][from] = {certainly_above(abs(value), zero), certainly_above(value, turned.bound)    ? 1
                                                          : certainly_above(-value, turned.bound) ? -1
                                                                                                  : 0};
    }
  }
  return all;
}

// What is wrong with a value of the turned pair that was `before` and is `after`, `given` being the pair. NaN times
// anything is NaN. An infinity times what is not 0 is one, of their sign; with another of the other sign it is NaN, and
// so it is in sums with an error term (infinity - infinity). What 0 multiplies is NaN or, where code copies or skips,
// as it was; infinite where its 0 is rounded.
std::optional<std::string> difference_from_arithmetic(const std::array<double, 2>& given,
                                                      const std::array<Coefficient, 2>& by, double before,
                                                      double after) {
  bool must_be_nan = false;
  bool must_not_be_finite = false;
  std::set<int> signs;
  for (std::size_t i = 0; i < 2; ++i) {
    if (std::isfinite(given[i])) continue;
    must_be_nan = must_be_nan || (std::isnan(given[i]) && by[i].is_nonzero);
    must_not_be_finite = must_not_be_finite || (std::isinf(given[i]) && by[i].sign != 0);
    signs.insert(std::signbit(given[i]) ? -by[i].sign : by[i].sign);
  }
  if (std::isnan(after)) return std::nullopt;
  if (must_be_nan) return "expected NaN";
  if (must_not_be_finite && std::isfinite(after)) return "expected an infinity or NaN";
  const bool has_one_sign = signs.size() == 1 && *signs.begin() != 0;
  if (std::isinf(after) && has_one_sign && std::signbit(after) != (*signs.begin() < 0))
    return "expected an infinity of the other sign or NaN";
  if (std::isfinite(after) && after != before) return "expected NaN, an infinity or what it was";
  return std::nullopt;
}

// Whether the pair was turned as claimed while it was finite: at another angle infinities have other signs, which says
// nothing of how they are treated.
bool was_right(const Rotations& rotations, const Experiment& experiment, const VectorPlace& place) {
  const double first = experiment.before.at(experiment.start + experiment.out.first);
  const double second = experiment.before.at(experiment.start + experiment.out.second);
  if (experiment.pair >= pairs(rotations.head()))
    return same_value(first, experiment.given[0]) && same_value(second, experiment.given[1]);
  if (!std::isfinite(first) || !std::isfinite(second)) return false;
  constexpr reference::Precision precision = reference::first_precision;
  const auto exactly = [](double value) { return reference::Enclosure(value, reference::first_precision); };
  const TurnedPair turned = rotations.oracle().turned(
      place, experiment.pair, {exactly(experiment.given[0]), exactly(experiment.given[1])}, precision);
  return !certainly_above(hypot(exactly(first) - turned.value.first, exactly(second) - turned.value.second),
                          turned.bound);
}

// What the changed pair itself has become.
void judge_own_pair(Judgement& judgement, const Experiment& experiment, const Spec& spec, const Rotations& rotations) {
  const Tensor& x = experiment.call.vectors[0];
  const std::array given{x.at(experiment.start + experiment.in.first), x.at(experiment.start + experiment.in.second)};
  const VectorPlace place = rotations.place(experiment.call, experiment.vector, rotations.lengths(experiment.call));
  const bool turns = experiment.pair < pairs(rotations.head());
  if (turns && !rotations.oracle().is_representable(place, experiment.pair, 1)) return;
  if (!was_right(rotations, experiment, place)) return;
  const Coefficients coefficients = coefficients_of(rotations, experiment);
  for (std::size_t to = 0; to < 2; ++to) {
    const std::int64_t channel = to == 0 ? experiment.out.first : experiment.out.second;
    const double before = experiment.before.at(experiment.start + channel);
    const double after = experiment.after.at(experiment.start + channel);
    std::optional<std::string> difference = difference_from_arithmetic(given, coefficients[to], before, after);
    if (difference) {
      difference =
          fmt::format("{}, channel {}: {} of the pair ({}, {}), {}",
                      text_of(place, rotations.head(), experiment.vector), channel, value_text(spec.dtype, after),
                      value_text(spec.dtype, given[0]), value_text(spec.dtype, given[1]), *difference);
    }
    judgement.add_exact(difference, [] { return "untouched"; });
  }
}

// Cases whose change is of one of `classes`, each of which has a first case of its own; with `further` integers.
CasesOf<Change> changes(const std::vector<FloatClass>& classes, const std::vector<ExtraOf<Change>>& further) {
  const auto many = [](const Spec&) { return std::int64_t{1} << 20; };
  std::vector<ExtraOf<Change>> extra{
      {"vector", FieldRole::choice, &Change::vector, many},
      {"pair", FieldRole::choice, &Change::pair, many},
      {"bits", FieldRole::bits, &Change::bits, [](const Spec& spec) { return gen::bit_patterns(spec.dtype); }}};
  extra.insert(extra.end(), further.begin(), further.end());
  CasesOf<Change> cases = questions<Change>(extra);
  cases.first = [first = cases.first, classes, has_parts = !further.empty()](const Spec& spec) {
    const std::vector<Change> asked = first(spec);
    std::vector<Change> list;
    for (std::size_t i = 0; i < std::max(asked.size(), classes.size() * (has_parts ? part_count : 1)); ++i) {
      list.push_back(asked[i % asked.size()]);
      list.back().bits = gen::float_in(spec.dtype, classes[i % classes.size()], i);
      if (has_parts) list.back().part = static_cast<std::int64_t>(i / classes.size()) % part_count;
    }
    return list;
  };
  cases.drawn = [drawn = cases.drawn, classes](const Spec& spec) {
    return gen::map(gen::pair(drawn(spec), gen::float_bits(spec.dtype, classes)),
                    [](std::pair<Change, std::int64_t> change) {
                      change.first.bits = change.second;
                      return change.first;
                    });
  };
  const bool finite = std::ranges::find(classes, FloatClass::zero) != classes.end();
  const bool special = std::ranges::find(classes, FloatClass::nan) != classes.end();
  cases.related = [finite, special](const Spec& spec, const Change& change) {
    return std::isfinite(gen::from_bits(spec.dtype, change.bits)) ? finite : special;
  };
  return cases;
}

using JudgeOf = std::function<Judgement(const Experiment&, const Spec&, const Rotations&)>;

Property property_of(CasesOf<Change> cases, const JudgeOf& judge_of) {
  Property property;
  property.needs = Needs::live_subject;
  property.not_applicable = stated_for<Rope, RopeNd, Xpos>();
  use_cases(property, std::move(cases), [judge_of](const Spec& spec) {
    return [spec, judge_of, rotations = Rotations(spec)](Session& session, const Change& change) {
      return judge_of(carry_out(session, spec, rotations, change), spec, rotations);
    };
  });
  return property;
}

Property isolation_property(Where where, const std::vector<FloatClass>& classes) {
  return property_of(changes(classes, {}),
                     [where](const Experiment& experiment, const Spec& spec, const Rotations& rotations) {
                       return judge(experiment, spec, rotations.head().head_dim, where);
                     });
}

const std::vector<FloatClass> finite_classes{FloatClass::zero, FloatClass::huge, FloatClass::subnormal,
                                             FloatClass::normal, FloatClass::beside_power_of_two};
const std::vector<FloatClass> special_classes{FloatClass::nan, FloatClass::infinite};

constexpr const char* source =
    "Su et al. 2021, section 3.2.2, equation 15: R is block diagonal, one 2 x 2 block a pair";

}  // namespace

Property pair_isolation_property() {
  Property property = isolation_property(Where::own_vector, finite_classes);
  property.id = "pair_isolation";
  property.explanation = {
      "a pair's rotation does not depend on the other pairs",
      "(R x)_j = (R x')_j for j != i, where x' is x with pair i changed to another finite value: zero, subnormal, "
      "huge, beside a power of two or any other",
      source,
      "rope, rope_nd, xpos",
      "none: the values of the other channels are equal (0 and -0 are the same); the call is the same in shape and "
      "positions",
      "quantisation by blocks, fused normalisation, lanes that read a neighbour, dense products in low precision"};
  return property;
}

Property nan_isolation_property() {
  const ExtraOf<Change> part{"part", FieldRole::choice, &Change::part, [](const Spec&) { return part_count; }};
  Property property = property_of(
      changes(special_classes, {part}), [](const Experiment& experiment, const Spec& spec, const Rotations& rotations) {
        Judgement judgement = judge(experiment, spec, rotations.head().head_dim, Where::own_vector);
        judge_own_pair(judgement, experiment, spec, rotations);
        return judgement;
      });
  property.id = "nan_isolation";
  property.level = Level::advice;
  property.explanation = {
      "a NaN or an infinity reaches its pair, and stays in it",
      "(R x)_j = (R x')_j for j != i, where x' is x with a value or both of pair i changed to NaN or infinity. Of pair "
      "i, a value is NaN if a NaN has a part in it that is not 0, and infinite, of its sign, or NaN if an infinity "
      "has; "
      "what a part of 0 multiplies is NaN, infinite or as it was",
      "Su et al. 2021, section 3.2.2, equation 15: R is block diagonal, one 2 x 2 block a pair; IEEE 754: a NaN that "
      "is "
      "an operand is the result, infinity times a number but 0 is infinite, times 0 NaN",
      "rope, rope_nd, xpos",
      "none: the values of the other channels are equal; a part is a sine or cosine that its class does not let be 0",
      "masks made by multiplication with 0, dense products with the whole rotation matrix, NaN replaced by 0, values "
      "clipped to the dtype's range"};
  return property;
}

Property token_isolation_property() {
  Property property =
      isolation_property(Where::other_vectors, {gen::every_float_class.begin(), gen::every_float_class.end()});
  property.id = "token_isolation";
  property.level = Level::contract;
  property.explanation = {
      "a token's vectors do not depend on those of other tokens, heads or batch rows",
      "R(x)[b, t, h] = R(x')[b, t, h], where x' is x with another vector changed, to NaN and infinity too",
      "Su et al. 2021, section 3.2.2, equation 15: R acts on each vector by itself",
      "rope, rope_nd, xpos",
      "none: the values of the other vectors are equal (0 and -0 are the same); the call is the same in shape and "
      "positions",
      "writes past the end of a head, wrong strides, buffers shared between heads, values that stay from an earlier "
      "call"};
  return property;
}

}  // namespace sextant
