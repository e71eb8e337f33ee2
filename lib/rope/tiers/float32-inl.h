// float32 elements, for one Highway target. Included inside HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. A row has a cos and a sin of each pair in double, and in double-double where it is turned from the row before.
//   2. Elements are widened, turned in double and rounded to float.
//   3. The quick tier takes two vectors of doubles at a time and passes them where the last bits of every double are
//      far from a tie and the y of each pair not too far apart: then the truth rounds alike.
//   4. What it leaves open is rounded with both ends of the bound; where those differ settle.hpp decides.
//   5. Rounding::fast is four_operations-inl.h, or the second step alone.
//
// docs/proofs/rope.md has the bounds: steps 3, 4 and 6 those of a row, steps 1, 2 and 9 to 11 those of the tiers.

#if defined(SEXTANT_LIB_ROPE_TIERS_FLOAT32_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_TIERS_FLOAT32_INL_H_
#undef SEXTANT_LIB_ROPE_TIERS_FLOAT32_INL_H_
#else
#define SEXTANT_LIB_ROPE_TIERS_FLOAT32_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/kernels/certify-inl.h"
#include "lib/rope/kernels/anchored_row-inl.h"
#include "lib/rope/kernels/settle-inl.h"
#include "lib/rope/kernels/units-inl.h"
#include "lib/rope/tiers/four_operations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// A row in double, and in double-double where it is turned from the one before.
template <class Bounds>
struct Float32Row : AnchoredRow<Bounds> {
  static constexpr std::size_t element_bytes = 4;
  static constexpr bool precise = true;
  static constexpr int most_turns = 64;
  static constexpr double bound_of_turned = 4.5;  // at least t + 3.25 (docs/proofs/rope.md, step 4)
  /// Places of y, a power of 2, within which the quick tier takes a tie to be near (step 11).
  static constexpr std::int32_t units_of_turned = 1 << 15;
  static constexpr std::int32_t units_of_anchored = 1 << 17;

  alignas(64) double cos_low[row_entries];  // where turns > 0
  alignas(64) double sin_low[row_entries];
  alignas(64) double cos_twice[2 * row_entries];  // FillTwice
  alignas(64) double sin_twice[2 * row_entries];
  alignas(64) double step_cos_low[rope_tile_pairs];
  alignas(64) double step_sin_low[rope_tile_pairs];
  NearestEntries<float> nearest;  // under Rounding::fast
  std::int32_t units;
};

/// Each entry once for each element of its pair, and the first sine negated, for pairs that lie side by side and are
/// not taken apart: with the elements of each pair swapped in x' y = x cos + x' sin.
template <class Bounds>
void FillTwice(std::size_t count, Float32Row<Bounds>& row) {
  const Doubles d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Rotation z = LoadRotation(i, row.cos, row.sin);
    hn::StoreInterleaved2(z.cos, z.cos, d, row.cos_twice + 2 * i);
    hn::StoreInterleaved2(hn::Neg(z.sin), z.sin, d, row.sin_twice + 2 * i);
  }
}

/// float32 elements, in double.
template <class Bounds>
struct TurnFloat32 {
  static constexpr Dtype dtype = Dtype::float32;
  using Element = std::uint32_t;
  using DE = hn::Rebind<Element, Doubles>;
  using Pair = PairOf<hn::Vec<DE>>;
  using Row = Float32Row<Bounds>;

  template <Pairing in, Pairing out>
  static void Fill(const RowSource& source, std::int64_t token, std::size_t first_pair, std::size_t count, Row& row) {
    row.units = Row::units_of_anchored;
    FillAnchoredRow<dtype>(source, token, first_pair, count, row);
#if HWY_TARGET != HWY_SCALAR && HWY_NATIVE_FMA
    if (source.rounding == Rounding::fast) return FillNearest<in, out>(row, count, row.nearest);
#endif
    if constexpr (HWY_TARGET != HWY_SCALAR && side_by_side<in, out>) FillTwice(count, row);
  }

