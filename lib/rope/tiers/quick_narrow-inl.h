// The quick tier of float16 and bfloat16 elements, for one Highway target. Included inside HWY_NAMESPACE by a file that
// is compiled once per target.
//
//   1. A vector of elements is widened to two of floats, each turned in float by entries in two parts.
//   2. float16 demotes them; bfloat16 adds half a place to their bits and keeps the upper halves.
//   3. A vector is kept where every float is some places away from a tie, the two y of each pair are not too far apart,
//      the errors being measured by their norm, and all are normal and finite.
//   4. A float16 vector that is left open is turned again in double, whose errors are far smaller; what is still open,
//      and bfloat16's, is narrow-inl.h's.
//
// docs/proofs/rope.md, steps 9, 10 and 12 to 14, has the certificate.

#if defined(SEXTANT_LIB_ROPE_TIERS_QUICK_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_TIERS_QUICK_NARROW_INL_H_
#undef SEXTANT_LIB_ROPE_TIERS_QUICK_NARROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_TIERS_QUICK_NARROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/rope/tiers/narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

enum class Arithmetic { in_float, in_double };

/// The limits of the certificate (docs/proofs/rope.md, steps 12 to 14): ratio, least and most in the bits of elements.
/// Values from `below` places below a tie on, `width` of them, are left open.
template <Dtype dtype, Arithmetic arithmetic>
struct QuickLimits;
template <>
struct QuickLimits<Dtype::float16, Arithmetic::in_float> {
  static constexpr std::uint16_t cut = 13, below = HWY_NATIVE_FMA ? 3 : 4, width = 2 * below, ratio = 11 << 10,
                                 least = 1 << 10, most = 0x7BFF;
};
template <>
struct QuickLimits<Dtype::float16, Arithmetic::in_double> {
  static constexpr std::uint16_t cut = 13, below = 0, width = 1, ratio = 20 << 10, least = 1 << 10, most = 0x7BFF;
};
template <>
struct QuickLimits<Dtype::bfloat16, Arithmetic::in_float> {
  static constexpr std::uint16_t cut = 16, below = HWY_NATIVE_FMA ? 3 : 4, width = 2 * below, ratio = 14 << 7,
                                 least = 27 << 7, most = 227 << 7;
};

/// 16-bit elements, two vectors of floats at a time.
template <class Type, Arithmetic arithmetic>
struct QuickNarrow {
  using Element = std::uint16_t;
  using DF = hn::CappedTag<float, 16>;
  using DU = hn::RebindToUnsigned<DF>;
  using DE = hn::Repartition<Element, DF>;
  using Floats = hn::Vec<DF>;
  using Elements = hn::Vec<DE>;
  using Pairs = PairOf<Floats>;
  static constexpr bool is_float16 = Type::dtype == Dtype::float16;

  template <class Bounds>
  explicit HWY_INLINE QuickNarrow(const NarrowRow<Bounds>&) {}

  // Half of the elements: for float16 those in the lower and upper half of the vector, for bfloat16 the even and the
  // odd ones.
  static HWY_INLINE Floats FirstHalf(Elements x) {
    if constexpr (is_float16) return WidenedToFloat(Type(), DF(), hn::LowerHalf(hn::Half<DE>(), x));
    return hn::BitCast(DF(), hn::ShiftLeft<16>(hn::BitCast(DU(), x)));
  }
  static HWY_INLINE Floats SecondHalf(Elements x) {
    if constexpr (is_float16) return WidenedToFloat(Type(), DF(), hn::UpperHalf(hn::Half<DE>(), x));
    return hn::BitCast(DF(), hn::And(hn::BitCast(DU(), x), hn::Set(DU(), 0xFFFF0000U)));
  }

  // The upper 16 bits of both, those of `even` in even elements.
  static HWY_INLINE Elements Uppers(Floats even, Floats odd) {
    const DU du;
    return hn::BitCast(DE(), hn::Or(hn::ShiftRight<16>(hn::BitCast(du, even)),
                                    hn::And(hn::BitCast(du, odd), hn::Set(du, 0xFFFF0000U))));
  }

  static HWY_INLINE hn::Vec<hn::Half<DE>> Demoted(Floats value) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    return hn::BitCast(hn::Half<DE>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, DF>(), value));
#else
    return hn::DemoteTo(hn::Half<DE>(), hn::BitCast(hn::RebindToSigned<DF>(), Float16Bits(DF(), value)));
