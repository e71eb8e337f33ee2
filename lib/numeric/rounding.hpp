#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/numeric/dtype.hpp"

namespace sextant {

/// How an encoder's results relate to the real numbers that they stand for.
enum class Rounding {
  /// The nearest value of the dtype, ties to even: bitwise the same on every instruction set and thread count, and in
  /// whatever floating-point environment (rounding mode, flush-to-zero) callers and their threads are.
  certified,
  fast  ///< within the bound that the encoder states, at most one ULP of the norm
};

/// Rows of a caller's memory that an encoder writes: element (row, column) is at data + (row * row_stride + column) *
/// size_of(dtype). Any alignment. Bytes between the rows are never touched.
struct Rows {
  Dtype dtype = Dtype::float32;
  std::byte* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  /// Elements from the start of a row to that of the next one; at least `width`.
  std::int64_t row_stride = 0;
};

/// Checks a view before anything is written through it: dtype floating, rows and width not negative, row_stride >=
/// width, data not null where there are elements, and the extent in bytes below 2^62.
/// @throws std::invalid_argument naming `argument` and the field that is wrong.
void check_rows(const Rows& view, const char* argument);

}  // namespace sextant
