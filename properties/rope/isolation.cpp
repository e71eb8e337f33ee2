#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/gen/floats.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/turned_call.hpp"

// Three properties of one experiment: a call is asked, one pair of one vector is changed, and the call is asked again.
// The properties say where the answers must not differ.

namespace sextant {
namespace {

using gen::FloatClass;

enum class Where { own_vector, other_vectors };

// A question, which vector of it changes, which pair of that, and the bits of what it becomes. Vectors and pairs are
// counted round.
struct Change : Question {
  std::int64_t vector;
  std::int64_t pair;
  std::int64_t bits;
};

struct Experiment {
  Tensor before;
  Tensor after;
  std::int64_t start;          // of the vector that was changed
  std::set<std::int64_t> own;  // the changed pair's output channels
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
  Experiment experiment{rotations.ask(session, call), {}, start, {out.first, out.second}};
  call.vectors[0].set(start + in.first, change);
  call.vectors[0].set(start + in.second, change / 2);
  experiment.after = rotations.ask(session, call);
  return experiment;
}

// 0 and -0 are the same, since a sum with an exact zero may change the one into the other.
bool same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

Judgement judge(const Experiment& experiment, const Spec& spec, std::int64_t head_dim, Where where) {
  Judgement judgement;
  for (std::int64_t i = 0; i < experiment.before.elements(); ++i) {
    const std::int64_t channel = i - experiment.start;
    const bool in_vector = channel >= 0 && channel < head_dim;
    if (in_vector != (where == Where::own_vector) || (in_vector && experiment.own.contains(channel))) continue;
    const double a = experiment.before.at(i);
    const double b = experiment.after.at(i);
    judgement.add_exact(
        same_value(a, b)
            ? std::nullopt
            : std::optional(fmt::format("vector {}, channel {}: {} became {} when another pair changed", i / head_dim,
                                        i % head_dim, value_text(spec.dtype, a), value_text(spec.dtype, b))),
        [] { return "untouched"; });
  }
  if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "nothing else to touch"; });
  return judgement;
}

// Cases whose change is of one of `classes`, each of which has a first case of its own.
CasesOf<Change> changes(const std::vector<FloatClass>& classes) {
  const auto many = [](const Spec&) { return std::int64_t{1} << 20; };
  CasesOf<Change> cases = questions<Change>(
      {{"vector", FieldRole::choice, &Change::vector, many},
       {"pair", FieldRole::choice, &Change::pair, many},
       {"bits", FieldRole::bits, &Change::bits, [](const Spec& spec) { return gen::bit_patterns(spec.dtype); }}});
  cases.first = [first = cases.first, classes](const Spec& spec) {
    const std::vector<Change> asked = first(spec);
    std::vector<Change> list;
    for (std::size_t i = 0; i < std::max(asked.size(), classes.size()); ++i) {
      list.push_back(asked[i % asked.size()]);
      list.back().bits = gen::float_in(spec.dtype, classes[i % classes.size()], i);
    }
    return list;
  };
  cases.drawn = [drawn = cases.drawn, classes](const Spec& spec) {
    return rc::gen::map(rc::gen::pair(drawn(spec), gen::float_bits(spec.dtype, classes)),
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

Property isolation_property(Where where, const std::vector<FloatClass>& classes) {
  Property property;
  property.needs = Needs::live_subject;
  property.not_applicable = stated_for<Rope, RopeNd, Xpos>();
  use_cases(property, changes(classes), [where](const Spec& spec) {
    return [spec, where, rotations = Rotations(spec)](Session& session, const Change& change) {
      return judge(carry_out(session, spec, rotations, change), spec, rotations.head().head_dim, where);
    };
  });
  return property;
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
  Property property = isolation_property(Where::own_vector, special_classes);
  property.id = "nan_isolation";
  property.level = Level::advice;
  property.explanation = {"a NaN or an infinity stays in its pair",
                          "(R x)_j = (R x')_j for j != i, where x' is x with pair i changed to NaN or infinity",
                          source,
                          "rope, rope_nd, xpos",
                          "none: the values of the other channels are equal",
                          "masks made by multiplication with 0, dense products with the whole rotation matrix"};
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
