// What a table that rows are written to must be: dense, or with the caller's stride (checks of line_writer.hpp), of as
// many rows as there are positions.

#include "lib/kernels/table_rows.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "lib/kernels/checks.hpp"

namespace sextant {

Rows dense_rows(const char* function, std::span<std::byte> out, Dtype dtype, std::int64_t rows, std::int64_t width) {
  check_bytes(function, out, rows * width, dtype);
  return {dtype, out.data(), rows, width, width};
}

void check_table(const Rows& out, std::int64_t positions, std::int64_t dim) {
  check_rows(out, "out");
  if (out.rows != positions)
    throw std::invalid_argument(fmt::format("out: {} rows for {} positions", out.rows, positions));
  if (out.width != dim) throw std::invalid_argument(fmt::format("out: width {} for dim {}", out.width, dim));
}

}  // namespace sextant
