#include "properties/model/fourier_budget.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lib/numeric/ulp.hpp"
#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;

// An end of a linspace is rounded where it is no number of every class' format.
double of_end(double end) { return round_to(Dtype::bfloat16, end) == end ? 0 : std::fabs(end); }

}  // namespace

double FourierRoundings::of_quotient(std::int64_t axis) const {
  if (encoding_.coordinates == FourierCoordinates::index) return 0;
  const double cells =
      static_cast<double>(encoding_.extents[static_cast<std::size_t>(axis)]) / encoding_.positions.step;
  if (encoding_.coordinates == FourierCoordinates::centres) return middle_roundings(cells, claim_.accuracy);
  return 2 * cells * roundoff() > 1 ? 5 : 2;
}

// Step 20: whether all of the linspace is whole numbers that every class' format has.
bool FourierRoundings::is_whole() const {
  const double step =
      encoding_.bands == 1 ? 0 : (encoding_.highest - encoding_.lowest) / static_cast<double>(encoding_.bands - 1);
  return encoding_.lowest == std::trunc(encoding_.lowest) && step == std::trunc(step) && encoding_.highest <= 256;
}

// Step 20.
double FourierRoundings::of_frequency(std::int64_t band) const {
  const double lowest = encoding_.lowest;
  const double highest = encoding_.highest;
  const double part = encoding_.bands == 1 ? 0 : static_cast<double>(band) / static_cast<double>(encoding_.bands - 1);
  const double at = lowest + (highest - lowest) * part;
  const double of_ends = of_end(lowest) + of_end(highest);
  const double of_linspace = is_whole() ? 0 : 3 * (at - lowest) + std::fabs(at) + 2 * of_ends;
  if (encoding_.ladder == FrequencyLadder::linear) return of_linspace / at;
  return 2 * claim_.libm + std::numbers::ln2 * (of_linspace + 2 * std::fabs(at));
}

double FourierRoundings::of_angle(std::int64_t axis, std::int64_t band) const {
  const double of_unit = encoding_.angle_unit == AngleUnit::radian ? 0 : 2;
  constexpr double of_product = 1;
  constexpr double of_quarter = 1;
  const double own = of_product + of_unit + of_quarter;
  if (!is_given(encoding_)) return own + of_frequency(band) + of_quotient(axis) + 1;
  double of_coordinates = 0;
  for (std::int64_t a = 0; a < encoding_.axes; ++a) of_coordinates = std::max(of_coordinates, of_quotient(a) + 1);
  constexpr double of_weight = 1;
  return own + of_weight + static_cast<double>(encoding_.axes - 1) + of_coordinates;
}

double FourierRoundings::of_underflow() const {
  for (const Dtype format : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    if (roundoff() != unit_roundoff(format)) continue;
    constexpr double roundings = 4;
    return roundings * std::numbers::pi * (1 + 0x1p-40) * (ulp(format, 0) / roundoff());
  }
  return 0;
}

Enclosure FourierRoundings::coordinate_bound(std::int64_t axis, const Enclosure& truth) const {
  const Precision precision = truth.precision();
  const double all = of_quotient(axis) + 1;
  const double total = all * angle_roundoff(claim_.accuracy);
  const double gamma = total / (1 - total) * (1 + 0x1p-40);
  const Enclosure d = (abs(truth) + Enclosure(of_quotient(axis) / all, precision)) * Enclosure(gamma, precision);
  const double between = is_16_bit(claim_.dtype) ? unit_roundoff(Dtype::float32) / unit_roundoff(claim_.dtype) : 0;
  return Enclosure(0.5 + between, precision) * reference::ulp(claim_.dtype, abs(truth) + d) + d;
}

}  // namespace sextant
