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
#include "lib/rope/kernels/pair_bounds-inl.h"
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
  alignas(64) double cos_apart[row_entries];  // FillApart
  alignas(64) double sin_apart[row_entries];
  alignas(64) double step_cos_low[rope_tile_pairs];
  alignas(64) double step_sin_low[rope_tile_pairs];
  NearestEntries<float> nearest;  // under Rounding::fast
};

#if HWY_TARGET != HWY_SCALAR
/// The entries of two vectors of pairs, in the order in which the quick tier takes their elements apart.
HWY_INLINE PairOf<DoubleVector> InOrderOfApart(DoubleVector earlier, DoubleVector later) {
#if HWY_TARGET <= HWY_AVX3
  const hn::RebindToSigned<Doubles> di;
  alignas(64) static constexpr std::int64_t lower[8] = {0, 1, 8, 9, 2, 3, 10, 11};
  const auto of_lower = hn::Load(di, lower);
  const auto of_upper = hn::Add(of_lower, hn::Set(di, 4));
  return {DoubleVector{_mm512_permutex2var_pd(earlier.raw, of_lower.raw, later.raw)},
          DoubleVector{_mm512_permutex2var_pd(earlier.raw, of_upper.raw, later.raw)}};
#elif HWY_TARGET == HWY_AVX2
  const Doubles d;
  return {hn::ConcatLowerLower(d, later, earlier), hn::ConcatUpperUpper(d, later, earlier)};
#else
  return {earlier, later};
#endif
}

/// The entries in the order in which elements are taken apart.
template <class Bounds>
void FillApart(std::size_t count, Float32Row<Bounds>& row) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto put = [&](const double* from, double* to) HWY_ATTR {
      const auto [lower, upper] = InOrderOfApart(hn::Load(d, from + i), hn::Load(d, from + i + lanes));
      hn::Store(lower, d, to + i);
      hn::Store(upper, d, to + i + lanes);
    };
    put(row.cos, row.cos_apart);
    put(row.sin, row.sin_apart);
  }
}
#endif

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
    FillAnchoredRow(source, token, first_pair, count, row);
#if HWY_TARGET != HWY_SCALAR && HWY_NATIVE_FMA
    if (source.rounding == Rounding::fast) return FillNearest<in, out>(row, count, row.nearest);
#endif
#if HWY_TARGET != HWY_SCALAR
    if constexpr (side_by_side<in, out>) FillApart(count, row);
