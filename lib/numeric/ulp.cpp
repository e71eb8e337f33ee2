#include "lib/numeric/ulp.hpp"

#include <cmath>
#include <limits>

namespace sextant {

double ulp_error(Dtype dtype, double computed, double truth) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(computed) || std::isnan(truth)) return std::isnan(computed) && std::isnan(truth) ? 0 : infinity;
  if (std::isinf(truth)) return computed == truth ? 0 : infinity;
  if (std::isinf(computed)) return infinity;
  // Halved so that the difference of two large values of opposite sign does not overflow.
  return 2 * (std::fabs(computed / 2 - truth / 2) / ulp(dtype, truth));
}

double next_above(Dtype dtype, double x) {
  if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) return x;
  const double largest = largest_finite(dtype);
  if (x >= largest) return std::numeric_limits<double>::infinity();
  if (x < -largest) return -largest;
  const double rounded = round_to(dtype, x);
  if (rounded > x) return rounded;
  // Towards zero from a power of two the spacing is half of ulp(x), unless the binade below is that of the subnormals.
  int exponent = 0;
  const bool at_border = std::frexp(rounded, &exponent) == -0.5 && exponent - 1 > format_of(dtype).min_exponent;
  return rounded + ulp(dtype, rounded) / (at_border ? 2 : 1);
}

double next_below(Dtype dtype, double x) { return -next_above(dtype, -x); }

}  // namespace sextant
