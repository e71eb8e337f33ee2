#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/family.hpp"
#include "properties/model/screen.hpp"
#include "reference/rope.hpp"

namespace sextant {
namespace {

// The channels of sines and cosines among those of a row: all but its first and last ones.
struct Waves {
  std::int64_t width;
  std::int64_t first;
  std::int64_t end;
};

// |sin|, |cos| <= 1, and rounding is monotone, so |fl(scale * sin)| <= fl(|scale|): the bound needs no allowance.
AnswerCheck check_of(const Spec& spec, const Waves& waves, const PositionGrid& grid, double scale) {
  return [spec, waves, grid, limit = round_to(spec.dtype, std::fabs(scale)),
          values = std::vector<double>(static_cast<std::size_t>(waves.width))](const Call& call,
                                                                               const Tensor& table) mutable {
    Judgement judgement;
    for (std::int64_t row = 0; row < table.shape[0]; ++row) {
      table.read(row * waves.width, values);
      judgement.place = call.positions[static_cast<std::size_t>(row)];
      for (std::int64_t channel = waves.first; channel < waves.end; ++channel) {
        const double value = values[static_cast<std::size_t>(channel)];
        const double size = std::fabs(value);
        if (is_no_worse(judgement, size, limit)) continue;
        const bool inside = size <= limit;  // false for NaN
        const double excess = size - limit;
        const Deviation deviation = inside ? Deviation{size / limit, 0, 0}
                                    : std::isfinite(value)
                                        ? Deviation{size / limit, excess, excess / ulp(spec.dtype, limit)}
                                        : not_finite();
        judgement.add(inside ? reference::Certainty::yes : reference::Certainty::no, deviation, [&] {
          return fmt::format("position {}, channel {}: |{}| against {}", grid.text(*judgement.place), channel,
                             value_text(spec.dtype, value), limit);
        });
      }
    }
    return judgement;
  };
}

AnswerCheck bounds_check(const Spec& spec, const Sinusoidal& encoding) {
  return check_of(spec, {encoding.dim, 0, encoding.dim}, encoding.positions, encoding.scale);
}

// A coordinate in the row is no wave.
AnswerCheck bounds_check(const Spec& spec, const Fourier& encoding) {
  const std::int64_t all = width(encoding);
  const std::int64_t first = encoding.identity == Identity::first ? encoding.axes : 0;
  const std::int64_t end = encoding.identity == Identity::last ? all - encoding.axes : all;
  return check_of(spec, {all, first, end}, encoding.positions, 1);
}

// Times a factor that is 1. Another is rounded itself, so that the product may be beyond what it should round to.
AnswerCheck bounds_check(const Spec& spec, const RotaryTable&) {
  return [spec](const Call& call, const Tensor& table) {
    const std::int64_t width = table.shape[1];
    return check_of(spec, {width, 0, width}, {}, 1)(call, table);
  };
}

std::optional<std::string> why_not(const Spec& spec, const RotaryTable& encoding) {
  const auto factor =
      reference::RopeReference(encoding.rope).attention_factor(spec.max_position, reference::first_precision);
  if (factor.lower() == 1 && factor.upper() == 1) return std::nullopt;
  return "an attention factor is rounded: see unit_circle";
}
std::optional<std::string> why_not(const Spec&, const auto&) { return std::nullopt; }

}  // namespace

Property bounds_property() {
  Property property;
  property.id = "bounds";
  property.explanation = {
      "values never leave [-scale, scale], at any position, and none is NaN or infinite",
      "|PE(p, c)| <= round(|scale|); of Fourier features, but for coordinates in the row, and of rotary tables <= 1",
      "|sin|, |cos| <= 1; Vaswani et al. 2017, section 3.5",
      "sinusoidal, fourier, rotary_table without an attention factor",
      "none: rounding is monotone, so an implementation whose sine stays within [-1, 1] meets it exactly",
      "positions that overflow a narrow type, range reduction that loses its quotient, uninitialised rows"};
  property.not_applicable = stated_for<Sinusoidal, Fourier, RotaryTable>(
      [](const Spec& spec, const auto& encoding) { return why_not(spec, encoding); },
      elsewhere_for<Rope>("a rotation is bounded by its input: see isometry"));
  judge_answers(property, of<Sinusoidal, Fourier, RotaryTable>(
                              [](const Spec& spec, const auto& encoding) { return bounds_check(spec, encoding); }));
  return property;
}

}  // namespace sextant
