#include "properties/model/head_norm_budget.hpp"

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"

namespace sextant {
namespace {

// Of what the norm is formed in.
Dtype format_of_norm(Dtype dtype) { return dtype == Dtype::float64 ? Dtype::float64 : Dtype::float32; }

// The few roundings of these expressions, and products of errors that are left out of them.
constexpr double rounded_up = 1 + 0x1p-40;

// Step 24: of the mean of d squares and epsilon, (d + 4) u/(1 - (d + 4) u), and of its inverse root half of that and
// its square; the root itself is off by 4 u, and three products round.
double relative_error(std::int64_t head_dim, double u) {
  const double roundings = static_cast<double>(head_dim + 4) * u;
  const double of_mean = roundings / (1 - roundings);
  const double of_root = of_mean / 2 + of_mean * of_mean;
  return (of_root + 7.5 * u * (1 + of_root)) * rounded_up;
}

}  // namespace

HeadNormBudget::HeadNormBudget(const ArithmeticClaim& claim, const QkNormRope& encoding) {
  if (claim.accuracy == AccuracyClass::correctly_rounded || claim.accuracy == AccuracyClass::faithful) return;
  const Dtype format = format_of_norm(claim.dtype);
  relative = relative_error(encoding.rope.head_dim, unit_roundoff(format));
  // Half the spacing of its subnormal numbers; of float64 no double is as small.
  least_ = std::max(ulp(format, 0) / 2, 0x1p-1074);
  most_root_ = (2 + 1 / std::sqrt(encoding.epsilon)) * rounded_up;
  if (claim.evaluation != Evaluation::dtype) return;
  // Step 25: two roundings to the dtype.
  const double u = unit_roundoff(claim.dtype);
  relative = (relative + (2 + u) * u * (1 + relative)) * rounded_up;
  least_ += ulp(claim.dtype, 0) / 2;
}

double largest_normalized(Dtype dtype, std::int64_t head_dim) {
  const double largest = largest_finite(format_of_norm(dtype));
  const double of_sum = std::ldexp(1.0, std::ilogb(largest) / 2 - 1) / std::sqrt(static_cast<double>(head_dim));
  return std::min(of_sum, largest_finite(dtype) / 2);
}

}  // namespace sextant
