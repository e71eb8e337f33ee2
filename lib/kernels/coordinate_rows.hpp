#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

/// The coordinates that occur among many, each once, in ascending order, and which of them each is: a table of their
/// rows serves all positions. Those of a grid lie close together, so that a list finds the row of each, where a search
/// would cost more than to write it; far apart they are searched.
class CoordinateRows {
 public:
  explicit CoordinateRows(std::span<const std::int64_t> occurring);

  const std::vector<std::int64_t>& coordinates() const { return coordinates_; }

  /// The index in coordinates() of one that occurs.
  std::size_t row_of(std::int64_t coordinate) const {
    return row_at_.empty() ? searched(coordinate) : row_at_[static_cast<std::size_t>(coordinate - least_)];
  }

 private:
  std::size_t searched(std::int64_t coordinate) const;

  std::vector<std::int64_t> coordinates_;
  std::int64_t least_ = 0;
  std::vector<std::size_t> row_at_;  // from the least coordinate on; empty where they are searched
};

}  // namespace sextant
