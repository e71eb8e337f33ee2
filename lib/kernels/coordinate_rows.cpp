// Which coordinates occur, each once in rising order, so that a row of each is made once: by a table of all between the
// least and the greatest where those are at most four times as many, else sorted.

#include "lib/kernels/coordinate_rows.hpp"

#include <algorithm>

namespace sextant {

CoordinateRows::CoordinateRows(std::span<const std::int64_t> occurring) {
  if (occurring.empty()) return;
  const auto [least, greatest] = std::ranges::minmax(occurring);
  least_ = least;
  if (greatest - least < 4 * std::ssize(occurring)) {
    row_at_.resize(static_cast<std::size_t>(greatest - least + 1));
    for (const std::int64_t coordinate : occurring) row_at_[static_cast<std::size_t>(coordinate - least)] = 1;
    for (std::size_t i = 0; i < row_at_.size(); ++i) {
      if (row_at_[i] == 0) continue;
      row_at_[i] = coordinates_.size();
      coordinates_.push_back(least + static_cast<std::int64_t>(i));
    }
  } else {
    coordinates_.assign(occurring.begin(), occurring.end());
    std::ranges::sort(coordinates_);
    coordinates_.erase(std::unique(coordinates_.begin(), coordinates_.end()), coordinates_.end());
  }
}

std::size_t CoordinateRows::searched(std::int64_t coordinate) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(coordinates_, coordinate) - coordinates_.begin());
}

}  // namespace sextant
