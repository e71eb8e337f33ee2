#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/family.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// Consecutive positions from one on.
struct Rows {
  std::int64_t position;
  std::int64_t rows;
};

CasesOf<Rows> rows_of_the_claim() {
  CasesOf<Rows> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Rows>> {
    return {{"position", FieldRole::position, &Rows::position, claimed(spec)},
            {"rows", FieldRole::run, &Rows::rows, {1, 64}}};
  };
  cases.related = [](const Spec& spec, const Rows& asked) { return asked.position <= spec.max_position - asked.rows; };
  cases.first = [](const Spec& spec) -> std::vector<Rows> {
    return {{.position = gen::simplest_position(gen::range_of(spec)), .rows = 1},
            {.position = spec.min_position, .rows = 1},
            {.position = spec.max_position - 1, .rows = 1}};
  };
  cases.drawn = [](const Spec& spec) {
    const auto parts = rc::gen::pair(gen::position(gen::range_of(spec)), gen::one_of({1, 7, 16}));
    return rc::gen::map(parts, [last = spec.max_position](const std::pair<std::int64_t, std::int64_t>& drawn) {
      return Rows{.position = drawn.first, .rows = std::min(drawn.second, last - drawn.first)};
    });
  };
  return cases;
}

// |sin|, |cos| <= 1, and rounding is monotone, so |fl(scale * sin)| <= fl(|scale|): the bound needs no allowance.
Judgement check(const Spec& spec, const Sinusoidal& encoding, Session& session, const Rows& asked) {
  const std::vector<std::int64_t> positions = gen::consecutive(asked.position, asked.rows);
  const Tensor table = encode(session, spec, positions);
  const double limit = round_to(spec.dtype, std::fabs(encoding.scale));
  Judgement judgement;
  for (std::int64_t i = 0; i < table.elements(); ++i) {
    const double value = table.at(i);
    const bool inside = std::fabs(value) <= limit;  // false for NaN
    const double excess = std::fabs(value) - limit;
    const Deviation deviation = inside ? Deviation{std::fabs(value) / limit, 0, 0}
                                : std::isfinite(value)
                                    ? Deviation{std::fabs(value) / limit, excess, excess / ulp(spec.dtype, limit)}
                                    : not_finite();
    judgement.add(inside ? reference::Certainty::yes : reference::Certainty::no, deviation, [&] {
      return fmt::format("position {}, channel {}: |{}| against {}",
                         positions[static_cast<std::size_t>(i / encoding.dim)], i % encoding.dim,
                         value_text(spec.dtype, value), limit);
    });
  }
  return judgement;
}

}  // namespace

Property bounds_property() {
  Property property;
  property.id = "bounds";
  property.explanation = {
      "values never leave [-scale, scale], at any position, and none is NaN or infinite",
      "|PE(p, c)| <= round(|scale|)",
      "|sin|, |cos| <= 1; Vaswani et al. 2017, section 3.5",
      "sinusoidal",
      "none: rounding is monotone, so an implementation whose sine stays within [-1, 1] meets it exactly",
      "positions that overflow a narrow type, range reduction that loses its quotient, uninitialised rows"};
  property.not_applicable =
      stated_for<Sinusoidal>(elsewhere_for<Rope>("a rotation is bounded by its input: see isometry"));
  use_cases(property, rows_of_the_claim(), of<Sinusoidal>([](const Spec& spec, const Sinusoidal& encoding) {
              return [spec, encoding](Session& session, const Rows& asked) {
                return check(spec, encoding, session, asked);
              };
            }));
  return property;
}

}  // namespace sextant
