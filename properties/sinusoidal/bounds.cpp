#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// |sin|, |cos| <= 1, and rounding is monotone, so |fl(scale * sin)| <= fl(|scale|): the bound needs no allowance.
Judgement check(const Spec& spec, Session& session, const Case& values) {
  const auto& encoding = std::get<Sinusoidal>(spec.encoding);
  const std::vector<std::int64_t> positions = gen::consecutive(values[0], values[1]);
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
  property.fields = [](const Spec&) { return std::vector<std::string>{"position", "rows"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (std::holds_alternative<Sinusoidal>(spec.encoding)) return std::nullopt;
    if (!std::holds_alternative<Rope>(spec.encoding)) return not_stated_for(spec);
    return "a rotation is bounded by its input: see isometry";
  };
  property.admits = [](const Spec& spec, const Case& values) {
    return values[0] >= spec.min_position && values[0] < spec.max_position && values[1] >= 1 && values[1] <= 64 &&
           values[0] <= spec.max_position - values[1];
  };
  property.simplest = [](const Spec& spec) { return Case{gen::simplest_position(gen::range_of(spec)), 1}; };
  property.first_cases = [](const Spec& spec) {
    return std::vector<Case>{
        {gen::simplest_position(gen::range_of(spec)), 1}, {spec.min_position, 1}, {spec.max_position - 1, 1}};
  };
  property.cases = [](const Spec& spec) {
    const auto parts = rc::gen::pair(gen::position(gen::range_of(spec)), gen::one_of({1, 7, 16}));
    return rc::gen::map(parts, [last = spec.max_position](const std::pair<std::int64_t, std::int64_t>& drawn) {
      return Case{drawn.first, std::min(drawn.second, last - drawn.first)};
    });
  };
  property.make_check = [](const Spec& spec) -> Check {
    return [spec](Session& session, const Case& values) { return check(spec, session, values); };
  };
  return property;
}

}  // namespace sextant
