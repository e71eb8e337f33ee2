#include "properties/gen/order.hpp"

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
  }
  throw std::invalid_argument("steps: no such order");
}

}  // namespace sextant::gen
