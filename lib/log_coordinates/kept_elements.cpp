// Elements looked up by their offsets, compiled once per Highway target.
//
//   1. Offsets within 31, those of windows up to 32, are looked up in registers where a target has that: 64 elements of
//      32 bits are four vectors, of which two at a time are chosen from by the index's low five bits, and one of both
//      by the sixth; 64 of 16 bits are two vectors. Indices are the offsets modulo 64: their low bits.
//   2. All others are looked up one by one.
//   3. Columns, one an axis, are put side by side as rows by vectors where there are two or three of them.
//
// Bits are moved, not computed: there is nothing to prove.

#include "lib/log_coordinates/kept_elements.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/log_coordinates/kept_elements.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86

using Words = hn::ScalableTag<std::uint32_t>;

/// The low words of sixteen offsets.
HWY_INLINE hn::Vec<Words> LowWords(const std::int64_t* offsets) {
  const hn::ScalableTag<std::int64_t> d;
  const Words words;
  return hn::ConcatEven(words, hn::BitCast(words, hn::LoadU(d, offsets + hn::Lanes(d))),
                        hn::BitCast(words, hn::LoadU(d, offsets)));
}

// Highway has no lookups in more than one vector.
HWY_INLINE std::size_t LookUpInRegisters(std::span<const std::int64_t> offsets, const std::uint32_t* table,
                                         std::uint32_t* to) {
  const Words d;
  const auto t0 = hn::Load(d, table), t1 = hn::Load(d, table + 16);
  const auto t2 = hn::Load(d, table + 32), t3 = hn::Load(d, table + 48);
  std::size_t i = 0;
  for (; i + 16 <= offsets.size(); i += 16) {
    const auto at = LowWords(offsets.data() + i);
    const hn::Vec<Words> lower{_mm512_permutex2var_epi32(t0.raw, at.raw, t1.raw)};
    const hn::Vec<Words> upper{_mm512_permutex2var_epi32(t2.raw, at.raw, t3.raw)};
    hn::StoreU(hn::IfThenElse(hn::TestBit(at, hn::Set(d, 32)), upper, lower), d, to + i);
  }
  return i;
}

HWY_INLINE std::size_t LookUpInRegisters(std::span<const std::int64_t> offsets, const std::uint16_t* table,
                                         std::uint16_t* to) {
  const hn::ScalableTag<std::uint16_t> d;
  const auto t0 = hn::Load(d, table), t1 = hn::Load(d, table + 32);
  std::size_t i = 0;
  for (; i + 32 <= offsets.size(); i += 32) {
    const auto at = hn::ConcatEven(d, hn::BitCast(d, LowWords(offsets.data() + i + 16)),
                                   hn::BitCast(d, LowWords(offsets.data() + i)));
    hn::StoreU(hn::Vec<decltype(d)>{_mm512_permutex2var_epi16(t0.raw, at.raw, t1.raw)}, d, to + i);
  }
  return i;
}

HWY_INLINE std::size_t LookUpInRegisters(std::span<const std::int64_t>, const std::uint64_t*, std::uint64_t*) {
  return 0;
}

#else

template <class Bits>
HWY_INLINE std::size_t LookUpInRegisters(std::span<const std::int64_t>, const Bits*, Bits*) {
  return 0;
}

#endif

template <class Bits>
HWY_INLINE void LookUpOf(std::span<const std::int64_t> offsets, const KeptElements<Bits>& kept, Bits* to) {
  std::size_t i = 0;
  if (kept.most() <= kept.most_in_registers) i = LookUpInRegisters(offsets, kept.modulo_64(), to);
  const Bits* const at_zero = kept.at_zero();
  for (; i < offsets.size(); ++i) to[i] = at_zero[offsets[i]];
}

void LookUp16(std::span<const std::int64_t> offsets, const KeptElements<std::uint16_t>& kept, std::uint16_t* to) {
  LookUpOf(offsets, kept, to);
}
void LookUp32(std::span<const std::int64_t> offsets, const KeptElements<std::uint32_t>& kept, std::uint32_t* to) {
  LookUpOf(offsets, kept, to);
}
void LookUp64(std::span<const std::int64_t> offsets, const KeptElements<std::uint64_t>& kept, std::uint64_t* to) {
  LookUpOf(offsets, kept, to);
}

template <class Bits>
HWY_INLINE void PutSideBySide(const Bits* columns, std::size_t stride, std::size_t width, std::size_t count,
                              Bits* rows) {
  const hn::ScalableTag<Bits> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (width == 2) {
    for (; i + lanes <= count; i += lanes)
      hn::StoreInterleaved2(hn::LoadU(d, columns + i), hn::LoadU(d, columns + stride + i), d, rows + 2 * i);
  } else if (width == 3) {
    for (; i + lanes <= count; i += lanes)
      hn::StoreInterleaved3(hn::LoadU(d, columns + i), hn::LoadU(d, columns + stride + i),
                            hn::LoadU(d, columns + 2 * stride + i), d, rows + 3 * i);
  }
  for (std::size_t column = 0; column < width; ++column) {
    for (std::size_t row = i; row < count; ++row) rows[row * width + column] = columns[column * stride + row];
  }
}

void PutSideBySide16(const std::uint16_t* columns, std::size_t stride, std::size_t width, std::size_t count,
                     std::uint16_t* rows) {
  PutSideBySide(columns, stride, width, count, rows);
}
void PutSideBySide32(const std::uint32_t* columns, std::size_t stride, std::size_t width, std::size_t count,
                     std::uint32_t* rows) {
  PutSideBySide(columns, stride, width, count, rows);
}
void PutSideBySide64(const std::uint64_t* columns, std::size_t stride, std::size_t width, std::size_t count,
                     std::uint64_t* rows) {
  PutSideBySide(columns, stride, width, count, rows);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(LookUp16);
HWY_EXPORT(LookUp32);
HWY_EXPORT(LookUp64);
HWY_EXPORT(PutSideBySide16);
HWY_EXPORT(PutSideBySide32);
HWY_EXPORT(PutSideBySide64);

}  // namespace

void look_up(std::span<const std::int64_t> offsets, const KeptElements<std::uint16_t>& kept, std::uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(LookUp16)(offsets, kept, to);
}
void look_up(std::span<const std::int64_t> offsets, const KeptElements<std::uint32_t>& kept, std::uint32_t* to) {
  HWY_DYNAMIC_DISPATCH(LookUp32)(offsets, kept, to);
}
void look_up(std::span<const std::int64_t> offsets, const KeptElements<std::uint64_t>& kept, std::uint64_t* to) {
  HWY_DYNAMIC_DISPATCH(LookUp64)(offsets, kept, to);
}

void put_columns_side_by_side(const std::uint16_t* columns, std::size_t stride, std::size_t width, std::size_t count,
                              std::uint16_t* rows) {
  HWY_DYNAMIC_DISPATCH(PutSideBySide16)(columns, stride, width, count, rows);
}
void put_columns_side_by_side(const std::uint32_t* columns, std::size_t stride, std::size_t width, std::size_t count,
                              std::uint32_t* rows) {
  HWY_DYNAMIC_DISPATCH(PutSideBySide32)(columns, stride, width, count, rows);
}
void put_columns_side_by_side(const std::uint64_t* columns, std::size_t stride, std::size_t width, std::size_t count,
                              std::uint64_t* rows) {
  HWY_DYNAMIC_DISPATCH(PutSideBySide64)(columns, stride, width, count, rows);
}

}  // namespace sextant
#endif
