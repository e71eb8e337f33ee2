// float32 elements, for one Highway target. Included inside HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. A row has a cos and a sin of each pair in double, and in double-double where it is turned from the row before.
//   2. Elements are widened, turned in double and rounded to float.
//   3. The quick tier takes two vectors of doubles at a time and passes them where the last bits of every double are
//      far from a tie, the farther the more the y of its pair differ in size: then the truth rounds alike.
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

  alignas(64) double cos_low[row_entries];  // where turns > 0
  alignas(64) double sin_low[row_entries];
  alignas(64) double cos_twice[2 * row_entries];  // FillTwice
  alignas(64) double sin_twice[2 * row_entries];
  alignas(64) double step_cos_low[rope_tile_pairs];
  alignas(64) double step_sin_low[rope_tile_pairs];
  NearestEntries<float> nearest;  // under Rounding::fast
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
  using From = Element;
  using DE = hn::Rebind<Element, Doubles>;
  using DX = DE;
  using Pair = PairOf<hn::Vec<DE>>;
  using Row = Float32Row<Bounds>;

  template <Pairing in, Pairing out>
  static void Fill(const RowSource& source, std::int64_t token, std::size_t first_pair, std::size_t count, Row& row) {
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
        return SettleMasked<dtype, dtype>(du, row, i, open, x, {first.bits, second.bits}, 0x7F800000U, 0x7FC00000U);
      }
      return {first.bits, second.bits};
    }
  }
};

#if HWY_TARGET != HWY_SCALAR

/// float32 elements, two vectors of doubles at a time.
struct QuickFloat32 {
  using Element = std::uint32_t;
  using From = Element;
  using DF = hn::Repartition<float, Doubles>;
  using DE = hn::RebindToUnsigned<DF>;
  using Wide = PairOf<DoubleVector>;
  using Floats = hn::Vec<DF>;
  static constexpr bool defers = false;
  // The last bits of a double that decide how it rounds, the ratio of two y and the least of them that the certificate
  // reaches, and the places of y within which it takes a tie to be near, per power of 2 that lies between the two.
  static constexpr int cut = 29;
  static constexpr float ratio = 0x1p18F, least = 0x1p-126F;
  static constexpr std::uint32_t places = 64;
  struct Begun {
    Wide earlier;
    Wide later;
  };

  template <class Bounds>
  explicit HWY_INLINE QuickFloat32(const Float32Row<Bounds>&) {}

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

  // The first members of the pairs that lie side by side in two vectors, and the second ones, in one order.
  template <class V>
  static HWY_INLINE PairOf<V> Members(V earlier, V later) {
#if HWY_TARGET <= HWY_AVX3
    const hn::DFromV<V> d;
    const DF df;
    const auto a = hn::BitCast(df, earlier).raw;
    const auto b = hn::BitCast(df, later).raw;
    return {hn::BitCast(d, Floats{_mm512_mask_moveldup_ps(a, 0xAAAA, b)}),
            hn::BitCast(d, Floats{_mm512_mask_movehdup_ps(b, 0x5555, a)})};
#else
    return {hn::OddEven(hn::DupEven(later), earlier), hn::OddEven(later, hn::DupOdd(earlier))};
#endif
  }

  // 2^31 less eight times the places from y to the nearest tie.
  static HWY_INLINE hn::Vec<DE> NearTie(hn::Vec<DE> low_words) {
    const DE de;
    return hn::BitCast(de, hn::Abs(hn::BitCast(hn::RebindToSigned<DF>(), hn::ShiftLeft<32 - cut>(low_words))));
  }

  static HWY_INLINE PairOf<Floats> SmallerAndLarger(Floats first, Floats second) {
#if HWY_TARGET <= HWY_AVX3
    return {Floats{_mm512_range_ps(first.raw, second.raw, 0xA)}, Floats{_mm512_range_ps(first.raw, second.raw, 0xB)}};
#else
    first = hn::Abs(first);
    second = hn::Abs(second);
    return {hn::Min(first, second), hn::Max(first, second)};
#endif
  }

  // Whether no y is near to a tie, given the floats that they round to.
  template <Pairing in, Pairing out>
  static HWY_INLINE bool Certain(const Begun& y, Floats first, Floats second) {
    const DF df;
    const DE de;
    const auto lows = [&](DoubleVector later, DoubleVector earlier)
                          HWY_ATTR { return hn::ConcatEven(de, hn::BitCast(de, later), hn::BitCast(de, earlier)); };
    PairOf<Floats> rounded{first, second};
    PairOf<hn::Vec<DE>> low{};
    if constexpr (side_by_side<in, out>) {
      rounded = Members(first, second);
      low = Members(lows(y.earlier.second, y.earlier.first), lows(y.later.second, y.later.first));
    } else {
      low = {lows(y.later.first, y.earlier.first), lows(y.later.second, y.earlier.second)};
    }
    const auto [smaller, larger] = SmallerAndLarger(rounded.first, rounded.second);
    // False where the smaller magnitude is below `least`, and where one is infinite or NaN: then both are, or the
    // larger is.
    const auto comparable = hn::Gt(hn::MulAdd(smaller, hn::Set(df, ratio), hn::Set(df, -ratio * least)), larger);
    const auto powers_between = hn::ShiftRight<23>(hn::Sub(hn::BitCast(de, larger), hn::BitCast(de, smaller)));
    const auto width = hn::Shl(hn::Set(de, places << (32 - cut)), powers_between);
    // 2^31 or more where a tie is as near as that.
    const auto near = hn::Add(hn::Max(NearTie(low.first), NearTie(low.second)), width);
#if HWY_TARGET <= HWY_AVX3
    return _mm512_mask_testn_epi32_mask(comparable.raw, near.raw, hn::Set(de, 0x80000000U).raw) == 0xFFFF;
#else
    const hn::RebindToSigned<DF> di;
    const auto clear = hn::Gt(hn::BitCast(di, near), hn::Set(di, -1));
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