#endif
  }

  // What is added to the bits of a bfloat16's float, so that the bits that are dropped then tell the distance from a
  // tie, and what is kept is rounded where that is certain. Without a certificate ties go away from zero: no bound
  // depends on them.
  template <Rounding rounding>
  static HWY_INLINE Floats Moved(Floats y) {
    using Limits = QuickLimits<Dtype::bfloat16, Arithmetic::in_float>;
    return hn::BitCast(DF(), hn::Add(hn::BitCast(DU(), y),
                                     hn::Set(DU(), 0x8000 + (rounding == Rounding::certified ? Limits::below : 0))));
  }

  // The distances of two vectors of floats from a tie: for float16 of both, for bfloat16 of the nearer, in the lower
  // halves of lanes; what is in the upper ones is less than `width` for nothing but elements near zero.
  static HWY_INLINE Elements FromTie(Floats y, Floats other) {
    const DE de;
    if constexpr (!is_float16) return hn::Min(hn::BitCast(de, y), hn::BitCast(de, other));
    using Limits = QuickLimits<Type::dtype, arithmetic>;
    const auto lower_words = hn::ConcatEven(de, hn::BitCast(de, other), hn::BitCast(de, y));
    const auto moved =
        hn::Add(lower_words, hn::Set(de, static_cast<Element>(Limits::below - (1 << (Limits::cut - 1)))));
    return hn::And(moved, hn::Set(de, (1 << Limits::cut) - 1));
  }

  // Not 0 where the smaller is not above `least` or the larger is above `most`. For bfloat16 in one: a smaller one up
  // to most - ratio will do.
  static HWY_INLINE Elements Outside(Elements smaller, Elements larger) {
    using Limits = QuickLimits<Type::dtype, arithmetic>;
    const DE de;
    if constexpr (is_float16) {
      return hn::Or(hn::SaturatedSub(hn::Set(de, Limits::least + 1), smaller),
                    hn::SaturatedSub(larger, hn::Set(de, Limits::most)));
    }
    return hn::SaturatedSub(hn::Sub(smaller, hn::Set(de, Limits::least + 1)),
                            hn::Set(de, Limits::most - Limits::ratio - Limits::least - 1));
  }

  static HWY_INLINE bool Certain(Elements from_tie, Elements y0, Elements y1) {
    using Limits = QuickLimits<Type::dtype, arithmetic>;
    const DE de;
    const auto magnitude = hn::Set(de, 0x7FFF);
    y0 = hn::And(y0, magnitude);
    y1 = hn::And(y1, magnitude);
    const auto smaller = hn::Min(y0, y1);
    const auto larger = hn::Max(y0, y1);
    // Not 0 where a limit is passed.
    const auto near_tie = hn::SaturatedSub(hn::Set(de, Limits::width), from_tie);
    const auto apart = hn::SaturatedSub(hn::Sub(larger, smaller), hn::Set(de, Limits::ratio));
    return hn::AllTrue(de, hn::Eq(hn::Or(hn::Or(near_tie, apart), Outside(smaller, larger)), hn::Zero(de)));
  }

  // Whether a pair of x fills 32 bits: both words of it are first halves of the one vector or second halves of the
  // other.
  template <Pairing in>
  static constexpr bool whole_pairs = in == Pairing::interleaved && !is_float16;

  template <Pairing in, Pairing out>
  static HWY_INLINE PairOf<Elements> Load(const Element* x0, const Element* x1) {
    const DE de;
    if constexpr (!whole_pairs<in>) return LoadPairs<in>(de, x0, x1);
    const auto earlier = hn::LoadU(de, x0);
    const auto later = hn::LoadU(de, x0 + hn::Lanes(de));
    if constexpr (out == Pairing::interleaved) return {earlier, later};
    const DU du;
    return {hn::BitCast(de, hn::ConcatEven(du, hn::BitCast(du, later), hn::BitCast(du, earlier))),
            hn::BitCast(de, hn::ConcatOdd(du, hn::BitCast(du, later), hn::BitCast(du, earlier)))};
  }

  template <Pairing in, Pairing out, Caching caching>
  static HWY_INLINE void Store(Elements y0, Elements y1, Element* first, Element* second) {
    const DE de;
    if constexpr (whole_pairs<in> && out == Pairing::interleaved) {
      const DF df;
      const DU du;
      const auto low = hn::Set(du, 0xFFFF);
      const auto lowers = hn::Or(hn::And(hn::BitCast(du, y0), low), hn::ShiftLeft<16>(hn::BitCast(du, y1)));
      PutVector<caching>(hn::BitCast(de, lowers), first);
      PutVector<caching>(Uppers(hn::BitCast(df, y0), hn::BitCast(df, y1)), first + hn::Lanes(de));
    } else {
      StorePairs<out, caching>(de, PairOf<Elements>{y0, y1}, first, second);
    }
  }

  template <class Bounds>
  static HWY_INLINE Pairs TurnedInDouble(const NarrowRow<Bounds>& row, std::size_t i, Floats x0, Floats x1) {
    const Doubles d;
    const hn::Rebind<float, Doubles> df;
    const std::size_t half = hn::Lanes(d);
    const auto earlier = Turned(hn::PromoteTo(d, hn::LowerHalf(df, x0)), hn::PromoteTo(d, hn::LowerHalf(df, x1)),
                                hn::Load(d, row.cos + i), hn::Load(d, row.sin + i));
    const auto later = Turned(hn::PromoteTo(d, hn::UpperHalf(df, x0)), hn::PromoteTo(d, hn::UpperHalf(df, x1)),
                              hn::Load(d, row.cos + i + half), hn::Load(d, row.sin + i + half));
    return {Joined(later.first, earlier.first), Joined(later.second, earlier.second)};
  }

  template <Rounding rounding, class Bounds>
  static HWY_INLINE Pairs TurnHalf(const NarrowRow<Bounds>& row, std::size_t i, Floats x0, Floats x1) {
    const DF df;
    if constexpr (arithmetic == Arithmetic::in_double) return TurnedInDouble(row, i, x0, x1);
    const auto c = hn::Load(df, row.cos_head + i);
    const auto s = hn::Load(df, row.sin_head + i);
    if constexpr (rounding == Rounding::fast) return Turned(x0, x1, c, s);
    const auto s_tail = hn::Load(df, row.sin_tail + i);
    const auto first = hn::NegMulAdd(x1, s_tail, hn::MulSub(x0, c, hn::Mul(x1, s)));
    const auto second = hn::MulAdd(x0, s_tail, hn::MulAdd(x1, c, hn::Mul(x0, s)));
    if constexpr (HWY_NATIVE_FMA) return {first, second};
    const auto c_tail = hn::Load(df, row.cos_tail + i);
    return {hn::MulAdd(x0, c_tail, first), hn::MulAdd(x1, c_tail, second)};
  }

  template <Rounding rounding, Pairing in, Pairing out, Caching caching>
  static HWY_INLINE bool Finish(const Pairs& a, const Pairs& b, Elements first, Elements second, Element* y0,
                                Element* y1) {
    if constexpr (rounding == Rounding::certified) {
      const auto from_tie = hn::Min(FromTie(a.first, b.first), FromTie(a.second, b.second));
      if (HWY_UNLIKELY(!Certain(from_tie, first, second))) return false;
    }
    Store<in, out, caching>(first, second, y0, y1);
    return true;
  }

  struct Begun {
    Pairs a;
    Pairs b;
  };

  template <Rounding rounding, Pairing in, Pairing out, class Bounds>
  HWY_INLINE Begun Begin(const NarrowRow<Bounds>& row, std::size_t i, const Element* x0, const Element* x1) const {
    if constexpr (is_float16 && in == Pairing::half) {
      const std::size_t lanes = hn::Lanes(DF());
      const auto widened = [](const Element* x)
                               HWY_ATTR { return WidenedToFloat(Type(), DF(), hn::LoadU(hn::Half<DE>(), x)); };
      return {TurnHalf<rounding>(row, i, widened(x0), widened(x1)),
              TurnHalf<rounding>(row, i + lanes, widened(x0 + lanes), widened(x1 + lanes))};
    }
    const auto x = Load<in, out>(x0, x1);
    return {TurnHalf<rounding>(row, i, FirstHalf(x.first), whole_pairs<in> ? SecondHalf(x.first) : FirstHalf(x.second)),
            TurnHalf<rounding>(row, i + hn::Lanes(DF()), whole_pairs<in> ? FirstHalf(x.second) : SecondHalf(x.first),
                               SecondHalf(x.second))};
  }

  template <Rounding rounding, Pairing in, Pairing out, Caching caching>
  HWY_INLINE bool End(const Begun& y, Element* y0, Element* y1) const {
    const auto& [a, b] = y;
    if constexpr (is_float16) {
      const auto first = hn::Combine(DE(), Demoted(b.first), Demoted(a.first));
      const auto second = hn::Combine(DE(), Demoted(b.second), Demoted(a.second));
      return Finish<rounding, in, out, caching>(a, b, first, second, y0, y1);
    } else {
      const Pairs c{Moved<rounding>(a.first), Moved<rounding>(a.second)};
      const Pairs d{Moved<rounding>(b.first), Moved<rounding>(b.second)};
      return Finish<rounding, in, out, caching>(c, d, Uppers(c.first, d.first), Uppers(c.second, d.second), y0, y1);
    }
  }
};

template <class Bounds>
struct QuickTier<TurnNarrow<BFloat16, Bounds>> {
  static constexpr bool exists = true;
  using First = QuickNarrow<BFloat16, Arithmetic::in_float>;
  using Second = void;
};

template <class Bounds>
struct QuickTier<TurnNarrow<Float16, Bounds>> {
  static constexpr bool exists = true;
  using First = QuickNarrow<Float16, Arithmetic::in_float>;
  using Second = QuickNarrow<Float16, Arithmetic::in_double>;
};

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
