// Rows of a table looked up, and the gradient of the table.
//
//   1. Lookup: rows are copied bit for bit, past the caches where the output exceeds them (LineWriter).
//   2. Gradient: tokens are sorted by position, so that each row of the table is the sum of a list of gradients. A list
//      is summed some columns at a time, without rounding (exact_columns.hpp); columns that need more than two doubles
//      are summed again by ExactSum.
//
// Lookup computes nothing; sums are exact and rounded once, whatever the order and the number of threads.

#include "lib/learned/learned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/exact_columns.hpp"
#include "lib/kernels/exact_sum.hpp"
#include "lib/kernels/parallel.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/kernels/targets.hpp"

namespace sextant {

LearnedEncoder::LearnedEncoder(const Learned& encoding) : encoding_(encoding) {
  Spec spec;
  spec.encoding = encoding;
  spec.max_position = 1;
  validate(spec);
  target_in_use();  // before the first dispatch
}

void LearnedEncoder::check(const char* function, std::span<const std::int64_t> positions) const {
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= encoding_.max_positions) {
      throw std::out_of_range(
          fmt::format("{}: positions: {} is not one of the {} learned", function, position, encoding_.max_positions));
    }
  }
}

void LearnedEncoder::encode(std::span<const std::int64_t> positions, const Tensor& weight, const Rows& out) const {
  constexpr const char* function = "LearnedEncoder::encode";
  check_tensor(function, "weight", weight, {encoding_.max_positions, encoding_.dim});
  check_table(out, std::ssize(positions), encoding_.dim);
  if (out.dtype != weight.dtype)
    throw std::invalid_argument(
        fmt::format("out: dtype {}, that of the weight is {}", name_of(out.dtype), name_of(weight.dtype)));
  check(function, positions);
  const std::size_t bytes = static_cast<std::size_t>(encoding_.dim) * size_of(weight.dtype);
  write_rows(out, [&](std::int64_t row, std::byte* place, LineWriter& writer) {
    const auto position = static_cast<std::size_t>(positions[static_cast<std::size_t>(row)]);
    writer.write(place, weight.data.data() + position * bytes, bytes);
  });
}

void LearnedEncoder::encode(std::span<const std::int64_t> positions, const Tensor& weight,
                            std::span<std::byte> out) const {
  constexpr const char* function = "LearnedEncoder::encode";
  check_tensor(function, "weight", weight, {encoding_.max_positions, encoding_.dim});
  encode(positions, weight, dense_rows(function, out, weight.dtype, std::ssize(positions), encoding_.dim));
}

Tensor LearnedEncoder::encode(std::span<const std::int64_t> positions, const Tensor& weight) const {
  check_tensor("LearnedEncoder::encode", "weight", weight, {encoding_.max_positions, encoding_.dim});
  Tensor rows = Tensor::zeros(weight.dtype, {std::ssize(positions), encoding_.dim});
  encode(positions, weight, rows.data);
  return rows;
}

Tensor LearnedEncoder::grad_weight(std::span<const std::int64_t> positions, const Tensor& grad) const {
  constexpr const char* function = "LearnedEncoder::grad_weight";
  check_tensor(function, "grad", grad, {std::ssize(positions), encoding_.dim});
  check(function, positions);
  Tensor gradient = Tensor::zeros(grad.dtype, {encoding_.max_positions, encoding_.dim});

  // Tokens of one position side by side, and where each such group starts.
  std::vector<std::int64_t> tokens(positions.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto position_of = [&](std::int64_t token) { return positions[static_cast<std::size_t>(token)]; };
  std::ranges::stable_sort(tokens, {}, position_of);
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i == 0 || position_of(tokens[i]) != position_of(tokens[i - 1])) starts.push_back(i);
  }
  starts.push_back(tokens.size());

  // Each group some columns at a time, which stay in the cache while its rows are added.
  constexpr std::int64_t tile = 512;
  const std::int64_t tiles = (encoding_.dim + tile - 1) / tile;
  parallel_for((std::ssize(starts) - 1) * tiles, grad.elements(), [&](std::int64_t unit) {
    const auto group = static_cast<std::size_t>(unit / tiles);
    const std::int64_t begin = unit % tiles * tile;
    const std::int64_t columns = std::min(encoding_.dim - begin, tile);
    const std::span<const std::int64_t> members(tokens.data() + starts[group], tokens.data() + starts[group + 1]);
    std::vector<const std::byte*> rows;
    for (const std::int64_t token : members)
      rows.push_back(grad.data.data() + static_cast<std::size_t>(token * encoding_.dim + begin) * size_of(grad.dtype));
    ExactColumns sums(columns);
    sums.add(grad.dtype, rows, 0, columns);
    const std::int64_t target = position_of(members.front()) * encoding_.dim + begin;
    sums.round(grad.dtype, gradient.data.data() + static_cast<std::size_t>(target) * size_of(grad.dtype));
    if (sums.are_exact()) return;
    for (std::int64_t column = 0; column < columns; ++column) {
      if (sums.is_exact(column)) continue;
      ExactSum sum;
      for (const std::int64_t token : members) sum.add(grad.at(token * encoding_.dim + begin + column));
      gradient.set(target + column, sum.rounded(grad.dtype));
    }
  });
  return gradient;
}

}  // namespace sextant
