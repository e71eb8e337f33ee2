// Elements of offsets within 31 looked up in registers, for one Highway target: included inside HWY_NAMESPACE by a file
// that is compiled once per target. Other targets than those of AVX-512 look up none.
//
//   1. 64 elements of 32 bits are four vectors, of which two at a time are chosen from by the index's low five bits,
//      and one of both by the sixth; 64 of 16 bits are two vectors. Indices are the offsets modulo 64: their low bits.
//   2. Of two columns both elements are put in turns before they are stored.
//
// Bits are moved, not computed: there is nothing to prove.

#if defined(SEXTANT_LIB_LOG_COORDINATES_REGISTER_TABLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_LOG_COORDINATES_REGISTER_TABLE_INL_H_
#undef SEXTANT_LIB_LOG_COORDINATES_REGISTER_TABLE_INL_H_
#else
#define SEXTANT_LIB_LOG_COORDINATES_REGISTER_TABLE_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

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

/// A table of 64 elements in registers. Highway has no lookups in more than one vector.
template <class Bits>
struct Table;

template <>
struct Table<std::uint32_t> {
  static constexpr std::size_t lanes = 16;
  hn::Vec<Words> t0, t1, t2, t3;

  explicit HWY_INLINE Table(const std::uint32_t* table)
      : t0(hn::Load(Words(), table)),
        t1(hn::Load(Words(), table + 16)),
        t2(hn::Load(Words(), table + 32)),
        t3(hn::Load(Words(), table + 48)) {}

  HWY_INLINE hn::Vec<Words> At(const std::int64_t* offsets) const {
    const auto at = LowWords(offsets);
    const hn::Vec<Words> lower{_mm512_permutex2var_epi32(t0.raw, at.raw, t1.raw)};
    const hn::Vec<Words> upper{_mm512_permutex2var_epi32(t2.raw, at.raw, t3.raw)};
    return hn::IfThenElse(hn::TestBit(at, hn::Set(Words(), 32)), upper, lower);
  }

  /// The lanes of `order`, of both vectors.
  static HWY_INLINE hn::Vec<Words> InTurns(hn::Vec<Words> a, hn::Vec<Words> b, const std::uint32_t* order) {
    return {_mm512_permutex2var_epi32(a.raw, hn::Load(Words(), order).raw, b.raw)};
  }
};

template <>
struct Table<std::uint16_t> {
  using Halves = hn::ScalableTag<std::uint16_t>;
  static constexpr std::size_t lanes = 32;
  hn::Vec<Halves> t0, t1;

  explicit HWY_INLINE Table(const std::uint16_t* table)
      : t0(hn::Load(Halves(), table)), t1(hn::Load(Halves(), table + 32)) {}

  HWY_INLINE hn::Vec<Halves> At(const std::int64_t* offsets) const {
    const Halves d;
    const auto at = hn::ConcatEven(d, hn::BitCast(d, LowWords(offsets + 16)), hn::BitCast(d, LowWords(offsets)));
    return {_mm512_permutex2var_epi16(t0.raw, at.raw, t1.raw)};
  }

  static HWY_INLINE hn::Vec<Halves> InTurns(hn::Vec<Halves> a, hn::Vec<Halves> b, const std::uint16_t* order) {
    return {_mm512_permutex2var_epi16(a.raw, hn::Load(Halves(), order).raw, b.raw)};
  }
};

template <class Bits>
HWY_INLINE std::size_t LookUpInRegisters(std::span<const std::int64_t> offsets, const Bits* table, Bits* to) {
  if constexpr (sizeof(Bits) == 8) {
    return 0;
  } else {
    const Table<Bits> own(table);
    std::size_t i = 0;
    for (; i + own.lanes <= offsets.size(); i += own.lanes)
      hn::StoreU(own.At(offsets.data() + i), hn::ScalableTag<Bits>(), to + i);
    return i;
  }
}

/// Lanes of two vectors in turns, the later half of each behind the earlier one.
template <class Bits>
struct alignas(64) TurnOrder {
  std::array<Bits, 2 * Table<Bits>::lanes> lane;
};

template <class Bits>
constexpr TurnOrder<Bits> turn_order = [] {
  constexpr std::size_t lanes = Table<Bits>::lanes;
  TurnOrder<Bits> order{};
  for (std::size_t i = 0; i < 2 * lanes; ++i) order.lane[i] = static_cast<Bits>(i / 2 + i % 2 * lanes);
  return order;
}();

template <class Bits>
HWY_INLINE std::size_t LookUpPairsInRegisters(std::span<const std::int64_t> first, const std::int64_t* second,
                                              const Bits* of_first, const Bits* of_second, Bits* rows) {
  if constexpr (sizeof(Bits) == 8) {
    return 0;
  } else {
    const hn::ScalableTag<Bits> d;
    const Table<Bits> a(of_first), b(of_second);
    constexpr std::size_t lanes = Table<Bits>::lanes;
    const Bits* const order = turn_order<Bits>.lane.data();
    std::size_t i = 0;
    for (; i + lanes <= first.size(); i += lanes) {
      const auto from_a = a.At(first.data() + i);
      const auto from_b = b.At(second + i);
      hn::StoreU(a.InTurns(from_a, from_b, order), d, rows + 2 * i);
      hn::StoreU(a.InTurns(from_a, from_b, order + lanes), d, rows + 2 * i + lanes);
    }
    return i;
  }
}

#else

template <class Bits>
HWY_INLINE std::size_t LookUpInRegisters(std::span<const std::int64_t>, const Bits*, Bits*) {
  return 0;
}

template <class Bits>
HWY_INLINE std::size_t LookUpPairsInRegisters(std::span<const std::int64_t>, const std::int64_t*, const Bits*,
                                              const Bits*, Bits*) {
  return 0;
}

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
