#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/numeric/dtype.hpp"

namespace sextant {

/// Sums one per column, each held in one double while all fit that, else in two, and exact as long as it fits them; so
/// neither order nor grouping changes it. Elements whose magnitudes are within 2^40 of each other, the usual case, fit
/// two; float32 within 2^20, the usual case of few, fit one. A column whose sum did not fit is marked, and the caller
/// sums it again by ExactSum. It uses the vectors of Highway's chosen target; the caller chooses that target before.
class ExactColumns {
 public:
  explicit ExactColumns(std::int64_t columns);

  /// Adds to the columns from `first` on `count` elements of each row, of a floating dtype and aligned to it.
  void add(Dtype dtype, std::span<const std::byte* const> rows, std::int64_t first, std::int64_t count);

  /// Whether high + low is the sum of what the column was given, exactly; not where that had a NaN or an infinity.
  bool is_exact(std::int64_t column) const { return lost_.empty() || lost_[static_cast<std::size_t>(column)] == 0; }
  double high(std::int64_t column) const { return high_[static_cast<std::size_t>(column)]; }
  double low(std::int64_t column) const { return low_.empty() ? 0 : low_[static_cast<std::size_t>(column)]; }
  /// Whether all columns are; quick where one double was enough.
  bool are_exact() const;

  /// Writes for each column that is exact the value of the dtype nearest to its sum, ties to even, +0 for a sum of
  /// zero; for the others anything. `elements` is aligned to the dtype.
  void round(Dtype dtype, std::byte* elements) const;

 private:
  std::int64_t columns_;
  // Filled up to whole vectors; the lower two empty while one double is enough.
  std::vector<double> high_;
  std::vector<double> low_;
  std::vector<double> lost_;
};

}  // namespace sextant
