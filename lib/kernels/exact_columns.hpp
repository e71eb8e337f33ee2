#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/numeric/dtype.hpp"

namespace sextant {

/// Sums side by side, one a column, without rounding as long as a sum fits two doubles: the usual case, since elements
/// of one size, 2^40 apart at most, leave no bits beyond. A column that did not fit says so, and whoever adds takes an
/// ExactSum for it. So neither order nor grouping changes anything. Vectors are those of the target in use, which
/// whoever dispatches first asks for.
class ExactColumns {
 public:
  explicit ExactColumns(std::int64_t columns);

  /// Adds `count` elements of a floating dtype, aligned to it, to the columns from `first` on.
  void add(Dtype dtype, const std::byte* elements, std::int64_t first, std::int64_t count);

  /// Whether high + low is the sum of what the column was given, exactly; not where that had a NaN or an infinity.
  bool is_exact(std::int64_t column) const { return lost_[static_cast<std::size_t>(column)] == 0; }
  double high(std::int64_t column) const { return high_[static_cast<std::size_t>(column)]; }
  double low(std::int64_t column) const { return low_[static_cast<std::size_t>(column)]; }

  /// Writes for each column that is exact the value of the dtype nearest to its sum, ties to even, +0 for a sum of
  /// zero; for the others anything. `elements` is aligned to the dtype.
  void round(Dtype dtype, std::byte* elements) const;

 private:
  std::int64_t columns_;
  // Filled up to whole vectors.
  std::vector<double> high_;
  std::vector<double> low_;
  std::vector<double> lost_;
};

}  // namespace sextant
