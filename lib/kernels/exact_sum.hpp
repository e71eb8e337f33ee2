#pragma once

#include <array>
#include <cstdint>

#include "lib/numeric/dtype.hpp"

namespace sextant {

/// A sum of doubles without rounding, so that neither order nor grouping changes it: a fixed-point number of 2176 bits
/// in digits of 32, each in 64 bits so that carries wait (the small superaccumulator of Neal 2015, arXiv 1505.05571).
class ExactSum {
 public:
  /// Adds one term. NaN, or infinities of both signs, make the sum NaN; one infinity makes it that infinity.
  void add(double term);

  /// The value of the format nearest to the sum, ties to even; +0 for a sum of zero. @throws std::invalid_argument for
  /// int64.
  double rounded(Dtype dtype) const;

 private:
  void carry();

  // Digit k has the weight 2^(32 k - 1074); between two carries each digit gains less than 2^32 a term.
  static constexpr std::size_t digits = 68;
  std::array<std::int64_t, digits> digit_{};
  std::int64_t terms_ = 0;
  double special_ = 0;  // the sum of the infinities and NaNs
};

}  // namespace sextant
