// Biases looked up by the offset between two places of a window, and the gradient of their table.
//
//   1. The table's row is linear in the two places' coordinates: code(query) - code(key) + centre, with one code for
//      each place, made once.
//   2. A head's values are kept in reverse, so that keys that follow one another in a row of the window have values
//      that do: queries' rows are made of copied runs, some at a time, and go past the caches where the matrices exceed
//      them. Runs are short: they are copied by whole blocks, whose rest the run behind them overwrites.
//   3. Gradient: a run's terms are added, without rounding, to as many neighbouring columns in that order
//      (exact_columns.hpp), each of which is rounded once; sums that two doubles do not hold, and those of class
//      tokens, go by exact_sum.hpp.

#include "lib/window_bias/window_bias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/exact_columns.hpp"
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

// Of a weight that `bias` takes.
std::int64_t heads_of_weight(const WindowBias& encoding, const Tensor& weight) {
  constexpr const char* function = "WindowBiasEncoder::bias";
  const std::int64_t rows = weight_rows(encoding);
  if (weight.shape.size() != 2)
    throw std::invalid_argument(
        fmt::format("{}: weight has shape {}, expected [{}, heads]", function, shape_text(weight.shape), rows));
  check_tensor(function, "weight", weight, {rows, weight.shape[1]});
  return weight.shape[1];
}

// Copies and reads beyond go so far at most.
constexpr std::size_t block_bytes = 32;
template <class Bits>
constexpr std::int64_t block_of = block_bytes / sizeof(Bits);

// `count` elements, and what follows them up to a whole block.
template <class Bits>
void copy_blocks(const Bits* from, std::int64_t count, Bits* to) {
  for (std::int64_t i = 0; i < count; i += block_of<Bits>) std::memcpy(to + i, from + i, block_bytes);
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

void WindowBiasEncoder::check(const char* function, const char* name, std::span<const std::int64_t> positions) const {
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= tokens_)
      throw std::out_of_range(
          fmt::format("{}: {}: {} is not one of the window's {} tokens", function, name, position, tokens_));
  }
}

std::vector<WindowBiasEncoder::Run> WindowBiasEncoder::runs_of(std::span<const std::int64_t> key_positions) const {
  std::vector<Run> runs;
  for (std::int64_t key = 0; key < std::ssize(key_positions); ++key) {
    const std::int64_t token = key_positions[static_cast<std::size_t>(key)] - class_tokens_;
    if (token < 0) {
      runs.push_back({key, 1, std::nullopt});
      continue;
    }
    const std::int64_t code = code_[static_cast<std::size_t>(token)];
    if (!runs.empty() && runs.back().code && *runs.back().code + runs.back().count == code) {
      ++runs.back().count;
    } else {
      runs.push_back({key, 1, code});
    }
  }
  return runs;
}

std::int64_t WindowBiasEncoder::index(std::int64_t query, std::int64_t key) const {
  check("WindowBiasEncoder::index", "query", {&query, 1});
  check("WindowBiasEncoder::index", "key", {&key, 1});
  return row_of(query, key);
}

void WindowBiasEncoder::bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
                             const Tensor& weight, std::span<std::byte> out) const {
  constexpr const char* function = "WindowBiasEncoder::bias";
  const std::int64_t rows = weight_rows(encoding_);
  const std::int64_t heads = heads_of_weight(encoding_, weight);
  const std::int64_t queries = std::ssize(query_positions);
  const std::int64_t keys = std::ssize(key_positions);
  check_bytes(function, out, elements_of(std::vector<std::int64_t>{heads, queries, keys}), weight.dtype);
  check(function, "query_positions", query_positions);
  check(function, "key_positions", key_positions);
  const std::vector<Run> runs = runs_of(key_positions);
  with_bits_of(weight.dtype, [&]<class Bits>(Bits) {
    // Head by head: the values of offsets in reverse, then those of a class token's three rows.
    std::vector<Bits> by_head(static_cast<std::size_t>(heads * rows + block_of<Bits>));
    const std::byte* from = weight.data.data();
    for (std::int64_t row = 0; row < rows; ++row) {
      Bits* own = by_head.data() + (row < places_ ? places_ - 1 - row : row);
      for (std::int64_t head = 0; head < heads; ++head, from += sizeof *own, own += rows)
        std::memcpy(own, from, sizeof *own);
    }
    const Rows matrix{weight.dtype, out.data(), heads * queries, keys, keys};
    write_row_blocks(matrix, [&](std::int64_t first, std::int64_t last, LineWriter& writer) {
      const std::int64_t together =
          std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, keys * static_cast<std::int64_t>(sizeof(Bits))));
      std::vector<Bits> made(static_cast<std::size_t>(together * keys + block_of<Bits>));
      std::int64_t waiting = 0;
      for (std::int64_t row = first; row < last; ++row) {
        const Bits* const of_head = by_head.data() + row / queries * rows;
        Bits* const of_row = made.data() + waiting * keys;
        const std::int64_t query = query_positions[static_cast<std::size_t>(row % queries)] - class_tokens_;
        const bool of_class = query < 0;
        // Row code(query) - code(key) + centre, and places - 1 = 2 centre: in reverse, code(key) from here.
        const Bits* const values = of_class ? nullptr : of_head + centre_ - code_[static_cast<std::size_t>(query)];
        for (const Run& run : runs) {
          Bits* const to = of_row + run.first;
          if (!run.code) {
            *to = of_head[of_class ? places_ + 2 : places_ + 1];
          } else if (of_class) {
            std::fill_n(to, run.count, of_head[places_]);
          } else {
            copy_blocks(values + *run.code, run.count, to);
          }
        }
        if (++waiting < together && row + 1 < last) continue;
        writer.write(sextant::row_of(matrix, row + 1 - waiting), reinterpret_cast<const std::byte*>(made.data()),
                     static_cast<std::size_t>(waiting * keys) * sizeof(Bits));
        waiting = 0;
      }
    });
  });
}

