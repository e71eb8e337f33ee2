#include "properties/engine/judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/numeric/hex_text.hpp"
#include "properties/verdict/bound_text.hpp"

namespace sextant {

bool Judgement::takes_as_worst(reference::Certainty element, const Deviation& element_deviation) {
  using reference::Certainty;
  if (element == Certainty::no || (element == Certainty::unknown && within == Certainty::yes)) within = element;
  const std::optional<std::int64_t> depends_on = coordinate ? coordinate : place;
  if (element == Certainty::no) {
    if (place) least_violated = std::min(least_violated.value_or(*place), *place);
    if (depends_on) least_coordinate = std::min(least_coordinate.value_or(*depends_on), *depends_on);
  }
  // Not (a <= b), so that the first comparison and a NaN replace what is there.
  if (!finding.empty() && element_deviation.of_bound <= deviation.of_bound) return false;
  deviation = element_deviation;
  worst_place = place;
  return true;
}

Deviation deviation_of(const reference::Enclosure& error, const reference::Enclosure& bound, double unit) {
  const double size = error.upper();
  // A bound of zero is met by an error of zero only. The quotient is formed as an enclosure, since the bound may be
  // half of the least double.
  const bool positive = mpfr_sgn(bound.lower_end()) > 0;
  const double ratio = size == 0 ? 0 : positive ? (error / bound).upper() : std::numeric_limits<double>::infinity();
  return {ratio, size, size / unit};
}

Deviation not_finite() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {infinity, infinity, infinity};
}

std::string not_finite_text(double value) {
  return fmt::format("got {}, which is not finite", std::isnan(value) ? std::string("nan") : fmt::format("{}", value));
}

std::string value_text(Dtype dtype, double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : fmt::format("{}", value);
  // Digits that distinguish neighbours: 1 + ceil(precision * log10(2)).
  const int digits = 1 + static_cast<int>(std::ceil(format_of(dtype).precision * 0.30103));
  return fmt::format("{:.{}g} ({})", value, digits, hex_text(value));
}

std::string comparison_text(Dtype dtype, double value, double truth, const Deviation& deviation) {
  // Beside 0 a ULP is that of the least number, and tells nothing.
  const std::string raw = truth == 0 ? "" : fmt::format("{:.3g}", deviation.ulps);
  const std::string conditioned = deviation.conditioned_ulps ? fmt::format("{:.3g}", *deviation.conditioned_ulps) : raw;
  std::string in_ulps = raw.empty() ? "" : fmt::format(" = {} ULP", raw);
  if (conditioned != raw)
    in_ulps += fmt::format("{}{} conditioned{}", raw.empty() ? " = " : " (", conditioned, raw.empty() ? " ULP" : ")");
  return fmt::format("got {}, true value {:.12g}, error {:.3g}{}, {}", value_text(dtype, value),
                     truth == 0 ? 0.0 : truth, deviation.absolute, in_ulps, bound_text(deviation.of_bound));
}

}  // namespace sextant
