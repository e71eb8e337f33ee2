#include "reference/window_bias.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant::reference {

// By coordinates, from the first axis on, and Horner's rule: a number of places so far is multiplied by how many the
// next axis has.
std::int64_t window_row(const WindowBias& encoding, std::int64_t query, std::int64_t key) {
  const std::int64_t rows = weight_rows(encoding);
  if (encoding.class_token == ClassToken::first) {
    if (query == 0) return key == 0 ? rows - 1 : rows - 3;
    if (key == 0) return rows - 2;
    query -= 1;
    key -= 1;
  }
  std::int64_t tokens = 1;  // of a slice at one coordinate of the axes so far
  for (const std::int64_t extent : encoding.window) tokens *= extent;
  std::int64_t row = 0;
  for (const std::int64_t extent : encoding.window) {
    tokens /= extent;
    const std::int64_t of_query = query / tokens % extent;
    const std::int64_t of_key = key / tokens % extent;
    row = row * (2 * extent - 1) + (of_query - of_key + extent - 1);
  }
  return row;
}

Enclosure bias(const WindowBias& encoding, const Tensor& weight, std::int64_t query, std::int64_t key,
               std::int64_t head, Precision precision) {
  if (weight.shape.size() != 2 || weight.shape[0] != weight_rows(encoding)) {
    throw std::invalid_argument(fmt::format("window_bias: weight has shape {}, expected [{}, heads]",
                                            shape_text(weight.shape), weight_rows(encoding)));
  }
  if (head < 0 || head >= weight.shape[1]) throw std::out_of_range(fmt::format("window_bias: no head {}", head));
  for (const std::int64_t position : {query, key}) {
    if (position < 0 || position >= position_count(encoding))
      throw std::out_of_range(fmt::format("window_bias: no token {}", position));
  }
  return {weight.at(window_row(encoding, query, key) * weight.shape[1] + head), precision};
}

}  // namespace sextant::reference
