// The quick tier of a rotary encoding, for one Highway target: a vector of pairs is turned and either known to be
// rounded correctly by a few integer operations, or left to turn_pairs-inl.h. Included inside HWY_NAMESPACE by a file
// that is compiled once per target.
//
// The certificate. Of the computed y, the last `cut` bits decide how it rounds to the type: of a double 29 for float32,
// of a float 13 and 16 for float16 and bfloat16. A tie has 2^(cut-1) there. Where y is `units` or more of its last
// places above that, or more below it, and the truth less than that many away, both round alike, for no tie lies
// between them. (Below a power of two the places are half as large, but the nearest tie is 2^(cut-2) of the larger ones
// away.)
//
// Let u be the unit roundoff of the arithmetic, m = |x0| + |x1|, 2^e <= |y_i| < 2^(e+1) for the smaller of the two y.
// Its last place is 2 u 2^e. The larger y has larger places. As a rotation keeps the Euclidean norm,
//
//     a |x0|, a |x1| <= a |x| = |Y| <= sqrt(2) max |Y_i|,  a m <= sqrt(2) |Y| <= 2 max |Y_i|
//
// and where the larger of the rounded |y_i| is below `ratio` times the smaller, max |Y_i| < (1 + 2^-20) ratio 2^(e+1).
//
//   float32, in double   (t + 1) u a m for the row and the products (turn_pairs-inl.h), and half a place for the sum. ratio = 6144:
//                        2 (t + 1) 6144 (1 + 2^-20) + 1 places, for t <= 9.54 below 2^17 and for t <= 1.01 below 2^15 = units: Row::units
//   16 bits, in float    The pair is turned by (k c, k s), with k such that k c is the float h nearest to c; |k - 1| <= u. k s = h' + l', where the product of h'
//                        and an element is exact: h' of 13 bits for float16, |l'| < 2^-12.9 a, and of 16 bits for bfloat16, |l'| < 2^-15.9 a; l' is
//                        rounded to float. y0 is
//                            x1 h', exact;  x0 h less that;  x1 l' less from that
//                        and y1 alike. With ratio 2^11 for float16 and 2^14 for bfloat16, |l' x1| < sqrt(2) 2^-12.9 2^12 2^e, which with the rounding of the
//                        y to their type is below 0.77 2^e, so that the first sum is below 2^(e+2). In places: that sum is within 1 of what it rounds, the other
//                        is y itself, 1/2; k moves y by u |y|, 1; l' is within u |l' x1|, 0.39; the row, of 2^-46 a, and k, of as much, within 0.02.
//                        In all 2.91 < 3.
//                        Where operations are not fused, c = h + l and s = h' + l' with h as short as h', and x0 l is added to y0 last: |l x0| + |l' x1| < 1.09 2^e
//                        (Cauchy). In places: the sums 1, 1 and 1/2; the products with l and l' are rounded, 0.55, and both entries were, 0.55; the row 0.01.
//                        In all 3.61 < 4.
//   float16, in double   y is first rounded to a float, f. ratio = 2^20: the error is below 2 (t + 1) 2^20 + 1 places of the double, t <= 66, less than the
//                        2^28 that are half a place of f. An f that is not a tie of float16 is a place away from each, so y is half a place away, and the
//                        truth on the same side as y and f: only the tie itself is left open.
//
// a may be each pair's own, as the powers of xPos are. The smaller |y| must be normal in the type, and there must be no
// overflow before it is rounded: `least` and `most` are the ends of what both may be. For bfloat16 they are narrower
// than the type: with a in [2^-60, 2^60] (Row::quick) and 2^e >= 2^-100, a m <= 2^(most + 2) is below overflow, and the
// entries and products that underflow cost 2^-149 (m + 4) at most, with m <= 2^(14 + 2) 2^e / a less than 2^-17 places.
//
// Of normal data 5e-4 of the pairs in float32 (9e-4 for t = 9.54), 3e-4 in bfloat16 and 2e-3 in float16 are left over,
// for float32 half of them because one y is small beside the other.

#if defined(SEXTANT_LIB_ROPE_QUICK_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_QUICK_PAIRS_INL_H_
#undef SEXTANT_LIB_ROPE_QUICK_PAIRS_INL_H_
#else
#define SEXTANT_LIB_ROPE_QUICK_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/rope/turn_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

