#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "properties/model/screen.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "reference/sinusoidal.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

// The pairs of an answer's rows, and the radius that all have.
struct Circles {
  std::vector<Channels> channels;
  std::function<Enclosure(Precision precision)> radius;
  ErrorBudget budget;
  PositionGrid grid = {};
};

// Whether a pair's norm is so near to the radius that judging it would change nothing:
// doubles tell, or long doubles for float64.
template <class Real>
bool passes(const Judgement& judgement, double sine, double cosine, const DoubleDoubleWithin& radius,
            double least_bound) {
  constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
  const Real norm = norm_in<Real>(sine, cosine);
  const Real true_norm = static_cast<Real>(radius.high) + static_cast<Real>(radius.low);
  const Real slack = 4 * epsilon * norm + epsilon * std::fabs(true_norm);
  return is_no_worse(judgement, std::fabs(norm - true_norm) + slack, static_cast<Real>(least_bound));
}

AnswerCheck check_of(const Spec& spec, Circles circles) {
  const Enclosure first = circles.radius(reference::first_precision);
  const auto size = DoubleDoubleWithin::of(first);
  const double least_bound = circles.budget.norm_bound(first).lower();
  return [spec, circles = std::move(circles), size, least_bound](const Call& call, const Tensor& table) {
    Judgement judgement;
    const std::int64_t width = table.shape[1];
    std::vector<double> values(static_cast<std::size_t>(width));
    for (std::int64_t row = 0; row < std::ssize(call.positions); ++row) {
      table.read(row * width, values);
      judgement.place = call.positions[static_cast<std::size_t>(row)];
      for (std::size_t pair = 0; pair < circles.channels.size(); ++pair) {
        const double sine = values[static_cast<std::size_t>(circles.channels[pair].first)];
        const double cosine = values[static_cast<std::size_t>(circles.channels[pair].second)];
        const auto place = [&] {
          return fmt::format("position {}, pair {}", circles.grid.text(*judgement.place), pair);
        };
        if (!std::isfinite(sine) || !std::isfinite(cosine)) {
          judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
          continue;
        }
        if (spec.dtype == Dtype::float64 ? passes<long double>(judgement, sine, cosine, size, least_bound)
                                         : passes<double>(judgement, sine, cosine, size, least_bound))
          continue;
        Deviation deviation;
        const Certainty within = reference::decide([&](Precision precision) {
          const Enclosure radius = circles.radius(precision);
          const Enclosure error = abs(hypot(Enclosure(sine, precision), Enclosure(cosine, precision)) - radius);
          const Enclosure bound = circles.budget.norm_bound(radius);
          deviation = deviation_of(error, bound, reference::ulp(spec.dtype, radius).upper());
          return reference::at_most(error, bound);
        });
        judgement.add(within, deviation, [&] {
          return fmt::format("{}: ({}, {}) has norm {:.9g}: {}", place(), value_text(spec.dtype, sine),
                             value_text(spec.dtype, cosine), std::hypot(sine, cosine), bound_text(deviation.of_bound));
        });
      }
    }
    return judgement;
  };
}

AnswerCheck unit_circle_check(const Spec& spec, const Sinusoidal& encoding) {
  const reference::SinusoidalReference oracle(encoding);
  Circles circles{.channels = {},
                  .radius = [scale = encoding.scale](Precision precision) { return abs(Enclosure(scale, precision)); },
                  .budget = {arithmetic_of(spec), oracle.frequencies(), pairs(encoding)},
                  .grid = encoding.positions};
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair)
    circles.channels.push_back(channels_of_pair(encoding, pair));
  return check_of(spec, std::move(circles));
}

// Its radius is the attention factor.
AnswerCheck unit_circle_check(const Spec& spec, const RotaryTable& encoding) {
  const auto oracle = std::make_shared<reference::RopeReference>(encoding.rope);
  Circles circles{.channels = {},
                  .radius = [oracle, length = spec.max_position](
                                Precision precision) { return abs(oracle->attention_factor(length, precision)); },
                  .budget = {arithmetic_of(spec), oracle->frequencies(), spec.max_position}};
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair)
    circles.channels.push_back({pairs(encoding) + pair, pair});
  return check_of(spec, std::move(circles));
}

}  // namespace

Property unit_circle_property() {
  Property property;
  property.id = "unit_circle";
  property.explanation = {"each pair lies on the circle of radius scale",
                          "PE(p, sin_i)^2 + PE(p, cos_i)^2 = scale^2 for every pair i and position p",
                          "Vaswani et al. 2017, section 3.5: sine and cosine of one angle",
                          "sinusoidal; rotary_table, the scale being the attention factor",
                          "an error of the angle moves the pair along the circle, not off it; each value is within k "
                          "ulp(scale) of a point of it "
                          "(properties/model/budget.hpp), so the norm is within sqrt(2) k ulp(scale)",
                          "sine and cosine of different frequencies, a cosine computed from a sine, narrow or "
                          "interpolated tables, range reduction that leaves "
                          "[-1, 1], a scale left out, a channel never written"};
  property.not_applicable = stated_for<Sinusoidal, RotaryTable>();
  judge_answers(property, of<Sinusoidal, RotaryTable>([](const Spec& spec, const auto& encoding) {
                  return unit_circle_check(spec, encoding);
                }));
  return property;
}

}  // namespace sextant
