#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "properties/model/screen.hpp"
#include "reference/rounding.hpp"
#include "reference/sinusoidal.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// Whether a pair's norm is so near to the radius that judging it would change nothing: doubles tell, or long doubles
// for float64.
template <class Real>
bool passes(const Judgement& judgement, double sine, double cosine, double radius, double least_bound) {
  const Real norm = norm_in<Real>(sine, cosine);
  return is_no_worse(judgement,
                     std::fabs(norm - static_cast<Real>(radius)) + 4 * std::numeric_limits<Real>::epsilon() * norm,
                     static_cast<Real>(least_bound));
}

AnswerCheck make_check(const Spec& spec, const Sinusoidal& encoding) {
  const reference::SinusoidalReference oracle(encoding);
  const ErrorBudget budget(arithmetic_of(spec), oracle.frequencies(), pairs(encoding));
  const double size = std::fabs(encoding.scale);
  const double least_bound = budget.norm_bound(Enclosure(size, reference::first_precision)).lower();
  std::vector<Channels> channels;
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) channels.push_back(channels_of_pair(encoding, pair));
  return [spec, encoding, budget, channels, size, least_bound](const Call& call, const Tensor& table) {
    Judgement judgement;
    std::vector<double> values(static_cast<std::size_t>(encoding.dim));
    for (std::int64_t row = 0; row < std::ssize(call.positions); ++row) {
      table.read(row * encoding.dim, values);
      judgement.place = call.positions[static_cast<std::size_t>(row)];
      for (std::size_t pair = 0; pair < channels.size(); ++pair) {
        const double sine = values[static_cast<std::size_t>(channels[pair].first)];
        const double cosine = values[static_cast<std::size_t>(channels[pair].second)];
        const auto place = [&] {
          return fmt::format("position {}, pair {}", encoding.positions.text(*judgement.place), pair);
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
  judge_answers(property, of<Sinusoidal>(make_check));
  return property;
}

}  // namespace sextant