enum class Arithmetic { in_float, in_double };

/// The limits of the certificate: as above, ratio, least and most for 16-bit types in the bits of elements. Values from
/// `below` places below a tie on, `width` of them, are left open.
template <Dtype dtype, Arithmetic arithmetic>
struct QuickLimits;
template <>
struct QuickLimits<Dtype::float32, Arithmetic::in_double> {
  static constexpr std::int32_t cut = 29;
  static constexpr float ratio = 6144, least = 0x1p-126F;
};
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

/// Whether the elements of a pair lie side by side in x and y, so that they need not be taken apart.
template <Pairing in, Pairing out>
inline constexpr bool side_by_side = in == Pairing::interleaved&& out == Pairing::interleaved;

/// A vector of elements whose pairs lie side by side, turned by entries as PairOrder::twice has them.
template <class D>
HWY_INLINE hn::Vec<D> TurnedTogether(D d, hn::Vec<D> x, const hn::TFromD<D>* c, const hn::TFromD<D>* s) {
  return hn::MulAdd(hn::Reverse2(d, x), hn::Load(d, s), hn::Mul(x, hn::Load(d, c)));
}

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
  using Limits = QuickLimits<Dtype::float32, Arithmetic::in_double>;
  struct Begun {
    Wide earlier;
    Wide later;
  };

  explicit HWY_INLINE QuickFloat32(const Row& row)
      : to_window(hn::Set(Signed(), row.units - (1 << (Limits::cut - 1)))),
        upper_bits(hn::Set(Signed(), (1 << Limits::cut) - 2 * row.units)) {}

  // Two vectors of y: first and second channels, or where pairs stay side by side the elements in their order.
  template <Pairing in, Pairing out>
  static HWY_INLINE Wide TurnHalf(const Row& row, std::size_t i, const Element* x0, const Element* x1) {
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

  // False where the smaller magnitude is below `least`, and where one is infinite or NaN: then both are, or the larger
  // is.
  static HWY_INLINE hn::Mask<DF> Comparable(hn::Vec<DF> smaller, hn::Vec<DF> larger) {
    const DF df;
    return hn::Gt(hn::MulAdd(smaller, hn::Set(df, Limits::ratio), hn::Set(df, -Limits::ratio * Limits::least)), larger);
  }

  template <Pairing in, Pairing out>
  HWY_INLINE bool Certain(const Begun& y, hn::Vec<DF> first, hn::Vec<DF> second) const {
    const DF df;
    first = hn::Abs(first);
    second = hn::Abs(second);
    const auto comparable = side_by_side<in, out> ? hn::And(Comparable(first, hn::Reverse2(df, first)),
                                                            Comparable(second, hn::Reverse2(df, second)))
                                                  : Comparable(hn::Min(first, second), hn::Max(first, second));
    const auto clear = hn::And(Clear(y.later.first, y.earlier.first), Clear(y.later.second, y.earlier.second));
    return hn::AllTrue(df, hn::And(comparable, hn::RebindMask(df, clear)));
  }

  template <Rounding rounding, Pairing in, Pairing out>
  HWY_INLINE Begun Begin(const Row& row, std::size_t i, const Element* x0, const Element* x1) const {
    const std::size_t half = hn::Lanes(Doubles());
    return {TurnHalf<in, out>(row, i, x0, x1),
            TurnHalf<in, out>(row, i + half, x0 + (in == Pairing::half ? half : 2 * half), x1 + half)};
  }

  template <Rounding rounding, Pairing in, Pairing out>
  HWY_INLINE bool End(const Begun& y, Element* y0, Element* y1) const {
    const DE de;
    constexpr bool together = side_by_side<in, out>;
    const auto first = together ? Joined(y.earlier.second, y.earlier.first) : Joined(y.later.first, y.earlier.first);
    const auto second = together ? Joined(y.later.second, y.later.first) : Joined(y.later.second, y.earlier.second);
    if (rounding == Rounding::certified && HWY_UNLIKELY((!Certain<in, out>(y, first, second)))) return false;
    StorePairs<together ? Pairing::half : out>(de, PairOf<hn::Vec<DE>>{hn::BitCast(de, first), hn::BitCast(de, second)},
                                               y0, together ? y0 + hn::Lanes(de) : y1);
    return true;
  }

 private:
  hn::Vec<Signed> to_window;
  hn::Vec<Signed> upper_bits;
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

  explicit HWY_INLINE QuickNarrow(const Row&) {}

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

  template <Pairing in, Pairing out>
  static HWY_INLINE void Store(Elements y0, Elements y1, Element* first, Element* second) {
    const DE de;
    if constexpr (whole_pairs<in> && out == Pairing::interleaved) {
      const DF df;
      const DU du;
      const auto low = hn::Set(du, 0xFFFF);
      hn::StoreU(hn::BitCast(de, hn::Or(hn::And(hn::BitCast(du, y0), low), hn::ShiftLeft<16>(hn::BitCast(du, y1)))), de,
                 first);
      hn::StoreU(Uppers(hn::BitCast(df, y0), hn::BitCast(df, y1)), de, first + hn::Lanes(de));
    } else {
      StorePairs<out>(de, PairOf<Elements>{y0, y1}, first, second);
    }
  }

  static HWY_INLINE Pairs TurnedInDouble(const Row& row, std::size_t i, Floats x0, Floats x1) {
    const Doubles d;
    const hn::Rebind<float, Doubles> df;
    const std::size_t half = hn::Lanes(d);
    const auto earlier = Turned(hn::PromoteTo(d, hn::LowerHalf(df, x0)), hn::PromoteTo(d, hn::LowerHalf(df, x1)),
                                hn::Load(d, row.cos + i), hn::Load(d, row.sin + i));
    const auto later = Turned(hn::PromoteTo(d, hn::UpperHalf(df, x0)), hn::PromoteTo(d, hn::UpperHalf(df, x1)),
                              hn::Load(d, row.cos + i + half), hn::Load(d, row.sin + i + half));
    return {Joined(later.first, earlier.first), Joined(later.second, earlier.second)};
  }

  template <Rounding rounding>
  static HWY_INLINE Pairs TurnHalf(const Row& row, std::size_t i, Floats x0, Floats x1) {
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

  template <Rounding rounding, Pairing in, Pairing out>
  static HWY_INLINE bool Finish(const Pairs& a, const Pairs& b, Elements first, Elements second, Element* y0,
                                Element* y1) {
    if constexpr (rounding == Rounding::certified) {
      const auto from_tie = hn::Min(FromTie(a.first, b.first), FromTie(a.second, b.second));
      if (HWY_UNLIKELY(!Certain(from_tie, first, second))) return false;
    }
    Store<in, out>(first, second, y0, y1);
    return true;
  }

  struct Begun {
    Pairs a;
    Pairs b;
  };

  template <Rounding rounding, Pairing in, Pairing out>
  HWY_INLINE Begun Begin(const Row& row, std::size_t i, const Element* x0, const Element* x1) const {
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

  template <Rounding rounding, Pairing in, Pairing out>
  HWY_INLINE bool End(const Begun& y, Element* y0, Element* y1) const {
    const auto& [a, b] = y;
    if constexpr (is_float16) {
      const auto first = hn::Combine(DE(), Demoted(b.first), Demoted(a.first));
      const auto second = hn::Combine(DE(), Demoted(b.second), Demoted(a.second));
      return Finish<rounding, in, out>(a, b, first, second, y0, y1);
    } else {
      const Pairs c{Moved<rounding>(a.first), Moved<rounding>(a.second)};
      const Pairs d{Moved<rounding>(b.first), Moved<rounding>(b.second)};
      return Finish<rounding, in, out>(c, d, Uppers(c.first, d.first), Uppers(c.second, d.second), y0, y1);
    }
  }
};

#endif

/// The quick tier of a kernel, if there is one, and what is worth a try before the kernel itself where that has left a
/// vector open, or void.
template <class Kernel>
struct QuickTier {
  static constexpr bool exists = false;
};

#if HWY_TARGET != HWY_SCALAR
template <class Bounds>
struct QuickTier<TurnFloat32<Bounds>> {
  static constexpr bool exists = true;
  using First = QuickFloat32;
  using Second = void;
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
