// Digits of positions as elements, rows side by side as one string of digits: digits.cpp has the algorithm. This file
// checks positions, packs as many rows as fit 4096 digits at a time, and sends whole lines past the caches.

#include "lib/binary/binary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "lib/binary/digits.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/kernels/targets.hpp"

namespace sextant {
namespace {

// Of rows that are packed at a time: so few that stores of the ones before are still on their way to memory meanwhile.
constexpr std::int64_t string_bits = 1 << 12;
// As many rows as fill whole lines, whatever their length and dtype.
constexpr std::int64_t rows_of_whole_lines = 32;

// The first `count` digits to `to`: whole lines past the caches as they are made, the rest by way of the writer.
void write_digits(const DigitString& string, std::int64_t count, std::int64_t element, std::byte* to,
                  LineWriter& writer) {
  constexpr auto line = static_cast<std::int64_t>(LineWriter::line_bytes);
  constexpr std::int64_t buffer_bytes = 4096;
  alignas(64) std::array<std::byte, buffer_bytes + digits_overhang> buffer;
  const auto through_buffer = [&](std::int64_t from, std::int64_t end) {
    for (std::int64_t piece; from < end; from += piece) {
      piece = std::min(end - from, buffer_bytes / element);
      put_digits(string, from, piece, Caching::kept, buffer.data());
      writer.write(to + from * element, buffer.data(), static_cast<std::size_t>(piece * element));
    }
  };
  const auto in_line = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % LineWriter::line_bytes);
  if (writer.caching() == Caching::kept || in_line % element != 0) return through_buffer(0, count);
  const std::int64_t before = std::min(count, (line - in_line) % line / element);
  const std::int64_t whole = (count - before) * element / line * line / element;
  through_buffer(0, before);
  if (whole > 0) put_digits(string, before, whole, Caching::streamed, to + before * element);
  through_buffer(before + whole, count);
}

// The bits of all positions of a block at once: a branch for each takes a tenth of the time of a table of short rows.
void check_positions(std::span<const std::int64_t> positions, std::int64_t dim) {
  constexpr std::int64_t block = std::int64_t{1} << 15;
  const std::int64_t count = std::ssize(positions);
  parallel_for((count + block - 1) / block, count, [&](std::int64_t i) {
    const auto of_block = positions.subspan(static_cast<std::size_t>(i * block),
                                            static_cast<std::size_t>(std::min(block, count - i * block)));
    std::uint64_t bits = 0;
    for (const std::int64_t position : of_block) bits |= static_cast<std::uint64_t>(position);
    if (bits >> dim == 0) return;  // dim is at most 63, so that a sign is beyond it
    const auto wrong = std::ranges::find_if(
        of_block, [&](std::int64_t position) { return static_cast<std::uint64_t>(position) >> dim != 0; });
    throw std::out_of_range(fmt::format("BinaryEncoder::encode: position {} has not {} binary digits", *wrong, dim));
  });
}

}  // namespace

BinaryEncoder::BinaryEncoder(const Binary& encoding) : encoding_(encoding) {
  Spec spec;
  spec.encoding = encoding;
  spec.max_position = 1;
  validate(spec);
  target_in_use();  // before the first dispatch
}

void BinaryEncoder::encode(std::span<const std::int64_t> positions, const Rows& out) const {
  check_table(out, std::ssize(positions), encoding_.dim);
  check_positions(positions, encoding_.dim);
  // Rows side by side are one string of digits, others one each.
  const auto element = static_cast<std::int64_t>(size_of(out.dtype));
  const std::int64_t most =
      out.row_stride == out.width ? string_bits / encoding_.dim / rows_of_whole_lines * rows_of_whole_lines : 1;
  write_row_blocks(out, [&](std::int64_t first, std::int64_t last, LineWriter& writer) {
    std::array<std::byte, string_bits / 8 + 16> bits;
    const DigitString string{out.dtype, encoding_.normalize ? -1.0 : 0.0, 1.0, bits.data()};
    for (std::int64_t row = first; row < last; row += most) {
      const std::int64_t rows = std::min(most, last - row);
      pack_digits(positions.subspan(static_cast<std::size_t>(row), static_cast<std::size_t>(rows)), encoding_.dim,
                  bits.data());
      write_digits(string, rows * encoding_.dim, element, row_of(out, row), writer);
    }
  });
}

void BinaryEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const {
  encode(positions, dense_rows("BinaryEncoder::encode", out, dtype, std::ssize(positions), encoding_.dim));
}

Tensor BinaryEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions), encoding_.dim});
  encode(positions, dtype, table.data);
  return table;
}

}  // namespace sextant
