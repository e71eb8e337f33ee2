#include "properties/gen/order.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "properties/gen/vectors.hpp"

namespace sextant::gen {
namespace {

// A permutation of 0 .. count - 1: multiples of a number that shares no factor with count.
std::int64_t shuffled(std::int64_t i, std::int64_t count) {
  std::int64_t factor = count * 5 / 8;
  while (std::gcd(factor, count) != 1) ++factor;
  return i % count * factor % count;
}

// One by one but for the tokens between the first and the last, which each row has in an order of its own.
std::int64_t shuffled_between_ends(std::int64_t row, std::int64_t token, std::int64_t tokens) {
  const std::int64_t between = tokens - 2;
  if (token == 0 || token > between) return token;
  return 1 + (shuffled(token - 1, between) + row + 1) % between;
}

// The first of them a little longer than the others.
std::int64_t packed(std::int64_t token, std::int64_t tokens, std::int64_t sequences) {
  const std::int64_t length = tokens / sequences;
  const std::int64_t longer = tokens - (sequences - 1) * length;
  return token < longer ? token : (token - longer) % length;
}

// How many tokens of a row are no sequence's: two or some more, another number in each row, never all.
std::int64_t padding(std::int64_t row, std::int64_t tokens) { return std::min(2 + 3 * row, tokens - 1); }

}  // namespace

std::int64_t steps(Order order, std::int64_t row, std::int64_t token, std::int64_t tokens) {
  const std::int64_t start = batch_row_distance * row;
  switch (order) {
    case Order::one_by_one: return start + token;
    case Order::descending: return start + tokens - 1 - token;
    case Order::with_gaps: return start + 3 * token;
    case Order::shuffled: return start + shuffled(token, tokens);
    case Order::twice_each: return start + token / 2;
    case Order::all_equal: return 0;
    case Order::equal_rows: return token;
    case Order::shuffled_between_ends: return shuffled_between_ends(row, token, tokens);
    case Order::first_row_one_by_one: return row == 0 ? token : shuffled_between_ends(row, token, tokens);
    case Order::every_other_row_equal: return token + batch_row_distance * (row % 2 == 0 ? 0 : row);
    case Order::rows_equal_in_pairs: return token + batch_row_distance * (row / 2);
    case Order::row_after_row: return row * tokens + token;
    case Order::two_sequences: return packed(token, tokens, 2);
    case Order::three_sequences: return packed(token, tokens, 3);
    case Order::padded_left: return token < padding(row, tokens) ? 1 : token - padding(row, tokens);
    case Order::padded_by_last: return std::min(token, tokens - 1 - padding(row, tokens));
    case Order::padded_by_first: return token < tokens - padding(row, tokens) ? token : 0;
    case Order::wide_gaps: return start + 16 * token;
    case Order::descending_with_gaps: return start + 2 * (tokens - 1 - token);
    case Order::equal_every_three_rows: return batch_row_distance * (row % 3) + token;
    case Order::odd_rows_descending: return row % 2 == 0 ? token : tokens - 1 - token;
    case Order::alternating: return start + token % 2;
    case Order::runs_with_gaps: return start + token + 9 * (token / 8);
    case Order::one_gap: return start + token + (2 * token < tokens ? 0 : 5);
    case Order::shuffled_between_halves: {
      const std::int64_t middle = tokens / 2;
      if (token <= middle) return start + shuffled_between_ends(row, token, middle + 1);
      return start + middle + shuffled_between_ends(row, token - middle, tokens - middle);
    }
    case Order::descending_with_wide_gaps: return start + 12 * (tokens - 1 - token);
    case Order::descending_unevenly: return start + 5 * (tokens - 1 - token) + shuffled(token, tokens) % 3;
    case Order::two_halves: return 2 * token < tokens ? 0 : 9;
    case Order::equal_then_one_by_one: return std::max<std::int64_t>(token - tokens / 2, 0);
    case Order::pairs_then_one_by_one: return 2 * token < tokens ? token / 2 : token;
    case Order::all_equal_but_two: {
      const std::int64_t third = tokens / 3;
      return tokens < 6 || (token != third && token != tokens - 1 - third) ? 1 : token == third ? 0 : 2;
    }
    case Order::descending_by_twenty: return start + 20 * (tokens - 1 - token);
    case Order::descending_by_fifty: return start + 50 * (tokens - 1 - token);
    case Order::exchanged: {
      const std::int64_t middle = tokens / 2;
      const bool changes = tokens > 3 && (token == middle || token == middle - 1);
      return start + (changes ? 2 * middle - 1 - token : token);
    }
  }
  throw std::invalid_argument("steps: no such order");
}

}  // namespace sextant::gen