#endif
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
      const auto bound = Bound(x0, x1, BoundAt<dtype>(row, i));
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
  // The last bits of a double that decide how it rounds, the least y that the certificate reaches, and the places of y
  // within which it takes a tie to be near, times the ratio of the larger y of a pair to the smaller.
  static constexpr int cut = 29;
  static constexpr float least = 0x1p-126F, places = 64;
  struct Begun {
    Wide earlier;
    Wide later;
  };

  template <class Bounds>
  explicit HWY_INLINE QuickFloat32(const Float32Row<Bounds>&) {}

  // The first members of the pairs in two vectors, and the second ones, block by block of 16 bytes, which takes fewer
  // operations than their order would, and back.
  static HWY_INLINE PairOf<Floats> Apart(Floats earlier, Floats later) {
#if HWY_TARGET <= HWY_AVX3
    return {Floats{_mm512_shuffle_ps(earlier.raw, later.raw, 0x88)},
            Floats{_mm512_shuffle_ps(earlier.raw, later.raw, 0xDD)}};
#elif HWY_TARGET == HWY_AVX2
    return {Floats{_mm256_shuffle_ps(earlier.raw, later.raw, 0x88)},
            Floats{_mm256_shuffle_ps(earlier.raw, later.raw, 0xDD)}};
#else
    const DF df;
    return {hn::ConcatEven(df, later, earlier), hn::ConcatOdd(df, later, earlier)};
#endif
  }
  static HWY_INLINE PairOf<Floats> Together(Floats first, Floats second) {
    const DF df;
    return {hn::InterleaveLower(df, first, second), hn::InterleaveUpper(df, first, second)};
  }

  // 2^31 less eight times the places from y to the nearest tie, with a sign.
  static HWY_INLINE Floats NearTie(hn::Vec<DE> low_words) {
    return hn::ConvertTo(DF(), hn::BitCast(hn::RebindToSigned<DF>(), hn::ShiftLeft<32 - cut>(low_words)));
  }

  static HWY_INLINE Floats LargerMagnitude(Floats first, Floats second) {
#if HWY_TARGET <= HWY_AVX3
    return Floats{_mm512_range_ps(first.raw, second.raw, 0xB)};
#else
    return hn::Max(hn::Abs(first), hn::Abs(second));
#endif
  }

  static HWY_INLINE PairOf<Floats> SmallerAndLarger(Floats first, Floats second) {
#if HWY_TARGET <= HWY_AVX3
    return {Floats{_mm512_range_ps(first.raw, second.raw, 0xA)}, LargerMagnitude(first, second)};
#else
    return {hn::Min(hn::Abs(first), hn::Abs(second)), LargerMagnitude(first, second)};
#endif
  }

  // Whether no y is near to a tie, given the floats that they round to.
  static HWY_INLINE bool Certain(const Begun& y, Floats first, Floats second) {
    const DF df;
    const DE de;
    const auto lows = [&](DoubleVector later, DoubleVector earlier)
                          HWY_ATTR { return hn::ConcatEven(de, hn::BitCast(de, later), hn::BitCast(de, earlier)); };
    const PairOf<hn::Vec<DE>> low{lows(y.later.first, y.earlier.first), lows(y.later.second, y.earlier.second)};
    const auto [smaller, larger] = SmallerAndLarger(first, second);
    const auto near = LargerMagnitude(NearTie(low.first), NearTie(low.second));
    const auto reach = hn::NegMulAdd(near, hn::Set(df, 1 / (8 * places)), hn::Set(df, 0x1p28F / places));
    // False where the smaller magnitude is below `least`, and where one is infinite or NaN: then both are, or the
    // larger is.
    const auto allowed = hn::MulSub(reach, smaller, hn::Set(df, 0x1p28F / places * least));
    return hn::AllTrue(df, hn::Gt(allowed, larger));
  }

  template <Rounding rounding, Pairing in, Pairing out, class Bounds>
  HWY_INLINE Begun Begin(const Float32Row<Bounds>& row, std::size_t i, const Element* x0, const Element* x1) const {
    const Doubles d;
    const DF df;
    const hn::Rebind<float, Doubles> half;
    const std::size_t lanes = hn::Lanes(d);
    const auto turned = [&](auto first, auto second, const double* c, const double* s) HWY_ATTR {
      return Turned(hn::PromoteTo(d, first), hn::PromoteTo(d, second), hn::Load(d, c), hn::Load(d, s));
    };
    if constexpr (side_by_side<in, out>) {
      const auto x = Apart(hn::BitCast(df, hn::LoadU(DE(), x0)), hn::BitCast(df, hn::LoadU(DE(), x1)));
      return {turned(hn::LowerHalf(half, x.first), hn::LowerHalf(half, x.second), row.cos_apart + i, row.sin_apart + i),
              turned(hn::UpperHalf(half, x.first), hn::UpperHalf(half, x.second), row.cos_apart + i + lanes,
                     row.sin_apart + i + lanes)};
    }
    const hn::Rebind<Element, Doubles> de;
    const auto of_half = [&](std::size_t at) HWY_ATTR {
      const auto x = LoadPairs<in>(de, x0 + channel_step<in> * at, x1 + at);
      return turned(hn::BitCast(half, x.first), hn::BitCast(half, x.second), row.cos + i + at, row.sin + i + at);
    };
    return {of_half(0), of_half(lanes)};
  }

  template <Rounding rounding, Pairing in, Pairing out, Caching caching>
  HWY_INLINE bool End(const Begun& y, Element* y0, Element* y1) const {
    const DE de;
    const auto first = Joined(y.later.first, y.earlier.first);
    const auto second = Joined(y.later.second, y.earlier.second);
    if (rounding == Rounding::certified && HWY_UNLIKELY(!Certain(y, first, second))) return false;
    if constexpr (side_by_side<in, out>) {
      const auto bits = Together(first, second);
      StorePairs<Pairing::half, caching>(
          de, PairOf<hn::Vec<DE>>{hn::BitCast(de, bits.first), hn::BitCast(de, bits.second)}, y0, y0 + hn::Lanes(de));
    } else {
      StorePairs<out, caching>(de, PairOf<hn::Vec<DE>>{hn::BitCast(de, first), hn::BitCast(de, second)}, y0, y1);
    }
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