Tensor WindowBiasEncoder::bias(std::span<const std::int64_t> query_positions,
                               std::span<const std::int64_t> key_positions, const Tensor& weight) const {
  Tensor matrices = Tensor::zeros(
      weight.dtype, {heads_of_weight(encoding_, weight), std::ssize(query_positions), std::ssize(key_positions)});
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
  check(function, "query_positions", query_positions);
  check(function, "key_positions", key_positions);
  const std::int64_t rows = weight_rows(encoding_);
  const std::size_t width = size_of(grad.dtype);
  const std::vector<Run> runs = runs_of(key_positions);
  Tensor gradient = Tensor::zeros(grad.dtype, {rows, heads});
  parallel_for(heads, heads * queries * keys, [&](std::int64_t head) {
    // Columns are the rows of offsets in reverse, as `bias` has their values.
    ExactColumns columns(places_);
    std::array<ExactSum, 3> of_class;  // of the rows from places_ on
    const auto visit = [&](auto add_run) {
      for (std::int64_t query = 0; query < queries; ++query) {
        const std::int64_t token = query_positions[static_cast<std::size_t>(query)] - class_tokens_;
        for (const Run& run : runs) add_run(token, run, (head * queries + query) * keys + run.first);
      }
    };
    const auto column_of = [&](std::int64_t token, const Run& run) {
      return centre_ - code_[static_cast<std::size_t>(token)] + *run.code;
    };
    visit([&](std::int64_t token, const Run& run, std::int64_t index) {
      if (token >= 0 && run.code) {
        const std::byte* const row[] = {grad.data.data() + static_cast<std::size_t>(index) * width};
        return columns.add(grad.dtype, row, column_of(token, run), run.count);
      }
      ExactSum& sum = of_class[run.code ? 0 : token >= 0 ? 1 : 2];
      for (std::int64_t k = 0; k < run.count; ++k) sum.add(grad.at(index + k));
    });
    std::vector<std::byte> rounded(static_cast<std::size_t>(places_) * width);
    columns.round(grad.dtype, rounded.data());
    if (!columns.are_exact()) {
      std::vector<ExactSum> sums(static_cast<std::size_t>(places_));
      visit([&](std::int64_t token, const Run& run, std::int64_t index) {
        if (token < 0 || !run.code) return;
        for (std::int64_t k = 0; k < run.count; ++k) {
          const std::int64_t column = column_of(token, run) + k;
          if (!columns.is_exact(column)) sums[static_cast<std::size_t>(column)].add(grad.at(index + k));
        }
      });
      for (std::int64_t column = 0; column < places_; ++column) {
        const auto at = static_cast<std::size_t>(column);
        if (!columns.is_exact(column)) store(grad.dtype, sums[at].rounded(grad.dtype), rounded.data() + at * width);
      }
    }
    const auto element_of = [&](std::int64_t row) {
      return gradient.data.data() + static_cast<std::size_t>(row * heads + head) * width;
    };
    for (std::int64_t row = 0; row < places_; ++row)
      std::memcpy(element_of(row), rounded.data() + static_cast<std::size_t>(places_ - 1 - row) * width, width);
    for (std::int64_t row = places_; row < rows; ++row)
      store(grad.dtype, of_class[static_cast<std::size_t>(row - places_)].rounded(grad.dtype), element_of(row));
  });
  return gradient;
}

}  // namespace sextant
