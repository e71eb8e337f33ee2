#include <vector>

#include "attack/truth/truths.hpp"

// Swin's index, as its released code makes it step by step (relative_position_index), BEiT's three rows of the class
// token behind it; Swin v2's relative_coords_table.

namespace sextant::attack {
namespace {

// coords_flatten, the differences, and what is added and multiplied in place, axis after axis.
std::vector<std::vector<std::int64_t>> relative_position_index(const std::vector<std::int64_t>& window) {
  std::vector<std::vector<std::int64_t>> coordinates{{}};
  for (const std::int64_t extent : window) {
    std::vector<std::vector<std::int64_t>> finer;
    for (const auto& coarse : coordinates) {
      for (std::int64_t y = 0; y < extent; ++y) {
        finer.push_back(coarse);
        finer.back().push_back(y);
      }
    }
    coordinates = std::move(finer);
  }
  std::vector<std::vector<std::int64_t>> index;
  for (const auto& query : coordinates) {
    index.emplace_back();
    for (const auto& key : coordinates) {
      std::int64_t sum = 0;
      for (std::size_t axis = 0; axis < window.size(); ++axis) {
        std::int64_t relative = query[axis] - key[axis] + window[axis] - 1;
        for (std::size_t behind = axis + 1; behind < window.size(); ++behind) relative *= 2 * window[behind] - 1;
        sum += relative;
      }
      index.back().push_back(sum);
    }
  }
  return index;
}

}  // namespace

void judge_encoding(const WindowBias& encoding, const Case& example, Checker& checker) {
  const auto table = relative_position_index(encoding.window);
  const std::int64_t num_relative_distance = weight_rows(encoding);
  const std::int64_t first = encoding.class_token == ClassToken::first ? 1 : 0;
  const auto index = [&](std::int64_t query, std::int64_t key) {
    if (query < first && key < first) return num_relative_distance - 1;
    if (key < first) return num_relative_distance - 2;
    if (query < first) return num_relative_distance - 3;
    return table[static_cast<std::size_t>(query - first)][static_cast<std::size_t>(key - first)];
  };
  const std::int64_t heads = example.heads;
  const bool gradient = example.operation == Operation::grad_weight;
  std::vector<ExactTotal> totals;
  if (gradient) totals.assign(static_cast<std::size_t>(num_relative_distance * heads), ExactTotal(checker.format()));
  std::int64_t element = 0;
  for (std::int64_t head = 0; head < heads; ++head) {
    for (const std::int64_t query : example.positions) {
      for (const std::int64_t key : example.keys) {
        const auto own = static_cast<std::size_t>(index(query, key) * heads + head);
        if (gradient) {
          totals[own].add(example.elements[static_cast<std::size_t>(element++)]);
        } else {
          checker.same(element++, example.elements[own], "the weight's bits");
        }
      }
    }
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i].judge(static_cast<std::int64_t>(i), checker);
}

void judge_encoding(const LogCoordinates& encoding, const Case& example, Checker& checker) {
  const std::int64_t width = axes(encoding);
  const std::int64_t rows = std::ssize(example.positions) / width;
  for (std::int64_t element = 0; element < rows * width; ++element) {
    const std::int64_t axis = element % width;
    const std::int64_t offset = example.positions[static_cast<std::size_t>(axis * rows + element / width)];
    if (offset == 0) {
      checker.same(element, 0, "offset 0 has the coordinate +0");
      continue;
    }
    const auto& extents = encoding.pretrained_window.empty() ? encoding.window : encoding.pretrained_window;
    const std::int64_t below = extents[static_cast<std::size_t>(axis)] - 1;
    checker.nearest(element, std::nullopt, [&](long bits) -> Interval {
      // log2 of 1 + |8 offset / below|: its power of two apart, so that a whole logarithm is a point.
      std::int64_t numerator = below + 8 * (offset < 0 ? -offset : offset);
      std::int64_t whole = 0;
      for (; numerator % 2 == 0 && numerator >= 2 * below; numerator /= 2) ++whole;
      Interval size = exactly(bits, whole);
      if (numerator != below)
        size = size + log(exactly(bits, numerator) / exactly(bits, below)) / log(exactly(bits, std::int64_t{2}));
      size = size / exactly(bits, std::int64_t{3});
      return offset < 0 ? -size : size;
    });
  }
}

}  // namespace sextant::attack
