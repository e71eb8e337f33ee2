#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/family.hpp"
#include "properties/model/xpos_budget.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;
using reference::RealPair;

// A position and one further on, by `by`.
struct Steps {
  std::int64_t position;
  std::int64_t by;
  std::int64_t fill;
};

CasesOf<Steps> steps() {
  CasesOf<Steps> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Steps>> {
    return {{"position", FieldRole::position, &Steps::position, claimed(spec, 1)},
            {"by", FieldRole::step, &Steps::by, {1, spec.max_position - 1 - spec.min_position}},
            {"fill", FieldRole::fill, &Steps::fill, any_fill}};
  };
  cases.related = [](const Spec& spec, const Steps& asked) { return asked.by < spec.max_position - asked.position; };
  cases.first = [](const Spec& spec) -> std::vector<Steps> {
    const std::int64_t near = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2);
    // Far enough for the power to tell, in the dtype's range mostly; and a single step.
    return {{.position = near, .by = std::min<std::int64_t>(512, spec.max_position - 1 - near), .fill = 1},
            {.position = near, .by = 1, .fill = 2}};
  };
  cases.drawn = [](const Spec& spec) {
    const auto parts = gen::tuple(gen::position({spec.min_position, spec.max_position - 1}),
                                  gen::position({1, spec.max_position - spec.min_position}), gen::count(0, 1000));
    return gen::map(parts,
                    [last = spec.max_position](const std::tuple<std::int64_t, std::int64_t, std::int64_t>& drawn) {
                      const auto [position, by, fill] = drawn;
                      return Steps{position, 1 + (by - 1) % (last - 1 - position), fill};
                    });
  };
  return cases;
}

CheckOf<Steps> xpos_decay_check(const Spec& spec, const Xpos& encoding) {
  return [spec, encoding, oracle = XposBudget(encoding, arithmetic_of(spec), spec.max_position)](
             Session& session, const Steps& asked) mutable {
    const Rope& head = encoding.rope;
    const std::int64_t from_position = asked.position;
    const std::int64_t to_position = asked.position + asked.by;
    // One vector, at a position and further on.
    const Tensor drawn = gen::values(spec.dtype, {1, 1, 1, head.head_dim}, asked.fill + 1);
    Tensor x = Tensor::zeros(spec.dtype, {1, 2, 1, head.head_dim});
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, drawn.at(i % head.head_dim));
    const Tensor y = rotate(session, spec, x, std::vector<std::int64_t>{from_position, to_position});
    Judgement judgement;
    for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
      const Channels from = channels_of_pair(head, head.pairing, pair);
      const Channels to = channels_of_pair(head, head.output_pairing, pair);
      const auto given = [&](Precision precision) {
        return RealPair{Enclosure(x.at(from.first), precision), Enclosure(x.at(from.second), precision)};
      };
      const auto expected = [&](std::int64_t position, Precision precision) {
        return oracle.at({position, to_position + 1}, pair, given(precision), precision);
      };
      if (!expected(from_position, reference::first_precision).representable ||
          !expected(to_position, reference::first_precision).representable)
        continue;
      const auto place = [&] {
        return fmt::format("pair {}, from position {} to {}", pair, from_position, to_position);
      };
      const auto norm_of = [&](std::int64_t token, Precision precision) {
        return hypot(Enclosure(y.at(token * head.head_dim + to.first), precision),
                     Enclosure(y.at(token * head.head_dim + to.second), precision));
      };
      if (!std::isfinite(norm_of(0, reference::first_precision).upper()) ||
          !std::isfinite(norm_of(1, reference::first_precision).upper())) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
        continue;
      }
      double grew = 0;
      double stated = 0;
      Deviation deviation;
      const Certainty within = reference::decide([&](Precision precision) {
        const XposBudget::Pair here = expected(from_position, precision);
        const XposBudget::Pair there = expected(to_position, precision);
        const Enclosure power = there.scale / here.scale;
        const Enclosure one = norm_of(0, precision);
        const Enclosure two = norm_of(1, precision);
        // |y(p)| and |y(p + s)| are within e and e' of s(p) |x| and power times that: |two - power one| <= e' + power
        // e.
        const Enclosure error = abs(two - power * one);
        const Enclosure bound = there.norm_bound + power * here.norm_bound;
        stated = power.upper();
        grew = one.upper() > 0 ? two.upper() / one.upper() : 0;
        deviation = deviation_of(error, bound, reference::ulp(spec.dtype, there.norm).upper());
        return reference::at_most(error, bound);
      });
      judgement.add(within, deviation, [&] {
        return fmt::format("{}: the norm grew by {:.9g}, zeta to the power is {:.9g}: {}", place(), grew, stated,
                           bound_text(deviation.of_bound));
      });
    }
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return no_pair_held; });
    return judgement;
  };
}

}  // namespace

Property decay_property() {
  Property property;
  property.id = "decay";
  property.explanation = {
      "with each step a query's pair shrinks, and a key's grows, by the stated power, so that a score falls with the "
      "distance",
      "||y(p + s)_i|| = zeta_i^(s/scale_base) ||y(p)_i|| for a query, its inverse for a key: <y_q(n), y_k(m)>_i "
      "carries zeta_i^((n - m)/scale_base) <= 1 for n >= m",
      "Sun et al. 2022, section 3.2, algorithm 1",
      "xpos",
      "no error of the angle touches a norm: each is within e = sqrt(2) k ulp(N) + r N of its true value N, r the "
      "relative error of the scale "
      "(properties/model/xpos_budget.hpp), so |N' - power N| <= e' + power e; pairs beyond half the dtype's largest "
      "value "
      "are not judged",
      "another scale_base or zeta, roles exchanged, scales tiled so that the members of a pair differ, a scale counted "
      "from the start of the call"};
  property.not_applicable = stated_for<Xpos>(one_position_only);
  use_cases(property, steps(), of<Xpos>(xpos_decay_check));
  return property;
}

}  // namespace sextant
