#pragma once

#include <cstdint>

namespace sextant::gen {

/// How the positions of a call's tokens follow each other. The usual order comes first: it is the simplest.
enum class Order : std::int64_t {
  one_by_one,
  descending,
  with_gaps,                  ///< every third
  shuffled,                   ///< one by one but for their order
  twice_each,                 ///< each position side by side with itself
  all_equal,                  ///< one position for all
  equal_rows,                 ///< one by one, the same in each batch row
  shuffled_between_ends,      ///< the first and the last position of all rows are the same, what lies between is not
  first_row_one_by_one,       ///< the same but for the first row
  every_other_row_equal,      ///< one by one, the same in rows 0, 2, 4 ...
  rows_equal_in_pairs,        ///< one by one, the same in rows 0 and 1, 2 and 3 ...
  row_after_row,              ///< one by one, each row going on where the one before ends
  two_sequences,              ///< packed one behind the other, each from the first position on
  three_sequences,            ///< likewise
  padded_left,                ///< some at the second position, then one by one from the first on
  padded_by_last,             ///< one by one, the last position some times more
  padded_by_first,            ///< one by one, then the first position some times
  wide_gaps,                  ///< every sixteenth
  descending_with_gaps,       ///< every second, falling
  equal_every_three_rows,     ///< one by one, rows 0, 1, 2 again in rows 3, 4, 5: of six rows, two equal halves
  odd_rows_descending,        ///< the same positions in each row, in rows 1, 3, 5 ... falling
  alternating,                ///< two positions by turns
  runs_with_gaps,             ///< eight one by one, then a gap
  one_gap,                    ///< one by one but for a gap in the middle
  shuffled_between_halves,    ///< the first, the middle and the last position stay, what lies between does not
  descending_with_wide_gaps,  ///< every twelfth, falling: a sampler's schedule
  descending_unevenly,        ///< falling by 3 to 7
  two_halves,                 ///< one position for the first half, another for the second: guidance without classifier
  equal_then_one_by_one,      ///< one position for the first half, then one by one
  pairs_then_one_by_one,      ///< each position side by side with itself in the first half, then one by one
  all_equal_but_two,          ///< one position for all but two, which lie on either side of it
  descending_by_twenty,       ///< a sampler's schedule of 50 steps, of 1000
  descending_by_fifty,        ///< one of 20 steps
  exchanged,                  ///< one by one, but for two tokens in the middle that change places
};
inline constexpr std::int64_t orders = 34;

/// Where token `token` of batch row `row` is, in steps from the call's first position: token + 7 row for those one by
/// one, since rows start 7 apart. Never negative, less than 50 tokens + 7 row, row after row than tokens (row + 1).
std::int64_t steps(Order order, std::int64_t row, std::int64_t token, std::int64_t tokens);

}  // namespace sextant::gen
