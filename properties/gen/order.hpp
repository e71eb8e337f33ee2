#pragma once

#include <cstdint>

namespace sextant::gen {

/// How the positions of a call's tokens follow each other. The usual order comes first: it is the simplest.
enum class Order : std::int64_t {
  one_by_one,
  descending,
  with_gaps,   ///< every third
  shuffled,    ///< one by one but for their order
  twice_each,  ///< each position side by side with itself
  all_equal,   ///< one position for all
  equal_rows,  ///< one by one, the same in each batch row
};
inline constexpr std::int64_t orders = 7;

/// Where token `token` of batch row `row` is, in steps from the call's first position: token + 7 row for those one by
/// one, since rows start 7 apart. Never negative, at most 3 tokens + 7 row.
std::int64_t steps(Order order, std::int64_t row, std::int64_t token, std::int64_t tokens);

}  // namespace sextant::gen
