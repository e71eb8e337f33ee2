#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "lib/numeric/dtype.hpp"

namespace sextant {

// The one definition of a ULP.
//
// For a real x and a format of precision p, with exponents from e_min to e_max,
//
//     ulp(x) = 2^(max(min(floor(log2 |x|), e_max), e_min) - p + 1),
//
// the spacing of the format's values in the binade that holds x, on the side away from zero. The error of a computed
// value v against the real t is |v - t| / ulp(t): a real number of ULPs of the *true* value, never a count of steps.
//
//   | case                     | ulp                            | error of v against t                        |
//   |--------------------------|--------------------------------|---------------------------------------------|
//   | x = +0 or -0             | 2^(e_min-p+1), least subnormal | +0 and -0 are the same real: 0 between them |
//   | subnormal x              | 2^(e_min-p+1)                  | as everywhere                               |
//   | least normal 2^e_min     | 2^(e_min-p+1)                  | the subnormal below it is 1 ULP away        |
//   | x = 2^e, a binade border | 2^(e-p+1), that of the binade  | the value just below is 1/2 ULP away,       |
//   |                          | above                          | the value just above 1 ULP                  |
//   | x beyond largest finite  | 2^(e_max-p+1)                  | as everywhere                               |
//   | x infinite               | infinity                       | t infinite: 0 if v equals t, else infinity  |
//   | x NaN                    | NaN                            | 0 if both are NaN, infinity if one is       |
//   | v infinite, t finite     |                                | infinity                                    |
//   | signs of v and t differ  |                                | as everywhere: |v - t| crosses zero         |

/// ulp(x) as defined above. @throws std::invalid_argument for int64.
inline double ulp(Dtype dtype, double x) {
  const Format format = format_of(dtype);
  // A double's exponent; -1023 of zero and of subnormals, which is below that of any format.
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7FF) - 1023;
  if (exponent > 1023) return std::fabs(x);  // infinity or NaN
  const int power = std::clamp(exponent, format.min_exponent, format.max_exponent) - format.precision + 1;
  const std::uint64_t bits =
      power >= -1022 ? static_cast<std::uint64_t>(power + 1023) << 52 : std::uint64_t{1} << (power + 1074);
  return std::bit_cast<double>(bits);
}

/// |computed - truth| / ulp(truth) as defined above, rounded to double. @throws std::invalid_argument for int64.
double ulp_error(Dtype dtype, double computed, double truth);

/// The least value of the format above x, or x for +infinity and NaN; x need not be a value of the format.
double next_above(Dtype dtype, double x);

/// The greatest value of the format below x, or x for -infinity and NaN; x need not be a value of the format.
double next_below(Dtype dtype, double x);

}  // namespace sextant
