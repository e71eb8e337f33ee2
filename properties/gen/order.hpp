#pragma once

#include <cstdint>

namespace sextant::gen {

/// How the positions of a call's tokens follow each other. The usual order comes first: it is the simplest.
enum class Order : std::int64_t {
  one_by_one,
  descending,
  with_gaps,              ///< every third
  shuffled,               ///< one by one but for their order
  twice_each,             ///< each position side by side with itself
  all_equal,              ///< one position for all
  equal_rows,             ///< one by one, the same in each batch row
  shuffled_between_ends,  ///< the first and the last position of all rows are the same, what lies between is not
  first_row_one_by_one,   ///< the same but for the first row
  every_other_row_equal,  ///< one by one, the same in rows 0, 2, 4 ...
  rows_equal_in_pairs,    ///< one by one, the same in rows 0 and 1, 2 and 3 ...
  row_after_row,          ///< one by one, each row going on where the one before ends
};
inline constexpr std::int64_t orders = 12;

/// Where token `token` of batch row `row` is, in steps from the call's first position: token + 7 row for those one by
/// one, since rows start 7 apart. Never negative, at most 3 tokens + 7 row, row after row at most tokens (row + 1).
std::int64_t steps(Order order, std::int64_t row, std::int64_t token, std::int64_t tokens);

}  // namespace sextant::gen
