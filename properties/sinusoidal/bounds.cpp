#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/family.hpp"
#include "properties/model/screen.hpp"

namespace sextant {
namespace {

// |sin|, |cos| <= 1, and rounding is monotone, so |fl(scale * sin)| <= fl(|scale|): the bound needs no allowance.
AnswerCheck make_check(const Spec& spec, const Sinusoidal& encoding) {
  return [spec, encoding, limit = round_to(spec.dtype, std::fabs(encoding.scale)),
          values = std::vector<double>(static_cast<std::size_t>(encoding.dim))](const Call& call,
                                                                                const Tensor& table) mutable {
    Judgement judgement;
    for (std::int64_t row = 0; row < std::ssize(call.positions); ++row) {
      table.read(row * encoding.dim, values);
      judgement.place = call.positions[static_cast<std::size_t>(row)];
      for (std::size_t channel = 0; channel < values.size(); ++channel) {
        const double value = values[channel];
        const double size = std::fabs(value);
        if (is_no_worse(judgement, size, limit)) continue;
        const bool inside = size <= limit;  // false for NaN
        const double excess = size - limit;
        const Deviation deviation = inside ? Deviation{size / limit, 0, 0}
                                    : std::isfinite(value)
                                        ? Deviation{size / limit, excess, excess / ulp(spec.dtype, limit)}
                                        : not_finite();
        judgement.add(inside ? reference::Certainty::yes : reference::Certainty::no, deviation, [&] {
          return fmt::format("position {}, channel {}: |{}| against {}", encoding.positions.text(*judgement.place),
                             channel, value_text(spec.dtype, value), limit);
        });
      }
    }
    return judgement;
  };
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
  judge_answers(property, of<Sinusoidal>(make_check));
  return property;
}

}  // namespace sextant
