#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rounding.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// Two anchors, and the same offset from each.
struct Anchors {
  std::int64_t position;
  std::int64_t other_position;
  std::int64_t offset;
};

CasesOf<Anchors> anchors() {
  CasesOf<Anchors> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Anchors>> {
    return {{"position", FieldRole::position, &Anchors::position, claimed(spec)},
            {"other_position", FieldRole::position, &Anchors::other_position, claimed(spec)},
            {"offset", FieldRole::step, &Anchors::offset, {0, spec.max_position - 1 - spec.min_position}}};
  };
  cases.related = [](const Spec& spec, const Anchors& asked) {
    return asked.offset < spec.max_position - std::max(asked.position, asked.other_position);
  };
  cases.first = [](const Spec& spec) -> std::vector<Anchors> {
    const std::int64_t near = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2);
    return {{.position = near, .other_position = spec.max_position - 2, .offset = 1},
            {.position = spec.min_position,
             .other_position = (spec.min_position + spec.max_position) / 2,
             .offset = (spec.max_position - spec.min_position) / 3}};
  };
  cases.drawn = [](const Spec& spec) {
    const auto starts = gen::position({spec.min_position, spec.max_position - 1});
    const auto parts = gen::tuple(starts, starts, gen::position({0, spec.max_position - spec.min_position}));
    return gen::map(parts,
                    [last = spec.max_position](const std::tuple<std::int64_t, std::int64_t, std::int64_t>& drawn) {
                      const auto [p, q, offset] = drawn;
                      return Anchors{p, q, offset % (last - std::max(p, q))};
                    });
  };
  return cases;
}

// The four rows of a call: each anchor with the row at the offset from it.
enum RowIndex : std::int64_t { anchor, moved_anchor, other, moved_other };

CheckOf<Anchors> similarity_check(const Spec& spec, const Sinusoidal& encoding) {
  reference::SinusoidalReference oracle(encoding);
  const ErrorBudget budget =
      ErrorBudget(arithmetic_of(spec), oracle.frequencies(), pairs(encoding)).of_own_frequencies();
  return [spec, encoding, oracle, budget](Session& session, const Anchors& asked) mutable {
    const auto& [p, q, offset] = asked;
    const std::vector<std::int64_t> positions{p, p + offset, q, q + offset};
    const Tensor table = encode(session, spec, positions);
    Judgement judgement;
    const auto place = [&asked, &grid = encoding.positions] {
      return fmt::format("offset {}, from {} and from {}", grid.text(asked.offset), grid.text(asked.position),
                         grid.text(asked.other_position));
    };
    for (std::int64_t i = 0; i < table.elements(); ++i) {
      if (std::isfinite(table.at(i))) continue;
      judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
      return judgement;
    }
    double near = 0;
    double far = 0;
    Deviation deviation;
    const Certainty within = reference::decide([&](Precision precision) {
      const auto dot = [&](RowIndex a, RowIndex b) {
        Enclosure sum(std::int64_t{0}, precision);
        for (std::int64_t i = 0; i < encoding.dim; ++i)
          sum = sum + Enclosure(table.at(a * encoding.dim + i), precision) *
                          Enclosure(table.at(b * encoding.dim + i), precision);
        return sum;
      };
      // |<a + e, b + f> - <a, b>| <= |e| |b| + |f| |a| + |e| |f| pair by pair, all of length `scale`, for the two
      // products.
      const Enclosure radius = abs(Enclosure(encoding.scale, precision));
      Enclosure bound(std::int64_t{0}, precision);
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const auto error = [&](RowIndex row) {
          return budget.pair_bound(radius, oracle.angle(positions[static_cast<std::size_t>(row)], pair, precision),
                                   pair);
        };
        for (const auto& [a, b] : {std::pair{anchor, moved_anchor}, std::pair{other, moved_other}})
          bound = bound + (error(a) + error(b)) * radius + error(a) * error(b);
      }
      const Enclosure one = dot(anchor, moved_anchor);
      const Enclosure two = dot(other, moved_other);
      near = one.upper();
      far = two.upper();
      const Enclosure difference = abs(one - two);
      deviation = deviation_of(difference, bound, reference::ulp(spec.dtype, one).upper());
      return reference::at_most(difference, bound);
    });
    judgement.add(within, deviation, [&] {
      return fmt::format("{}: {:.9g} and {:.9g}: {}", place(), near, far, bound_text(deviation.of_bound));
    });
    return judgement;
  };
}

}  // namespace

Property similarity_property() {
  Property property;
  property.id = "similarity";
  property.explanation = {
      "the dot product of two codes depends only on the distance of their positions",
      "<PE(p), PE(p + k)> = <PE(q), PE(q + k)> = scale^2 sum_i cos(w_i k) for all p, q and k, so k and -k are alike "
      "too",
      "Vaswani et al. 2017, section 3.5: cos a cos b + sin a sin b = cos(a - b), summed over the pairs",
      "sinusoidal",
      "each pair of a row is within e = sqrt(2) k ulp(scale) + min(d, 2) scale of its value at frequencies that need "
      "not be the claim's "
      "(properties/model/budget.hpp), so each product is within the sum over pairs of (e + e') scale + e e', and the "
      "two "
      "differ by at most the sum of both",
      "positions of low precision, a sine and a cosine of different frequencies, positions clamped, wrapped or taken "
      "from the call"};
  property.not_applicable = stated_for<Sinusoidal>(one_position_only);
  use_cases(property, anchors(), of<Sinusoidal>(similarity_check));
  return property;
}

}  // namespace sextant
