#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/numeric/dtype.hpp"

// Biases that depend on key - query alone. Where each key follows its neighbour, the row of a query is a part of one
// list, the bias of every key - query in order: the list is computed once, and a row is a copy.

namespace sextant {

/// From the least to the greatest key - query.
struct RelativeRange {
  std::int64_t first;
  std::int64_t last;

  std::int64_t count() const { return last - first + 1; }
};

/// The range where each key follows its neighbour and the queries are so near to each other that the range is no longer
/// than three rows. Precondition: differences of positions do not overflow.
std::optional<RelativeRange> short_range(std::span<const std::int64_t> queries, std::span<const std::int64_t> keys);

/// Writes matrices [heads, queries, keys] at `out`: `lists` holds for each head the elements of the range in order.
/// `keys` and `range` are as above.
void write_from_lists(const RelativeRange& range, std::int64_t heads, std::span<const std::int64_t> queries,
                      std::span<const std::int64_t> keys, Dtype dtype, const std::byte* lists, std::byte* out);

}  // namespace sextant
