// Counts. A row is one element as often as it has channels:
//   1. The element is rounded once, a quotient by way of rounding to odd, which has its proof beside it.
//   2. Rows of whole lines, and long ones, go past the caches where the table is larger: a word of copies of the
//      element fills them (LineWriter::write_copies), some rows at a time. Other short rows are stored.

#include "lib/integer/integer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/kernels/targets.hpp"

namespace sextant {
namespace {

// numerator / denominator rounded to odd: the quotient itself where it is a double, else the one of the two doubles
// around it whose last bit is set. That bit remembers the inexactness, so that rounding it once more, to at most 51
// bits, rounds the true quotient (Boldo and Melquiond 2008, IEEE Transactions on Computers 57(4), theorem 1). Both
// arguments are integers of at most 2^53.
double quotient_to_odd(double numerator, double denominator) {
  const double quotient = numerator / denominator;
  const double rest = std::fma(-quotient, denominator, numerator);  // exact, a division's remainder
  // By the bits, which are even where it is not yet set, and without a branch that is as likely as not.
  auto bits = std::bit_cast<std::uint64_t>(quotient);
  const bool above = (rest > 0) == (denominator > 0);  // the true quotient is, where it is another
  const std::uint64_t by_one = above == (quotient > 0) ? 1 : ~std::uint64_t{0};
  bits += rest != 0 && (bits & 1) == 0 ? by_one : 0;
  return std::bit_cast<double>(bits);
}

// Bytes of a row below which ordinary stores of it are the faster, where measured, unless it is whole lines.
constexpr std::size_t least_streamed = 512;

// `count` elements of the same bits from `place` on, at any alignment.
template <class Bits>
void put_copies(std::byte* place, std::int64_t count, Bits bits) {
  constexpr std::int64_t per_line = 64 / sizeof(Bits);
  if (count >= per_line) {
    std::array<Bits, per_line> line;
    line.fill(bits);
    for (; count >= per_line; count -= per_line, place += sizeof line) std::memcpy(place, line.data(), sizeof line);
  }
  for (std::int64_t index = 0; index < count; ++index) put(place, index, bits);
}

// The element as often as a word has room for it.
template <class Bits>
std::uint64_t repeated(Bits element) {
  std::uint64_t word = element;
  for (int bits = 8 * sizeof(Bits); bits < 64; bits *= 2) word |= word << bits;
  return word;
}

}  // namespace

IntegerEncoder::IntegerEncoder(const Integer& encoding, std::int64_t max_position)
    : encoding_(encoding), max_position_(max_position) {
  Spec spec;
  spec.encoding = encoding;
  spec.min_position = std::min<std::int64_t>(0, max_position - 1);
  spec.max_position = max_position;
  validate(spec);
  target_in_use();  // before the first dispatch
}

void IntegerEncoder::encode(std::span<const std::int64_t> positions, const Rows& out) const {
  check_table(out, std::ssize(positions), encoding_.dim);
  check_range("IntegerEncoder::encode", "positions", positions);
  const auto greatest = static_cast<double>(max_position_ - 1);
  const std::size_t row_bytes = static_cast<std::size_t>(encoding_.dim) * size_of(out.dtype);
  with_bits_of(out.dtype, [&]<class Bits>(Bits) {
    const auto element_of = [&](std::int64_t row) {
      const auto number = static_cast<double>(positions[static_cast<std::size_t>(row)]);
      double value = number;
      if (encoding_.normalize)
        value = out.dtype == Dtype::float64 ? number / greatest : quotient_to_odd(number, greatest);
      return bits_of<Bits>(out.dtype, value);
    };
    if (row_bytes < least_streamed && row_bytes % LineWriter::line_bytes != 0) {
      return for_each_row(
          out, [&](std::int64_t row, std::byte* place) { put_copies(place, encoding_.dim, element_of(row)); });
    }
    write_row_blocks(out, [&](std::int64_t first, std::int64_t last, LineWriter& writer) {
      const bool side_by_side = out.row_stride == out.width;
      std::array<std::uint64_t, 16> words;
      // A kilobyte a call: the next words are computed while the lines of these leave.
      const auto most = std::clamp<std::int64_t>(static_cast<std::int64_t>(1024 / row_bytes), 1, std::ssize(words));
      for (std::int64_t row = first; row < last; row += most) {
        const std::int64_t count = std::min(last - row, most);
        for (std::int64_t i = 0; i < count; ++i) words[static_cast<std::size_t>(i)] = repeated(element_of(row + i));
        const auto of_rows = std::span(words).first(static_cast<std::size_t>(count));
        if (side_by_side) {
          writer.write_copies(row_of(out, row), of_rows, row_bytes);
        } else {
          for (std::int64_t i = 0; i < count; ++i)
            writer.write_copies(row_of(out, row + i), of_rows[static_cast<std::size_t>(i)], row_bytes);
        }
      }
    });
  });
}

void IntegerEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const {
  encode(positions, dense_rows("IntegerEncoder::encode", out, dtype, std::ssize(positions), encoding_.dim));
}

Tensor IntegerEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions), encoding_.dim});
  encode(positions, dtype, table.data);
  return table;
}

}  // namespace sextant
