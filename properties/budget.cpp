#include "properties/budget.hpp"

#include <cmath>
#include <limits>

#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;

double ulps_of(AccuracyClass accuracy) {
  switch (accuracy) {
    case AccuracyClass::correctly_rounded: return 0.5;
    case AccuracyClass::faithful: return 1;
    default: return 4;
  }
}

double angle_roundoff(AccuracyClass accuracy) {
  switch (accuracy) {
    case AccuracyClass::correctly_rounded:
    case AccuracyClass::faithful: return 0;
    case AccuracyClass::exact_angle: return unit_roundoff(Dtype::float64);
    case AccuracyClass::float32_angle: return unit_roundoff(Dtype::float32);
    case AccuracyClass::float16_angle: return unit_roundoff(Dtype::float16);
    case AccuracyClass::bfloat16_angle: return unit_roundoff(Dtype::bfloat16);
  }
  throw std::invalid_argument("angle_roundoff: no such accuracy class");
}

double relative_error(double roundoff, double log_frequency) {
  const double total = (5 + 2 * log_frequency) * roundoff;
  // Past one half gamma says nothing of use; one that exceeds every angle makes the bounds their trivial maximum.
  if (total >= 0.5) return 1e9;
  // Three roundings of this expression are covered by three steps up.
  return total / (1 - total) * (1 + 4 * std::numeric_limits<double>::epsilon());
}

}  // namespace

ErrorBudget::ErrorBudget(AccuracyClass accuracy, Dtype dtype, const reference::GeometricFrequencies& frequencies,
                         std::int64_t pairs)
    : accuracy_(accuracy), dtype_(dtype), ulps_(ulps_of(accuracy)) {
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    relative_angle_error_.push_back(
        relative_error(angle_roundoff(accuracy), frequencies.log_magnitude(pair, Precision{64}).upper()));
  }
}

Enclosure ErrorBudget::angle_error(const Enclosure& angle, std::int64_t pair) const {
  return abs(angle) * Enclosure(relative_angle_error_.at(static_cast<std::size_t>(pair)), angle.precision());
}

Enclosure ErrorBudget::element_bound(const Enclosure& truth, const Enclosure& derivative, const Enclosure& scale,
                                     const Enclosure& angle, std::int64_t pair) const {
  const Precision precision = truth.precision();
  const Enclosure half(0.5, precision);
  const Enclosure two(2.0, precision);
  const Enclosure d = angle_error(angle, pair);
  const Enclosure effect = min(abs(derivative) * d + abs(scale) * square(d) * half, abs(scale) * two);
  return Enclosure(ulps_, precision) * reference::ulp(dtype_, abs(truth) + effect) + effect;
}

Enclosure ErrorBudget::shift_bound(const Enclosure& norm, const Enclosure& angle, std::int64_t pair) const {
  return min(angle_error(angle, pair), Enclosure(2.0, norm.precision())) * norm;
}

Enclosure ErrorBudget::component_bound(const Enclosure& norm, const Enclosure& angle, std::int64_t pair) const {
  return Enclosure(ulps_, norm.precision()) * reference::ulp(dtype_, norm) + shift_bound(norm, angle, pair);
}

Enclosure ErrorBudget::norm_bound(const Enclosure& norm) const {
  const Precision precision = norm.precision();
  return sqrt(Enclosure(2.0, precision)) * Enclosure(ulps_, precision) * reference::ulp(dtype_, norm);
}

Enclosure ErrorBudget::pair_bound(const Enclosure& norm, const Enclosure& angle, std::int64_t pair) const {
  return norm_bound(norm) + shift_bound(norm, angle, pair);
}

}  // namespace sextant
