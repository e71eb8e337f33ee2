// Whether the distances of all batch rows of a call are few enough for one list of their biases.

#include "lib/kernels/listed_bias.hpp"

#include <algorithm>
#include <cstddef>

namespace sextant {

std::optional<RelativeRange> short_range(const Sequences& sequences) {
  const auto part = [](std::span<const std::int64_t> positions, std::int64_t row, std::int64_t count) {
    return positions.subspan(static_cast<std::size_t>(row * count), static_cast<std::size_t>(count));
  };
  std::optional<RelativeRange> all;
  const std::int64_t batch = sequences.keys == 0 ? 0 : std::ssize(sequences.positions) / sequences.keys;
  for (std::int64_t row = 0; row < batch; ++row) {
    const auto of_row = short_range(part(sequences.query_positions, row, sequences.queries),
                                    part(sequences.positions, row, sequences.keys));
    if (!of_row) return std::nullopt;
    if (!all) all = of_row;
    all = RelativeRange{std::min(all->first, of_row->first), std::max(all->last, of_row->last)};
    // Of one sequence it is at most three rows.
    if (all->count() > 4 * sequences.keys) return std::nullopt;
  }
  return all;
}

}  // namespace sextant
