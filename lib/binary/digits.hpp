#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/kernels/line_writer.hpp"
#include "lib/numeric/dtype.hpp"

namespace sextant {

/// Binary digits as one string of bits, of which elements are made.
struct DigitString {
  Dtype dtype;
  double zero;  ///< what a digit is written as: values of the dtype
  double one;
  const std::byte* bits;  ///< the least significant bit of a byte first; seven bytes more may be read
};

/// Bytes that put_digits may overwrite behind the last element, unless it streams.
inline constexpr std::size_t digits_overhang = 64;

/// Digits [first, first + count) of the string, as elements from `to` on, on the instruction set in use. `to` is
/// aligned to an element; where they are streamed, to a line, and `count` elements are whole lines.
void put_digits(const DigitString& string, std::int64_t first, std::int64_t count, Caching caching, std::byte* to);

/// The lowest `dim` digits of each position, 1 <= dim <= 63, the least first, side by side in the bytes from `bits` on,
/// as DigitString has them; up to 8 bytes more than they fill are overwritten. Precondition: 0 <= position < 2^dim.
void pack_digits(std::span<const std::int64_t> positions, std::int64_t dim, std::byte* bits);

}  // namespace sextant
