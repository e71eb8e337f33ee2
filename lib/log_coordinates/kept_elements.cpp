// Elements looked up by their offsets, compiled once per Highway target.
//
//   1. Offsets within 31, those of windows up to 32, are looked up in registers where a target has that
//      (register_table-inl.h).
//   2. All others are looked up one by one.
//   3. Two columns, one an axis, leave the lookup as rows where all their offsets are kept. Others are put side by side
//      behind it, by vectors where there are two or three of them.
//
// Bits are moved, not computed: there is nothing to prove.

#include "lib/log_coordinates/kept_elements.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/log_coordinates/kept_elements.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/log_coordinates/register_table-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

template <class Bits>
HWY_INLINE void LookUpOf(std::span<const std::int64_t> offsets, const KeptElements<Bits>& kept, Bits* to) {
  std::size_t i = 0;
  if (kept.most() <= kept.most_in_registers) i = LookUpInRegisters(offsets, kept.modulo_64(), to);
  const Bits* const at_zero = kept.at_zero();
  for (; i < offsets.size(); ++i) to[i] = at_zero[offsets[i]];
}

template <class Bits>
HWY_INLINE void LookUpPairsOf(std::span<const std::int64_t> first, const std::int64_t* second,
                              const KeptElements<Bits>& of_first, const KeptElements<Bits>& of_second, Bits* rows) {
  std::size_t i = 0;
  if (of_first.most() <= of_first.most_in_registers && of_second.most() <= of_second.most_in_registers)
    i = LookUpPairsInRegisters(first, second, of_first.modulo_64(), of_second.modulo_64(), rows);
  for (; i < first.size(); ++i) {
    rows[2 * i] = of_first.at_zero()[first[i]];
    rows[2 * i + 1] = of_second.at_zero()[second[i]];
  }
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

void LookUpPairs16(std::span<const std::int64_t> first, const std::int64_t* second,
                   const KeptElements<std::uint16_t>& of_first, const KeptElements<std::uint16_t>& of_second,
                   std::uint16_t* rows) {
  LookUpPairsOf(first, second, of_first, of_second, rows);
}
void LookUpPairs32(std::span<const std::int64_t> first, const std::int64_t* second,
                   const KeptElements<std::uint32_t>& of_first, const KeptElements<std::uint32_t>& of_second,
                   std::uint32_t* rows) {
  LookUpPairsOf(first, second, of_first, of_second, rows);
}
void LookUpPairs64(std::span<const std::int64_t> first, const std::int64_t* second,
                   const KeptElements<std::uint64_t>& of_first, const KeptElements<std::uint64_t>& of_second,
                   std::uint64_t* rows) {
  LookUpPairsOf(first, second, of_first, of_second, rows);
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
HWY_EXPORT(LookUpPairs16);
HWY_EXPORT(LookUpPairs32);
HWY_EXPORT(LookUpPairs64);
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

void look_up_pairs(std::span<const std::int64_t> first, const std::int64_t* second,
                   const KeptElements<std::uint16_t>& of_first, const KeptElements<std::uint16_t>& of_second,
                   std::uint16_t* rows) {
  HWY_DYNAMIC_DISPATCH(LookUpPairs16)(first, second, of_first, of_second, rows);
}
void look_up_pairs(std::span<const std::int64_t> first, const std::int64_t* second,
                   const KeptElements<std::uint32_t>& of_first, const KeptElements<std::uint32_t>& of_second,
                   std::uint32_t* rows) {
  HWY_DYNAMIC_DISPATCH(LookUpPairs32)(first, second, of_first, of_second, rows);
}
void look_up_pairs(std::span<const std::int64_t> first, const std::int64_t* second,
                   const KeptElements<std::uint64_t>& of_first, const KeptElements<std::uint64_t>& of_second,
                   std::uint64_t* rows) {
  HWY_DYNAMIC_DISPATCH(LookUpPairs64)(first, second, of_first, of_second, rows);
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
