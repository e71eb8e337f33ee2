#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/model/family.hpp"
#include "properties/model/measured_frequencies.hpp"
#include "properties/model/model.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// Two positions.
struct Stride {
  std::int64_t position;
  std::int64_t step;
};

CasesOf<Stride> strides() {
  CasesOf<Stride> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Stride>> {
    return {{"position", FieldRole::position, &Stride::position, claimed(spec, 1)},
            {"step", FieldRole::step, &Stride::step, {1, spec.max_position - spec.min_position}}};
  };
  cases.related = [](const Spec& spec, const Stride& stride) {
    return stride.step < spec.max_position - stride.position;
  };
  cases.first = [](const Spec& spec) {
    // Every fourth power of two that fits, from the simplest position on: each pair has its telling one.
    const std::int64_t p = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2);
    std::vector<Stride> list;
    for (std::int64_t step = 1; step < spec.max_position - p && step < (std::int64_t{1} << 20); step *= 4)
      list.push_back({.position = p, .step = step});
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    const auto parts = gen::pair(gen::position({spec.min_position, spec.max_position - 1}), gen::count(0, 20));
    return gen::map(parts, [last = spec.max_position](const std::pair<std::int64_t, std::int64_t>& drawn) {
      return Stride{drawn.first, std::min(std::int64_t{1} << drawn.second, last - 1 - drawn.first)};
    });
  };
  return cases;
}

// How far a pair turned from one point to the other, in radians per position; the true one is near `claimed`, which
// tells the whole turns.
double measured_frequency(const PairValues& here, const PairValues& there, double claimed, std::int64_t step) {
  const double turned =
      std::atan2(there.sin * here.cos - there.cos * here.sin, here.cos * there.cos + here.sin * there.sin);
  return claimed +
         std::remainder(turned - claimed * static_cast<double>(step), 2 * std::numbers::pi) / static_cast<double>(step);
}

bool is_finite(const PairValues& values) { return std::isfinite(values.sin) && std::isfinite(values.cos); }

// z(p + k) conj z(p) = a^2 e^(i w k); each z is within e of its true point, of length a: the product is off by at most
// a (e + e') + e e'.
void judge_pair(Judgement& judgement, const Spec& spec, EncodedPairs& pairs, const ErrorBudget& budget,
                std::int64_t pair, const Stride& stride, const PairValues& here, const PairValues& there) {
  const std::int64_t position = stride.position;
  const std::int64_t step = stride.step;
  const auto place = [&] {
    const PositionGrid grid = position_grid_of(spec.encoding);
    return fmt::format("pair {}, from position {} to {}", pair, grid.text(position), grid.text(position + step));
  };
  if (!is_finite(here) || !is_finite(there)) {
    judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
    return;
  }
  Deviation deviation;
  double claimed = 0;
  const Certainty within = reference::decide([&](Precision precision) {
    const reference::Rotation advance = pairs.advance(step, pair, precision);
    const Enclosure a = pairs.radius(precision);
    const Enclosure e = budget.pair_bound(a, pairs.angle(position, pair, precision), pair);
    const Enclosure f = budget.pair_bound(a, pairs.angle(position + step, pair, precision), pair);
    const auto exact = [&](double value) { return Enclosure(value, precision); };
    const Enclosure real = exact(there.cos) * exact(here.cos) + exact(there.sin) * exact(here.sin);
    const Enclosure imaginary = exact(there.sin) * exact(here.cos) - exact(there.cos) * exact(here.sin);
    const Enclosure error = hypot(real - square(a) * advance.cos, imaginary - square(a) * advance.sin);
    const Enclosure bound = a * (e + f) + e * f;
    claimed = advance.angle.upper() / static_cast<double>(step);
    deviation = deviation_of(error, bound, reference::ulp(spec.dtype, square(a)).upper());
    return reference::at_most(error, bound);
  });
  judgement.add(within, deviation, [&] {
    if (!keeps_length(here, there))
      return fmt::format("{}: its length went from {:.3g} to {:.3g}, so that its channels do not turn together: {}",
                         place(), std::hypot(here.sin, here.cos), std::hypot(there.sin, there.cos),
                         bound_text(deviation.of_bound));
    const double unit = position_grid_of(spec.encoding).step;
    return fmt::format("{}: frequency {:.9g} measured, {:.9g} claimed: {}", place(),
                       measured_frequency(here, there, claimed, step) / unit, claimed / unit,
                       bound_text(deviation.of_bound));
  });
}

CheckOf<Stride> frequencies_check(const Spec& spec) {
  const std::shared_ptr<EncodedPairs> pairs = model_of(spec)->encoded_pairs();
  return [spec, end = spec.max_position, pairs, budget = pairs->budget(spec.accuracy),
          recipes = recipe_lists(*pairs, spec.max_position)](Session& session, const Stride& stride) {
    const bool measures = stride.step == 1;
    const std::vector<std::int64_t> positions =
        measures ? measuring_positions(stride.position, end)
                 : std::vector<std::int64_t>{stride.position, stride.position + stride.step};
    const Rows rows = pairs->ask(session, positions);
    Judgement judgement;
    for (std::int64_t pair = 0; pair < pairs->count(); ++pair) {
      const auto i = static_cast<std::size_t>(pair);
      judge_pair(judgement, spec, *pairs, budget, pair, stride, rows[0][i], rows[1][i]);
    }
    if (measures) {
      const std::string no_pairs = unturned_text(rows);
      judgement.remark = no_pairs.empty()
                             ? frequencies_text(measured_frequencies(*pairs, budget, positions, rows), recipes)
                             : no_pairs;
    }
    return judgement;
  };
}

}  // namespace

Property frequencies_property() {
  Property property;
  property.id = "frequencies";
  property.explanation = {
      "each pair turns by the frequency that the spec states",
      "z_i(p + k) = e^(i w_i k) z_i(p), z_i = cos + i sin of pair i; w_i = base^(-2i/d), or base^(-i/(d/2 - shift)) "
      "under a shift of frequencies, scaled as "
      "rope_scaling says, in the spec's direction",
      "Vaswani et al. 2017, section 3.5; Su et al. 2021, section 3.2.2, equation 15; "
      "reference/rope_scaling.hpp for the scaling rules",
      "sinusoidal, rope where frequencies do not depend on the length of the call",
      "each z is within e = sqrt(2) k ulp(a) + min(d, 2) a of its true point "
      "(docs/proofs/accuracy-classes.md), so the product z(p + k) conj z(p) is within a (e + e') + e e' "
      "of a^2 e^(i w k); steps that are powers of two resolve slow pairs as finely as fast ones. "
      "What the result tells besides, whatever the verdict, is measured by phases over steps up to 2^20: the frequency "
      "furthest from the claimed one, in ULP of float32, and the known recipe that has the same list "
      "(properties/model/measured_frequencies.hpp)",
      "another base, exponent or rotary_dim; a frequency list in another order; scaling left out, "
      "blended the wrong way or rounded; the other direction"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    const auto model = model_of(spec);
    if (!model->encoded_pairs()) return not_stated_for(spec);
    if (auto reason = one_position_only(spec)) return reason;
    return model->depends_on_length();
  };
  use_cases(property, strides(), frequencies_check);
  return property;
}

}  // namespace sextant
