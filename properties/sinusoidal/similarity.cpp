#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/budget.hpp"
#include "reference/rounding.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// The four rows of a case: two anchors, each with the row at the offset from it.
enum RowIndex : std::int64_t { anchor, moved_anchor, other, moved_other };

Check make_check(const Spec& spec) {
  const auto& encoding = std::get<Sinusoidal>(spec.encoding);
  reference::SinusoidalReference oracle(encoding);
  const ErrorBudget budget =
      ErrorBudget(spec.accuracy, spec.dtype, oracle.frequencies(), pairs(encoding)).of_own_frequencies();
  return [spec, encoding, oracle, budget](Session& session, const Case& values) mutable {
    const std::vector<std::int64_t> positions{values[0], values[0] + values[2], values[1], values[1] + values[2]};
    const Tensor table = encode(session, spec, positions);
    Judgement judgement;
    const auto place = [&] { return fmt::format("offset {}, from {} and from {}", values[2], values[0], values[1]); };
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
      return fmt::format("{}: {:.9g} and {:.9g}: {:.3g} times the bound", place(), near, far, deviation.of_bound);
    });
    return judgement;
  };
}

}  // namespace

Property similarity_property() {
  Property property;
  property.id = "similarity";
  property.explanation = {
      "how alike two codes are depends on their distance only",
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
  property.fields = [](const Spec&) { return std::vector<std::string>{"position", "other_position", "offset"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (!std::holds_alternative<Sinusoidal>(spec.encoding)) return not_stated_for(spec);
    if (spec.max_position - spec.min_position < 2) return "the claim has one position only";
    return std::nullopt;
  };
  property.admits = [](const Spec& spec, const Case& values) {
    const auto inside = [&](std::int64_t p) { return p >= spec.min_position && p < spec.max_position; };
    return values[2] >= 0 && inside(values[0]) && inside(values[1]) &&
           values[2] < spec.max_position - std::max(values[0], values[1]);
  };
  property.simplest = [](const Spec& spec) {
    const std::int64_t p = gen::simplest_position(gen::range_of(spec));
    return Case{p, p, 0};
  };
  property.first_cases = [](const Spec& spec) {
    const std::int64_t p = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2);
    return std::vector<Case>{
        {p, spec.max_position - 2, 1},
        {spec.min_position, (spec.min_position + spec.max_position) / 2, (spec.max_position - spec.min_position) / 3}};
  };
  property.cases = [](const Spec& spec) {
    const auto starts = gen::position({spec.min_position, spec.max_position - 1});
    const auto parts = rc::gen::tuple(starts, starts, gen::position({0, spec.max_position - spec.min_position}));
    return rc::gen::map(parts,
                        [last = spec.max_position](const std::tuple<std::int64_t, std::int64_t, std::int64_t>& drawn) {
                          const auto [p, q, offset] = drawn;
                          return Case{p, q, offset % (last - std::max(p, q))};
                        });
  };
  property.make_check = make_check;
  return property;
}

}  // namespace sextant
