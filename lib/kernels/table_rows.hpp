#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/parallel.hpp"
#include "lib/numeric/rounding.hpp"

// What the encoders that write tables of rows share.

namespace sextant {

/// The view of `rows` rows side by side that `function` was given `out` for. @throws std::invalid_argument for int64 or
/// an `out` of another size.
Rows dense_rows(const char* function, std::span<std::byte> out, Dtype dtype, std::int64_t rows, std::int64_t width);

/// A view for the code of `positions` positions, `dim` wide. @throws std::invalid_argument as check_rows, and for other
/// extents.
void check_table(const Rows& out, std::int64_t positions, std::int64_t dim);

/// body(row, where it begins) for every row of the view, many rows at a time on as many threads as OpenMP gives, in any
/// order.
template <class Body>
void for_each_row(const Rows& out, Body body) {
  const auto row_bytes = static_cast<std::int64_t>(size_of(out.dtype)) * std::max<std::int64_t>(1, out.row_stride);
  const std::int64_t chunk = std::max<std::int64_t>(1, (std::int64_t{1} << 17) / row_bytes);
  parallel_for((out.rows + chunk - 1) / chunk, out.rows * out.width, [&](std::int64_t i) {
    for (std::int64_t row = i * chunk; row < std::min(out.rows, (i + 1) * chunk); ++row)
      body(row, out.data + static_cast<std::size_t>(row * row_bytes));
  });
}

/// Where a row of the view begins.
inline std::byte* row_of(const Rows& out, std::int64_t row) {
  return out.data + static_cast<std::size_t>(row * out.row_stride) * size_of(out.dtype);
}

/// body(first, last, writer) for rows [first, last) of the view, many at a time, as for_each_row, where the body hands
/// all of them on to that LineWriter in their order: past the caches where the table is larger than those.
template <class Body>
void write_row_blocks(const Rows& out, Body body) {
  const auto element = static_cast<std::int64_t>(size_of(out.dtype));
  const std::int64_t row_bytes = element * std::max<std::int64_t>(1, out.row_stride);
  const bool has_lines = out.row_stride == out.width || out.width * element >= least_streamed_apart;
  const Caching caching = has_lines ? caching_of(out.rows * row_bytes) : Caching::kept;
  // A writer finishes once a chunk, which waits for memory if it streams.
  const std::int64_t chunk_bytes = std::int64_t{1} << (caching == Caching::streamed ? 18 : 17);
  const std::int64_t chunk = std::max<std::int64_t>(1, chunk_bytes / row_bytes);
  parallel_for((out.rows + chunk - 1) / chunk, out.rows * out.width, [&](std::int64_t i) {
    LineWriter writer(caching);
    body(i * chunk, std::min(out.rows, (i + 1) * chunk), writer);
    writer.finish();
  });
}

/// body(row, where it begins, writer) for every row of the view, likewise.
template <class Body>
void write_rows(const Rows& out, Body body) {
  write_row_blocks(out, [&](std::int64_t first, std::int64_t last, LineWriter& writer) {
    for (std::int64_t row = first; row < last; ++row) body(row, row_of(out, row), writer);
  });
}

/// visit(T()) with T the unsigned integer that is as wide as the dtype, so that elements can be moved as bits.
template <class Visit>
void with_bits_of(Dtype dtype, Visit visit) {
  switch (size_of(dtype)) {
    case 2: return visit(std::uint16_t{});
    case 4: return visit(std::uint32_t{});
    default: return visit(std::uint64_t{});
  }
}

/// The bits of the dtype's value nearest to `value`. Bits is as wide as the dtype.
template <class Bits>
Bits bits_of(Dtype dtype, double value) {
  std::byte element[sizeof(Bits)];
  store(dtype, value, element);
  Bits bits;
  std::memcpy(&bits, element, sizeof bits);
  return bits;
}

/// Element `index` of those at `place`, at any alignment.
template <class Bits>
void put(std::byte* place, std::int64_t index, Bits bits) {
  std::memcpy(place + static_cast<std::size_t>(index) * sizeof bits, &bits, sizeof bits);
}

}  // namespace sextant