  template <Rounding rounding>
  static HWY_INLINE Pair Turn(const Row& row, std::size_t i, const Pair& x) {
    const Doubles d;
    const DE du;
    const hn::Rebind<float, Doubles> df;
    if constexpr (rounding == Rounding::fast && has_four_operations) {
      const auto y = Turned(hn::BitCast(df, x.first), hn::BitCast(df, x.second),
                            NearestFloat(d, hn::Load(d, row.cos + i)), NearestFloat(d, hn::Load(d, row.sin + i)));
      return {hn::BitCast(du, y.first), hn::BitCast(du, y.second)};
    }
    const auto x0 = hn::PromoteTo(d, hn::BitCast(df, x.first));
    const auto x1 = hn::PromoteTo(d, hn::BitCast(df, x.second));
    const auto y = Turned(x0, x1, hn::Load(d, row.cos + i), hn::Load(d, row.sin + i));
    if constexpr (rounding == Rounding::fast) {
      return {hn::BitCast(du, NearestFloat(d, y.first)), hn::BitCast(du, NearestFloat(d, y.second))};
    } else {
      const auto bound = Bound(x0, x1, row.bounds.InDouble(d, i));
      const auto first = Float32::Certify(d, y.first, bound);
      const auto second = Float32::Certify(d, y.second, bound);
      const auto open = hn::Or(first.undecided, second.undecided);
      if (HWY_UNLIKELY(!hn::AllFalse(du, open))) {
        return SettleMasked<dtype>(du, row, i, open, x, {first.bits, second.bits}, 0x7F800000U, 0x7FC00000U);
      }
      return {first.bits, second.bits};
    }
  }
};

#if HWY_TARGET != HWY_SCALAR

/// Where a lane has one of the bits.
template <class D, class V>
HWY_INLINE hn::Mask<D> AnyBit([[maybe_unused]] D d, V value, V bits) {
#if HWY_TARGET <= HWY_AVX3
  return hn::TestBit(value, bits);  // on other targets for a single bit only
#else
  return hn::Ne(hn::And(value, bits), hn::Zero(d));
#endif
}

/// float32 elements, two vectors of doubles at a time.
struct QuickFloat32 {
  using Element = std::uint32_t;
  using DF = hn::Repartition<float, Doubles>;
  using DE = hn::RebindToUnsigned<DF>;
  using Wide = PairOf<DoubleVector>;
  using Signed = hn::RebindToSigned<DF>;
  static constexpr bool defers = false;
  // The last bits of a double that decide how it rounds, the ratio of two y and the least of them that the certificate
  // reaches.
  static constexpr std::int32_t cut = 29;
  static constexpr float ratio = 6144, least = 0x1p-126F;
  struct Begun {
    Wide earlier;
    Wide later;
  };

  template <class Bounds>
  explicit HWY_INLINE QuickFloat32(const Float32Row<Bounds>& row)
      : to_window(hn::Set(Signed(), row.units - (1 << (cut - 1)))),
        upper_bits(hn::Set(Signed(), (1 << cut) - 2 * row.units)) {}

  // Two vectors of y: first and second channels, or where pairs stay side by side the elements in their order.
  template <Pairing in, Pairing out, class Bounds>
  static HWY_INLINE Wide TurnHalf(const Float32Row<Bounds>& row, std::size_t i, const Element* x0, const Element* x1) {
    const Doubles d;
    const hn::Rebind<float, Doubles> df;
    const hn::Rebind<Element, Doubles> de;
    const auto widened = [&](hn::Vec<decltype(de)> x) HWY_ATTR { return hn::PromoteTo(d, hn::BitCast(df, x)); };
    if constexpr (side_by_side<in, out>) {
      const std::size_t lanes = hn::Lanes(d);
      return {TurnedTogether(d, widened(hn::LoadU(de, x0)), row.cos_twice + 2 * i, row.sin_twice + 2 * i),
              TurnedTogether(d, widened(hn::LoadU(de, x0 + lanes)), row.cos_twice + 2 * i + lanes,
                             row.sin_twice + 2 * i + lanes)};
    }
    const auto x = LoadPairs<in>(de, x0, x1);
    return Turned(widened(x.first), widened(x.second), hn::Load(d, row.cos + i), hn::Load(d, row.sin + i));
  }

  // Where a y is not too near to a tie, given the doubles: units are a power of 2, and among the bits of 2 units and
  // above one is set.
  HWY_INLINE hn::Mask<Signed> Clear(DoubleVector later, DoubleVector earlier) const {
    const Signed di;
    return AnyBit(di, hn::Add(LowWords(later, earlier), to_window), upper_bits);
  }

