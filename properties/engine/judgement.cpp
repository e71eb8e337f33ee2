#include "properties/engine/judgement.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lib/numeric/hex_text.hpp"

namespace sextant {

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

std::string value_text(Dtype dtype, double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  // Digits that distinguish neighbours: 1 + ceil(precision * log10(2)).
  const int digits = 1 + static_cast<int>(std::ceil(format_of(dtype).precision * 0.30103));
  return fmt::format("{:.{}g} ({})", value, digits, hex_text(value));
}

std::string comparison_text(Dtype dtype, double value, double truth, const Deviation& deviation) {
  return fmt::format("got {}, true value {:.12g}, error {:.3g} = {:.3g} ULP, {:.3g} times the bound",
                     value_text(dtype, value), truth, deviation.absolute, deviation.ulps, deviation.of_bound);
}

}  // namespace sextant
