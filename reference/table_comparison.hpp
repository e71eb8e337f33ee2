#pragma once

#include <cstdint>

#include "lib/numeric/tensor.hpp"
#include "reference/sinusoidal.hpp"

namespace sextant::reference {

/// Where in a table a value stands.
struct TablePlace {
  std::int64_t row = 0;
  std::int64_t channel = 0;
};

/// What comparing every value of a table with the truth finds.
struct TableComparison {
  std::int64_t values = 0;
  std::int64_t not_finite = 0;    // NaN and infinities, which the figures below leave out
  std::int64_t not_nearest = 0;   // finite values that are not the nearest of the dtype to the truth, ties to even
  std::int64_t exact_values = 0;  // how many of those verdicts needed the exact tier

  /// The largest |value - t|, within 2^-48 of itself plus 2^-98 |scale|, and |value - t| / ulp(t), within 2^-19 of
  /// itself, and where; of equal ones the first row's.
  double largest_absolute = 0;
  TablePlace largest_absolute_at;
  double largest_ulps = 0;
  TablePlace largest_ulps_at;
};

/// Compares row r of `table`, [rows, dim] of a floating dtype, with the encoding of position first + r, for all rows:
/// by the certified fast tier, on all threads OpenMP offers, and the exact tier for what that leaves open. The result
/// does not depend on the number of threads. Memory: a few rows a thread. Domain: |first + offset|, |first + rows +
/// offset| <= 2^54, and |scale| a normal double that keeps every |scale w| above 2^-900.
/// @throws std::invalid_argument if the table's shape does not fit the encoding, std::domain_error if a value cannot be
/// decided at the last precision (none is known).
TableComparison compare(SinusoidalReference& oracle, std::int64_t first, const Tensor& table);

}  // namespace sextant::reference