  static HWY_INLINE hn::Vec<DF> Limit(hn::Vec<DF> smaller) {
    const DF df;
    return hn::MulAdd(smaller, hn::Set(df, ratio), hn::Set(df, -ratio * least));
  }

  // False where the smaller magnitude is below `least`, and where one is infinite or NaN: then both are, or the larger
  // is.
  static HWY_INLINE hn::Mask<DF> Comparable(hn::Vec<DF> smaller, hn::Vec<DF> larger) {
    return hn::Gt(Limit(smaller), larger);
  }

  template <Pairing in, Pairing out>
  HWY_INLINE bool Certain(const Begun& y, hn::Vec<DF> first, hn::Vec<DF> second) const {
    const DF df;
#if HWY_TARGET <= HWY_AVX3
    // Each test is masked by those before it; of two channels an operation each gives the lesser and the greater size.
    using Floats = hn::Vec<DF>;
    const auto clear = [&](__mmask16 before, DoubleVector later, DoubleVector earlier) HWY_ATTR {
      const auto moved = hn::Add(LowWords(later, earlier), to_window);
      return _mm512_mask_test_epi32_mask(before, moved.raw, upper_bits.raw);
    };
    __mmask16 certain = 0;
    if constexpr (side_by_side<in, out>) {
      first = hn::Abs(first);
      second = hn::Abs(second);
      certain = Comparable(first, hn::Reverse2(df, first)).raw;
      const auto limit = Limit(second);
      certain = _mm512_mask_cmp_ps_mask(certain, limit.raw, hn::Reverse2(df, second).raw, _CMP_GT_OQ);
    } else {
      certain = Comparable(Floats{_mm512_range_ps(first.raw, second.raw, 0xA)},
                           Floats{_mm512_range_ps(first.raw, second.raw, 0xB)})
                    .raw;
    }
    certain = clear(certain, y.later.first, y.earlier.first);
    return clear(certain, y.later.second, y.earlier.second) == 0xFFFF;
#else
    first = hn::Abs(first);
    second = hn::Abs(second);
    const auto comparable = side_by_side<in, out> ? hn::And(Comparable(first, hn::Reverse2(df, first)),
                                                            Comparable(second, hn::Reverse2(df, second)))
                                                  : Comparable(hn::Min(first, second), hn::Max(first, second));
    const auto clear = hn::And(Clear(y.later.first, y.earlier.first), Clear(y.later.second, y.earlier.second));
    return hn::AllTrue(df, hn::And(comparable, hn::RebindMask(df, clear)));
#endif
  }

  template <Rounding rounding, Pairing in, Pairing out, class Bounds>
  HWY_INLINE Begun Begin(const Float32Row<Bounds>& row, std::size_t i, const Element* x0, const Element* x1) const {
    const std::size_t half = hn::Lanes(Doubles());
    return {TurnHalf<in, out>(row, i, x0, x1),
            TurnHalf<in, out>(row, i + half, x0 + (in == Pairing::half ? half : 2 * half), x1 + half)};
  }

  template <Rounding rounding, Pairing in, Pairing out, Caching caching>
  HWY_INLINE bool End(const Begun& y, Element* y0, Element* y1) const {
    const DE de;
    constexpr bool together = side_by_side<in, out>;
    const auto first = together ? Joined(y.earlier.second, y.earlier.first) : Joined(y.later.first, y.earlier.first);
    const auto second = together ? Joined(y.later.second, y.later.first) : Joined(y.later.second, y.earlier.second);
    if (rounding == Rounding::certified && HWY_UNLIKELY((!Certain<in, out>(y, first, second)))) return false;
    const PairOf<hn::Vec<DE>> bits{hn::BitCast(de, first), hn::BitCast(de, second)};
    StorePairs<together ? Pairing::half : out, caching>(de, bits, y0, together ? y0 + hn::Lanes(de) : y1);
    return true;
  }

 private:
  hn::Vec<Signed> to_window;
  hn::Vec<Signed> upper_bits;
};

template <class Bounds>
struct QuickTier<TurnFloat32<Bounds>> {
  static constexpr bool exists = true;
  using Quick = QuickFloat32;
};

#if HWY_NATIVE_FMA
template <class Bounds>
struct FastTier<TurnFloat32<Bounds>> {
  static constexpr bool exists = true;
  using Quick = FourOperations<float>;
};
#endif

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
