#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "subjects/array_file.hpp"
#include "subjects/table_order.hpp"

namespace sextant {

/// A rotary table in a file: its order, and the rows of each tensor of it.
struct RecordedRotary {
  const TableOrder* order;
  std::vector<StoredRows> tensors;
  bool is_inferred = false;  ///< from the values, since nobody said
};

/// Which of a file's arrays are a rotary table: `cos` and `sin`, or one.
struct RotaryArrays {
  std::optional<StoredArray> cosines;
  std::optional<StoredArray> sines;
  std::optional<StoredArray> joined;
};

/// Finds how arrays of the dtype hold a table of so many pairs. An array of its own for cosines and for sines has
/// [n, pairs] or [n, 2 pairs]; a joined one [n, 2 pairs], [n, pairs, 2], [2, n, pairs], [2, n, 2 pairs], or complex
/// numbers [n, pairs]; axes of extent 1 count nowhere.
///
/// Where the shape leaves several orders, or does not say which half is which, the values decide if they can: the row
/// of position 0, whose cosines are not 0 and whose sines are, and whether what an order has twice is twice there.
/// @param zero_row  the number of that row, which the table need not have
/// @param order  the one that is claimed: then no value is looked at
/// @throws ArrayFileError, naming the shape and what may be, unless just one order is left.
RecordedRotary find_rotary(const std::string& file, const RotaryArrays& arrays, Dtype dtype, std::int64_t pairs,
                           std::int64_t zero_row, const TableOrder* order);

}  // namespace sextant
