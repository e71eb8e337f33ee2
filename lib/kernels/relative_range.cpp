// Rows of biases that depend on key - query alone, where keys follow each other: each is a part of one list of all
// distances, at the place of its first.

#include "lib/kernels/relative_range.hpp"

#include <algorithm>

#include "lib/kernels/table_rows.hpp"

namespace sextant {

std::optional<RelativeRange> short_range(std::span<const std::int64_t> queries, std::span<const std::int64_t> keys) {
  if (queries.empty() || keys.empty()) return std::nullopt;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (keys[i] != keys[i - 1] + 1) return std::nullopt;
  }
  const auto [least, greatest] = std::ranges::minmax(queries);
  if (greatest - least > 2 * std::ssize(keys)) return std::nullopt;
  return RelativeRange{keys.front() - greatest, keys.back() - least};
}

void write_from_lists(const RelativeRange& range, std::int64_t heads, std::span<const std::int64_t> queries,
                      std::span<const std::int64_t> keys, Dtype dtype, const std::byte* lists, std::byte* out) {
  const std::int64_t rows = std::ssize(queries);
  const std::size_t width = size_of(dtype);
  const std::int64_t count = std::ssize(keys);
  write_rows({dtype, out, heads * rows, count, count}, [&](std::int64_t row, std::byte* place, LineWriter& writer) {
    const std::int64_t first = keys.front() - queries[static_cast<std::size_t>(row % rows)] - range.first;
    const auto start = static_cast<std::size_t>(row / rows * range.count() + first);
    writer.write(place, lists + start * width, static_cast<std::size_t>(count) * width);
  });
}

}  // namespace sextant
