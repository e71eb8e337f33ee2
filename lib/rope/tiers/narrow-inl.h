// float16 and bfloat16 results, of elements alike or of float32, for one Highway target. Included inside HWY_NAMESPACE
// by a file that is compiled once per target.
//
//   1. Elements are widened to float, unless they are, and turned in double.
//   2. Both ends of the bound about each y are rounded to float, to odd, so that the rounding to 16 bits that follows
//      is that of the ends themselves.
//   3. Where both ends come to the same bits the truth does too. Other lanes, and elements that are not finite or
//      beyond the bounds' range, go to settle-inl.h.
//   4. Channels of float32 that no frequency turns are rounded.
//
// docs/proofs/rope.md, steps 1, 2 and 24, has the certificate.

#if defined(SEXTANT_LIB_ROPE_TIERS_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_TIERS_NARROW_INL_H_
#undef SEXTANT_LIB_ROPE_TIERS_NARROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_TIERS_NARROW_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "lib/kernels/certify-inl.h"
#include "lib/numeric/canonical_nan.hpp"
#include "lib/rope/kernels/pair_bounds-inl.h"
#include "lib/rope/kernels/settle-inl.h"
#include "lib/rope/kernels/units-inl.h"
#include "lib/rope/tiers/narrow_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// 16-bit results of elements of FromType, in double, under either rounding.
template <class Type, class FromType, class Bounds>
struct TurnToNarrow {
  static constexpr Dtype dtype = Type::dtype;
  using Element = std::uint16_t;
  using From = typename FromType::Element;
  using DF = hn::CappedTag<float, 16>;
  using DE = hn::Rebind<Element, DF>;
  using DX = hn::Rebind<From, DF>;
  using Bits = hn::Rebind<std::uint32_t, DF>;
  using Pair = PairOf<hn::Vec<DE>>;
  static constexpr bool is_cast = !std::is_same_v<Type, FromType>;
  using Row = NarrowRow<Bounds>;
  static constexpr bool is_float16 = Type::dtype == Dtype::float16;
  static constexpr Element infinity = is_float16 ? 0x7C00 : 0x7F80;
  static constexpr Element quiet_nan = is_float16 ? 0x7E00 : 0x7FC0;

  template <Pairing in, Pairing out>
  static void Fill(const RowSource& source, std::int64_t token, std::size_t first_pair, std::size_t count, Row& row) {
    constexpr bool together = in == Pairing::interleaved && out == Pairing::interleaved;
    constexpr PairOrder certified = is_float16 || together || is_cast ? PairOrder::natural : PairOrder::even_then_odd;
    constexpr PairOrder fast = is_float16 && together ? PairOrder::twice : certified;
    if constexpr (!Bounds::of_pairs && !is_cast) {
      if (FillInFloat<fast>(source, token, row)) return;
    }
    const PairOrder order = source.rounding == Rounding::fast ? fast : certified;
    FillAnchoredRow(source, token, first_pair, count, row);
    // A vector of 16-bit elements may read more of a row than vectors of doubles have written: more copies of the last
    // entry.
    const std::size_t full = WholeGroups(count);
    const auto fill = [&](auto* values) { std::fill_n(values + full, 8, values[full - 1]); };
    fill(row.cos);
    fill(row.sin);
    // Products of floats are exact in two parts, whatever the first one is.
    FillFloats<dtype>(source, count, order, is_cast ? HeadLength::whole : HeadLength::exact_product, row);
  }

  static HWY_INLINE hn::Vec<DF> Widened(hn::Vec<DX> x) {
    if constexpr (is_cast) {
      return hn::BitCast(DF(), x);
    } else {
      return WidenedToFloat(Type(), DF(), x);
    }
  }

  static HWY_INLINE hn::Vec<Bits> RoundedBits(hn::Vec<DF> value) {
    if constexpr (is_float16) return Float16Bits(DF(), value);
    return BFloat16Bits(DF(), value);
  }

  static HWY_INLINE hn::Vec<DE> Narrowed(hn::Vec<Bits> bits) {
    const hn::Rebind<std::int32_t, DF> di;
    return hn::DemoteTo(DE(), hn::BitCast(di, bits));
  }

  /// The ends of the certificate in double, rounded to odd in between, so that 16 bits are rounded to once.
  using HalfOfDF = hn::Rebind<float, Doubles>;
  struct OddEnds {
    PairOf<hn::Vec<HalfOfDF>> lower;
    PairOf<hn::Vec<HalfOfDF>> upper;
  };

  static HWY_INLINE OddEnds OddEndsOf(const Row& row, std::size_t i, hn::Vec<HalfOfDF> narrow_x0,
                                      hn::Vec<HalfOfDF> narrow_x1) {
    const Doubles d;
    const auto x0 = hn::PromoteTo(d, narrow_x0);
    const auto x1 = hn::PromoteTo(d, narrow_x1);
    const auto y = Turned(x0, x1, hn::LoadU(d, row.cos + i), hn::LoadU(d, row.sin + i));
    const auto bound = Bound(x0, x1, BoundAt<dtype>(row, i));
    return {{OddFloat(d, hn::Sub(y.first, bound)), OddFloat(d, hn::Sub(y.second, bound))},
            {OddFloat(d, hn::Add(y.first, bound)), OddFloat(d, hn::Add(y.second, bound))}};
  }

