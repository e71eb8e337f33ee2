// Biases looked up by the offset between two places of a window, and the gradient of their table.
//
//   1. The table's row is linear in the two places' coordinates: code(query) - code(key) + centre, with one code for
//      each place, made once.
//   2. Each query's rows are read once for all heads; each head's biases are then lookups.
//   3. Gradient: the terms of each row of the table are summed without rounding (exact_sum.hpp) and rounded once.

#include "lib/window_bias/window_bias.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/exact_sum.hpp"
#include "lib/kernels/parallel.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/kernels/targets.hpp"

namespace sextant {
namespace {

const WindowBias& checked(const WindowBias& encoding) {
  Spec spec;
  spec.encoding = encoding;
  spec.max_position = 1;
  validate(spec);
  target_in_use();  // before the first dispatch
  return encoding;
}

}  // namespace

// The row is linear in the two tokens' coordinates: the sum over axes of (y - z + e - 1) r, r the product of 2 e' - 1
// of the axes after it. So it is code(query) - code(key) + centre, code(token) = sum of y r and centre = sum of (e - 1)
// r.
WindowBiasEncoder::WindowBiasEncoder(const WindowBias& encoding)
    : encoding_(checked(encoding)),
      tokens_(position_count(encoding)),
      class_tokens_(encoding.class_token == ClassToken::first ? 1 : 0) {
  code_ = {0};
  places_ = 1;
  for (std::size_t axis = encoding.window.size(); axis-- > 0;) {
    const std::int64_t extent = encoding.window[axis];
    std::vector<std::int64_t> longer;
    for (std::int64_t y = 0; y < extent; ++y) {
      for (const std::int64_t code : code_) longer.push_back(y * places_ + code);
    }
    code_ = std::move(longer);
    centre_ += (extent - 1) * places_;
    places_ *= 2 * extent - 1;
  }
}

void WindowBiasEncoder::check(const char* function, std::span<const std::int64_t> positions) const {
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= tokens_)
      throw std::out_of_range(
          fmt::format("{}: position {} is not one of the window's {} tokens", function, position, tokens_));
  }
}

std::int64_t WindowBiasEncoder::index(std::int64_t query, std::int64_t key) const {
  const std::int64_t both[] = {query, key};
  check("WindowBiasEncoder::index", both);
  return row_of(query, key);
}

void WindowBiasEncoder::bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
                             const Tensor& weight, std::span<std::byte> out) const {
  constexpr const char* function = "WindowBiasEncoder::bias";
  const std::int64_t rows = weight_rows(encoding_);
  if (weight.shape.size() != 2)
    throw std::invalid_argument(
        fmt::format("{}: weight has shape {}, expected [{}, heads]", function, shape_text(weight.shape), rows));
  const std::int64_t heads = weight.shape[1];
  const std::int64_t queries = std::ssize(query_positions);
  const std::int64_t keys = std::ssize(key_positions);
  check_tensor(function, "weight", weight, {rows, heads});
  check_bytes(function, out, elements_of(std::vector<std::int64_t>{heads, queries, keys}), weight.dtype);
  check(function, query_positions);
  check(function, key_positions);
  with_bits_of(weight.dtype, [&]<class Bits>(Bits) {
    // The weights of one head side by side.
    std::vector<Bits> by_head(static_cast<std::size_t>(heads * rows));
    for (std::int64_t i = 0; i < weight.elements(); ++i) {
      Bits& own = by_head[static_cast<std::size_t>(i % heads * rows + i / heads)];
      std::memcpy(&own, weight.data.data() + static_cast<std::size_t>(i) * sizeof own, sizeof own);
    }
    parallel_for(queries, heads * queries * keys, [&](std::int64_t query) {
      std::vector<std::int32_t> row;  // at most 2^16 and three of them
      row.reserve(key_positions.size());
      const std::int64_t from = query_positions[static_cast<std::size_t>(query)];
      for (const std::int64_t key : key_positions) row.push_back(static_cast<std::int32_t>(row_of(from, key)));
      for (std::int64_t head = 0; head < heads; ++head) {
        const Bits* values = by_head.data() + head * rows;
        std::byte* place = out.data() + static_cast<std::size_t>((head * queries + query) * keys) * sizeof(Bits);
        for (std::int64_t key = 0; key < keys; ++key) put(place, key, values[row[static_cast<std::size_t>(key)]]);
      }
    });
  });
}

Tensor WindowBiasEncoder::bias(std::span<const std::int64_t> query_positions,
                               std::span<const std::int64_t> key_positions, const Tensor& weight) const {
  const std::int64_t heads = weight.shape.empty() ? 0 : weight.shape.back();
  Tensor matrices = Tensor::zeros(weight.dtype, {heads, std::ssize(query_positions), std::ssize(key_positions)});
  bias(query_positions, key_positions, weight, matrices.data);
  return matrices;
}

Tensor WindowBiasEncoder::grad_weight(std::span<const std::int64_t> query_positions,
                                      std::span<const std::int64_t> key_positions, const Tensor& grad) const {
  constexpr const char* function = "WindowBiasEncoder::grad_weight";
  const std::int64_t heads = grad.shape.empty() ? 0 : grad.shape.front();
  const std::int64_t queries = std::ssize(query_positions);
  const std::int64_t keys = std::ssize(key_positions);
  check_tensor(function, "grad", grad, {heads, queries, keys});
  check(function, query_positions);
  check(function, key_positions);
  const std::int64_t rows = weight_rows(encoding_);
  Tensor gradient = Tensor::zeros(grad.dtype, {rows, heads});
  parallel_for(heads, heads * queries * keys, [&](std::int64_t head) {
    std::vector<ExactSum> sums(static_cast<std::size_t>(rows));
    for (std::int64_t query = 0; query < queries; ++query) {
      const std::int64_t from = query_positions[static_cast<std::size_t>(query)];
      for (std::int64_t key = 0; key < keys; ++key) {
        const std::int64_t row = row_of(from, key_positions[static_cast<std::size_t>(key)]);
        sums[static_cast<std::size_t>(row)].add(grad.at((head * queries + query) * keys + key));
      }
    }
    for (std::int64_t row = 0; row < rows; ++row)
      gradient.set(row * heads + head, sums[static_cast<std::size_t>(row)].rounded(grad.dtype));
  });
  return gradient;
}

}  // namespace sextant
