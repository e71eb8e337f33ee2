// Digits of binary, compiled once per Highway target. Rows side by side are one string of digits, whatever their
// length:
//   1. Positions are packed into words of 64 bits, dim bits each.
//   2. Elements are made a vector at a time, wherever rows begin: as many bits of the string as a vector has lanes are
//      the mask that chooses between the elements of 0 and 1.
//   3. So whole lines go past the caches without being put together elsewhere; what does not fill a line goes through a
//      LineWriter.
// Bits are chosen, not computed; there is nothing to prove.

#include "lib/binary/digits.hpp"

#include <cstring>

#include "lib/kernels/table_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/binary/digits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/put_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <Caching caching, class Bits>
void PutDigitsOf(const DigitString& string, std::int64_t first, std::int64_t count, Bits* to) {
  const hn::CappedTag<Bits, digits_overhang / sizeof(Bits)> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto zeros = hn::Set(d, bits_of<Bits>(string.dtype, string.zero));
  const auto ones = hn::Set(d, bits_of<Bits>(string.dtype, string.one));
  for (std::int64_t i = 0; i < count; i += lanes) {
    const std::int64_t at = first + i;
    std::uint64_t window;
    std::memcpy(&window, string.bits + at / 8, sizeof window);
    window >>= at % 8;  // at least 57 digits are left, as many as a vector has lanes or more
    std::uint8_t digits[sizeof window];
    std::memcpy(digits, &window, sizeof window);
    PutVector<caching>(hn::IfThenElse(hn::LoadMaskBits(d, digits), ones, zeros), to + i);
  }
}

void PutDigits(const DigitString& string, std::int64_t first, std::int64_t count, Caching caching, std::byte* to) {
  with_bits_of(string.dtype, [&]<class Bits>(Bits) {
    auto* const elements = reinterpret_cast<Bits*>(to);
    caching == Caching::streamed ? PutDigitsOf<Caching::streamed>(string, first, count, elements)
                                 : PutDigitsOf<Caching::kept>(string, first, count, elements);
  });
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(PutDigits);

}  // namespace

void put_digits(const DigitString& string, std::int64_t first, std::int64_t count, Caching caching, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(PutDigits)(string, first, count, caching, to);
}

void pack_digits(std::span<const std::int64_t> positions, std::int64_t dim, std::byte* bits) {
  std::uint64_t word = 0;
  std::int64_t filled = 0;
  const auto put = [&] {
    std::memcpy(bits, &word, sizeof word);
    bits += sizeof word;
  };
  for (const std::int64_t position : positions) {
    const auto digits = static_cast<std::uint64_t>(position);
    word |= digits << filled;
    filled += dim;
    if (filled < 64) continue;
    put();
    filled -= 64;
    word = digits >> (dim - filled);  // dim is below 64, so that `filled` is below dim
  }
  put();
}

}  // namespace sextant
#endif