  // A float vector fills two of doubles, or one where there is but one lane.
  static HWY_INLINE hn::Vec<DF> Joined([[maybe_unused]] hn::Vec<HalfOfDF> later, hn::Vec<HalfOfDF> earlier) {
#if HWY_TARGET == HWY_SCALAR
    return earlier;
#else
    return hn::Combine(DF(), later, earlier);
#endif
  }

  /// The largest elements of which anything may be decided: below 0 where the bound is infinite.
  static HWY_INLINE hn::Vec<DF> Largest(const Row& row, std::size_t i) {
    const Doubles d;
    const auto of_half = [&](std::size_t at) HWY_ATTR {
      const auto known = hn::Lt(BoundAt<dtype>(row, at), hn::Set(d, HUGE_VAL));
      const DoubleVector most = hn::Set(d, static_cast<double>(std::numeric_limits<float>::max()));
      return hn::DemoteTo(HalfOfDF(), hn::IfThenElse(known, most, hn::Set(d, -1.0)));
    };
    const auto earlier = of_half(i);
    return Joined(HWY_TARGET == HWY_SCALAR ? earlier : of_half(i + hn::Lanes(d)), earlier);
  }

  template <Rounding>
  static HWY_NOINLINE Pair Turn(const Row& row, std::size_t i, const PairOf<hn::Vec<DX>>& x) {
    const Bits du;
    const auto x0 = Widened(x.first);
    const auto x1 = Widened(x.second);
#if HWY_TARGET == HWY_SCALAR
    const OddEnds earlier = OddEndsOf(row, i, x0, x1);
    const OddEnds& later = earlier;
#else
    const OddEnds earlier = OddEndsOf(row, i, hn::LowerHalf(x0), hn::LowerHalf(x1));
    const OddEnds later =
        OddEndsOf(row, i + hn::Lanes(Doubles()), hn::UpperHalf(HalfOfDF(), x0), hn::UpperHalf(HalfOfDF(), x1));
#endif
    const auto first = RoundedBits(Joined(later.upper.first, earlier.upper.first));
    const auto second = RoundedBits(Joined(later.upper.second, earlier.upper.second));
    const auto first_below = RoundedBits(Joined(later.lower.first, earlier.lower.first));
    const auto second_below = RoundedBits(Joined(later.lower.second, earlier.lower.second));
    // NaN and infinity are told by x, since they pass the comparison of bits; each by itself, since some targets'
    // greater of a NaN and a number is the number. Zeros with an infinite bound pass it, too.
    const auto largest = Largest(row, i);
    const auto finite = hn::And(hn::Le(hn::Abs(x0), largest), hn::Le(hn::Abs(x1), largest));
    const auto open =
        hn::Or(hn::Or(hn::Ne(first, first_below), hn::Ne(second, second_below)), hn::RebindMask(du, hn::Not(finite)));
    const Pair y{Narrowed(first), Narrowed(second)};
    if (HWY_LIKELY(hn::AllFalse(du, open))) return y;
    if constexpr (is_cast) {
      const auto settled = SettleMasked<FromType::dtype, dtype>(
          du, row, i, open, x, PairOf<hn::Vec<Bits>>{first, second}, 0x7F800000U, quiet_nan);
      return {Narrowed(settled.first), Narrowed(settled.second)};
    } else {
      const DE de;
      const auto narrow_open = hn::Ne(Narrowed(hn::IfThenElseZero(open, hn::Set(du, 1))), hn::Zero(de));
      return SettleMasked<dtype, dtype>(de, row, i, narrow_open, x, y, infinity, quiet_nan);
    }
  }

  /// Channels that do not turn, each rounded, a NaN to the canonical one.
  static void RoundChannels(const Move& move, const From* x, Element* y) {
    const DF df;
    const DE de;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(df));
    std::int64_t k = 0;
    if (move.from_step == 1 && move.to_step == 1) {
      for (; k + lanes <= move.count; k += lanes) {
        const auto value = Widened(hn::LoadU(DX(), x + move.from + k));
        const auto nan = hn::RebindMask(Bits(), hn::IsNaN(value));
        hn::StoreU(Narrowed(hn::IfThenElse(nan, hn::Set(Bits(), quiet_nan), RoundedBits(value))), de, y + move.to + k);
      }
    }
    for (; k < move.count; ++k) {
      const auto* const from = reinterpret_cast<const std::byte*>(x + move.from + k * move.from_step);
      store(dtype, canonical(load(FromType::dtype, from)),
            reinterpret_cast<std::byte*>(y + move.to + k * move.to_step));
    }
  }
};

/// 16-bit elements.
template <class Type, class Bounds>
struct TurnNarrow : TurnToNarrow<Type, Type, Bounds> {};

/// float32 elements into those of 16 bits.
template <class Type>
struct TurnFloat32To : TurnToNarrow<Type, Float32, SharedBounds> {};

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
