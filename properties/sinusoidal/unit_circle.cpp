#include <fmt/format.h>

#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "reference/rounding.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

CheckOf<Question> make_check(const Spec& spec, const Sinusoidal& encoding) {
  const reference::SinusoidalReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), pairs(encoding));
  return [spec, encoding, budget](Session& session, const Question& question) {
    const std::int64_t rows = std::min(question.tokens, spec.max_position - question.position);
    const Tensor table = encode(session, spec, gen::consecutive(question.position, rows));
    Judgement judgement;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels channels = channels_of_pair(encoding, pair);
        const double sine = table.at(row * encoding.dim + channels.first);
        const double cosine = table.at(row * encoding.dim + channels.second);
        const auto place = [&] { return fmt::format("position {}, pair {}", question.position + row, pair); };
        if (!std::isfinite(sine) || !std::isfinite(cosine)) {
          judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
          continue;
        }
        Deviation deviation;
        const Certainty within = reference::decide([&](Precision precision) {
          const Enclosure radius = abs(Enclosure(encoding.scale, precision));
          const Enclosure error = abs(hypot(Enclosure(sine, precision), Enclosure(cosine, precision)) - radius);
          const Enclosure bound = budget.norm_bound(radius);
          deviation = deviation_of(error, bound, reference::ulp(spec.dtype, radius).upper());
          return reference::at_most(error, bound);
        });
        judgement.add(within, deviation, [&] {
          return fmt::format("{}: ({}, {}) has norm {:.9g}: {:.3g} times the bound", place(),
                             value_text(spec.dtype, sine), value_text(spec.dtype, cosine), std::hypot(sine, cosine),
                             deviation.of_bound);
        });
      }
    }
    return judgement;
  };
}

}  // namespace

Property unit_circle_property() {
  Property property;
  property.id = "unit_circle";
  property.explanation = {"each pair lies on the circle of radius scale",
                          "PE(p, sin_i)^2 + PE(p, cos_i)^2 = scale^2 for every pair i and position p",
                          "Vaswani et al. 2017, section 3.5: sine and cosine of one angle",
                          "sinusoidal",
                          "an error of the angle moves the pair along the circle, not off it; each value is within k "
                          "ulp(scale) of a point of it "
                          "(properties/model/budget.hpp), so the norm is within sqrt(2) k ulp(scale)",
                          "sine and cosine of different frequencies, a cosine computed from a sine, narrow or "
                          "interpolated tables, range reduction that leaves "
                          "[-1, 1], a scale left out, a channel never written"};
  property.not_applicable = stated_for<Sinusoidal>();
  use_cases(property, questions(), of<Sinusoidal>(make_check));
  return property;
}

}  // namespace sextant
