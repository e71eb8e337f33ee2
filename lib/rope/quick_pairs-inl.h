// The quick tier of a rotary encoding, for one Highway target: a vector of pairs is turned and either known to be rounded correctly by a few
// integer operations, or left to turn_pairs-inl.h. Included inside HWY_NAMESPACE by a file that is compiled once per target.
//
// The certificate. Of the computed y, the last `cut` bits decide how it rounds to the type: of a double 29 for float32, of a float 13 and 16
// for float16 and bfloat16. A tie has 2^(cut-1) there. Where y is more than `units` of its last places away from that, and the truth within
// that many, both round alike, for no tie lies between them. (Below a power of two the places are half as large, but the nearest tie is 2^(cut-2) of
// the larger ones away.)
//
// Let u be the unit roundoff of the arithmetic, m = |x0| + |x1|, 2^e <= |y_i| < 2^(e+1) for the smaller of the two y. Its last place is
// 2 u 2^e. Errors of y_i come in units of u |y_i| < 2 u 2^e, one place, and of u a m. As a rotation keeps the Euclidean norm,
//
//     a m <= sqrt(2) a |x| = sqrt(2) |Y| <= 2 max |Y_i|
//
// and where the bits of |y_0| and |y_1| as floats are within ratio 2^23 of each other, the larger is below 2^ratio 2^(e+1) (and rounding to
// float may add 2^-24 of it), so that u a m < (1 + 2^-20) 2^(ratio+1) places of either. The larger y has larger places. Then
//
//   float32, in double   (t + 3) u a m, t <= 9.54 (turn_pairs-inl.h; the quarter that its bound adds is not needed, as none is computed). ratio = 12:
//                        12.54 2^13 (1 + 2^-20) < 103000 = units
//   16 bits, in float    c = h + l, where the product of h and an element is exact: h of 13 bits for float16, |l| < 2^-12.9 a, and of 16 bits for bfloat16,
//                        |l| < 2^-15.9 a, l rounded to float; s alike. d = x0 h_c - x1 h_s and y = d + (x0 l_c - x1 l_s), the sum in brackets of two
//                        roundings. |d| <= |y| + |l| m. So y is within
//                            u |d| + u |y|            <=  2 u |y| + u |l| m     the two sums
//                            2 u |l| m                                          the bracket
//                            u |l| m                                            l itself
//                        2 places and, with |l| / a < 2^-12.9 and ratio = 10, 4 2^(11-12.9) < 1.08 more for float16, with 2^-15.9 and ratio = 13 as
//                        many for bfloat16: 3.08 places < 4, so that 3 or fewer between y and a tie are not enough: units = 3
//   float16, in double   y is first rounded to a float, f. ratio = 20: the error is below 12.54 2^21 places of the double, less than the 2^28 that are half a
//                        place of f. An f that is not a tie of float16 is a place away from each, so y is half a place away, and the truth on the same side as
//                        y and f: only the tie itself is not enough: units = 0
//
// a may be each pair's own, as the powers of xPos are. The smaller |y| must be normal in the type, and there must be no overflow before it is rounded:
// least and most are the ends of what both may be. For bfloat16 they are narrower than the type: with a in [2^-60, 2^60] (Row::quick) and 2^e >= 2^-100,
// a m <= 2^(most + ratio + 2) is below overflow, and the entries and products that underflow cost 2^-149 (m + 4) at most, with m <= 2^(ratio + 2) 2^e / a less
// than 2^-20 places.
//
// Of normal data 1e-3 of the pairs in float32, 4e-4 in bfloat16 and 3e-3 in float16 are left over, for float32 a third of them because one y is small beside
// the other.

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

/// The limits of the certificate: as above, the ratio, least and most in the bits of elements of the type.
template <Dtype dtype, Arithmetic arithmetic>
struct QuickLimits;
template <>
struct QuickLimits<Dtype::float32, Arithmetic::in_double> {
  static constexpr std::int32_t cut = 29, units = 103000, ratio = 12 << 23, least = 1 << 23, most = (254 << 23) - 1;
};
template <>
struct QuickLimits<Dtype::float16, Arithmetic::in_float> {
  static constexpr std::uint16_t cut = 13, units = 3, ratio = 10 << 10, least = 1 << 10, most = 0x7BFF;
};
template <>
struct QuickLimits<Dtype::float16, Arithmetic::in_double> {
  static constexpr std::uint16_t cut = 13, units = 0, ratio = 20 << 10, least = 1 << 10, most = 0x7BFF;
};
template <>
struct QuickLimits<Dtype::bfloat16, Arithmetic::in_float> {
  static constexpr std::uint16_t cut = 16, units = 3, ratio = 13 << 7, least = 27 << 7, most = 227 << 7;
};

/// The floats nearest to two vectors of doubles.
HWY_INLINE hn::Vec<hn::Repartition<float, Doubles>> Joined(DoubleVector later, DoubleVector earlier) {
  const hn::Rebind<float, Doubles> df;
  return hn::Combine(hn::Repartition<float, Doubles>(), hn::DemoteTo(df, later), hn::DemoteTo(df, earlier));
}

/// float32 elements, two vectors of doubles at a time.
struct QuickFloat32 {
  using Element = std::uint32_t;
  using DF = hn::Repartition<float, Doubles>;
  using DE = hn::RebindToUnsigned<DF>;
  using Wide = PairOf<DoubleVector>;

  template <Pairing in>
  static HWY_INLINE Wide TurnHalf(const Row& row, std::size_t i, const Element* x0, const Element* x1) {
    const Doubles d;
    const hn::Rebind<float, Doubles> df;
    const hn::Rebind<Element, Doubles> de;
    const auto x = LoadPairs<in>(de, x0, x1);
    return Turned(hn::PromoteTo(d, hn::BitCast(df, x.first)), hn::PromoteTo(d, hn::BitCast(df, x.second)), hn::Load(d, row.cos + i),
                  hn::Load(d, row.sin + i));
  }

  // The last bits of two vectors of doubles, moved so that those next to a tie are the least.
  static HWY_INLINE hn::Vec<hn::RebindToSigned<DF>> FromTie(DoubleVector later, DoubleVector earlier) {
    using Limits = QuickLimits<Dtype::float32, Arithmetic::in_double>;
    const hn::RebindToSigned<DF> di;
    const auto ends = hn::ConcatEven(di, hn::BitCast(di, later), hn::BitCast(di, earlier));
    return hn::And(hn::Add(ends, hn::Set(di, Limits::units - (1 << (Limits::cut - 1)))), hn::Set(di, (1 << Limits::cut) - 1));
  }

  static HWY_INLINE bool Certain(const Wide& later, const Wide& earlier, hn::Vec<DF> y0, hn::Vec<DF> y1) {
    using Limits = QuickLimits<Dtype::float32, Arithmetic::in_double>;
    const hn::RebindToSigned<DF> di;
    const auto from_tie = hn::Min(FromTie(later.first, earlier.first), FromTie(later.second, earlier.second));
    const auto first = hn::BitCast(di, hn::Abs(y0));
    const auto second = hn::BitCast(di, hn::Abs(y1));
    const auto least = hn::Min(first, second);
    const auto most = hn::Max(first, second);
    // Negative where a limit is passed.
    const auto passed = hn::Or(hn::Or(hn::Sub(from_tie, hn::Set(di, 2 * Limits::units + 1)), hn::Sub(hn::Set(di, Limits::ratio), hn::Sub(most, least))),
                               hn::Or(hn::Sub(least, hn::Set(di, Limits::least + 1)), hn::Sub(hn::Set(di, Limits::most), most)));
    return hn::AllFalse(di, hn::Lt(passed, hn::Zero(di)));
  }

  template <Rounding rounding, Pairing in, Pairing out>
  static HWY_INLINE bool Turn(const Row& row, std::size_t i, const Element* x0, const Element* x1, Element* y0, Element* y1) {
    const DE de;
    const std::size_t half = hn::Lanes(Doubles());
    const Wide earlier = TurnHalf<in>(row, i, x0, x1);
    const Wide later = TurnHalf<in>(row, i + half, x0 + (in == Pairing::half ? half : 2 * half), x1 + half);
    const auto first = Joined(later.first, earlier.first);
    const auto second = Joined(later.second, earlier.second);
    if (rounding == Rounding::certified && HWY_UNLIKELY(!Certain(later, earlier, first, second))) return false;
    StorePairs<out>(de, PairOf<hn::Vec<DE>>{hn::BitCast(de, first), hn::BitCast(de, second)}, y0, y1);
    return true;
  }
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

  // Half of the elements: for float16 those in the lower and upper half of the vector, for bfloat16 the even and the odd ones.
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
    return hn::BitCast(DE(), hn::Or(hn::ShiftRight<16>(hn::BitCast(du, even)), hn::And(hn::BitCast(du, odd), hn::Set(du, 0xFFFF0000U))));
  }

  static HWY_INLINE hn::Vec<hn::Half<DE>> Demoted(Floats value) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    return hn::BitCast(hn::Half<DE>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, DF>(), value));
#else
    return hn::DemoteTo(hn::Half<DE>(), hn::BitCast(hn::RebindToSigned<DF>(), Float16Bits(DF(), value)));
#endif
  }

  // Ties go away from zero in bfloat16: the certified tier has none, and no bound depends on them.
  static HWY_INLINE Elements Rounded(Floats first_half, Floats second_half) {
    if constexpr (is_float16) return hn::Combine(DE(), Demoted(second_half), Demoted(first_half));
    const DF df;
    const DU du;
    const auto half = hn::Set(du, 0x8000);
    return Uppers(hn::BitCast(df, hn::Add(hn::BitCast(du, first_half), half)), hn::BitCast(df, hn::Add(hn::BitCast(du, second_half), half)));
  }

  // The last bits of two vectors, moved so that those next to a tie are the least.
  static HWY_INLINE Elements FromTie(Floats a, Floats b) {
    using Limits = QuickLimits<Type::dtype, arithmetic>;
    const DE de;
    const DU du;
    const auto ends = hn::Or(hn::And(hn::BitCast(du, a), hn::Set(du, 0xFFFF)), hn::ShiftLeft<16>(hn::BitCast(du, b)));
    const auto moved = hn::Add(hn::BitCast(de, ends), hn::Set(de, static_cast<Element>(Limits::units - (1 << (Limits::cut - 1)))));
    if constexpr (is_float16) return hn::And(moved, hn::Set(de, (1 << Limits::cut) - 1));
    return moved;
  }

  static HWY_INLINE bool Certain(Elements from_tie, Elements y0, Elements y1) {
    using Limits = QuickLimits<Type::dtype, arithmetic>;
    const DE de;
    const auto magnitude = hn::Set(de, 0x7FFF);
    y0 = hn::And(y0, magnitude);
    y1 = hn::And(y1, magnitude);
    const auto least = hn::Min(y0, y1);
    const auto most = hn::Max(y0, y1);
    // Not 0 where a limit is passed.
    const auto passed =
        hn::Or(hn::Or(hn::SaturatedSub(hn::Set(de, 2 * Limits::units + 1), from_tie), hn::SaturatedSub(hn::Sub(most, least), hn::Set(de, Limits::ratio))),
               hn::Or(hn::SaturatedSub(hn::Set(de, Limits::least + 1), least), hn::SaturatedSub(most, hn::Set(de, Limits::most))));
    return hn::AllTrue(de, hn::Eq(passed, hn::Zero(de)));
  }

  // Whether a pair of x fills 32 bits: both words of it are first halves of the one vector or second halves of the other.
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
      hn::StoreU(hn::BitCast(de, hn::Or(hn::And(hn::BitCast(du, y0), low), hn::ShiftLeft<16>(hn::BitCast(du, y1)))), de, first);
      hn::StoreU(Uppers(hn::BitCast(df, y0), hn::BitCast(df, y1)), de, first + hn::Lanes(de));
    } else {
      StorePairs<out>(de, PairOf<Elements>{y0, y1}, first, second);
    }
  }

  static HWY_INLINE Pairs TurnedInDouble(const Row& row, std::size_t i, Floats x0, Floats x1) {
    const Doubles d;
    const hn::Rebind<float, Doubles> df;
    const std::size_t half = hn::Lanes(d);
    const auto earlier = Turned(hn::PromoteTo(d, hn::LowerHalf(df, x0)), hn::PromoteTo(d, hn::LowerHalf(df, x1)), hn::Load(d, row.cos + i), hn::Load(d, row.sin + i));
    const auto later = Turned(hn::PromoteTo(d, hn::UpperHalf(df, x0)), hn::PromoteTo(d, hn::UpperHalf(df, x1)), hn::Load(d, row.cos + i + half),
                              hn::Load(d, row.sin + i + half));
    return {Joined(later.first, earlier.first), Joined(later.second, earlier.second)};
  }

  template <Rounding rounding>
  static HWY_INLINE Pairs TurnHalf(const Row& row, std::size_t i, Floats x0, Floats x1) {
    const DF df;
    if constexpr (rounding == Rounding::fast) return Turned(x0, x1, hn::Load(df, row.cos_float + i), hn::Load(df, row.sin_float + i));
    if constexpr (arithmetic == Arithmetic::in_double) return TurnedInDouble(row, i, x0, x1);
    const Pairs head = Turned(x0, x1, hn::Load(df, row.cos_head + i), hn::Load(df, row.sin_head + i));
    const Pairs tail = Turned(x0, x1, hn::Load(df, row.cos_tail + i), hn::Load(df, row.sin_tail + i));
    return {hn::Add(head.first, tail.first), hn::Add(head.second, tail.second)};
  }

  template <Rounding rounding, Pairing in, Pairing out>
  static HWY_INLINE bool Turn(const Row& row, std::size_t i, const Element* x0, const Element* x1, Element* y0, Element* y1) {
    const auto x = Load<in, out>(x0, x1);
    const Pairs a = TurnHalf<rounding>(row, i, FirstHalf(x.first), whole_pairs<in> ? SecondHalf(x.first) : FirstHalf(x.second));
    const Pairs b = TurnHalf<rounding>(row, i + hn::Lanes(DF()), whole_pairs<in> ? FirstHalf(x.second) : SecondHalf(x.first), SecondHalf(x.second));
    const auto first = Rounded(a.first, b.first);
    const auto second = Rounded(a.second, b.second);
    if constexpr (rounding == Rounding::certified) {
      const auto from_tie = hn::Min(FromTie(a.first, b.first), FromTie(a.second, b.second));
      if (HWY_UNLIKELY(!Certain(from_tie, first, second))) return false;
    }
    Store<in, out>(first, second, y0, y1);
    return true;
  }
};

#endif

/// The quick tier of a kernel, if there is one, and what is worth a try before the kernel itself where that has left a vector open, or void.
template <class Kernel>
struct QuickTier {
  static constexpr bool exists = false;
};

#if HWY_TARGET != HWY_SCALAR
template <class Bounds>
struct QuickTier<TurnFloat32<Bounds>> : QuickFloat32 {
  static constexpr bool exists = true;
  using Second = void;
};

template <class Bounds>
struct QuickTier<TurnNarrow<BFloat16, Bounds>> : QuickNarrow<BFloat16, Arithmetic::in_float> {
  static constexpr bool exists = true;
  using Second = void;
};

template <class Bounds>
struct QuickTier<TurnNarrow<Float16, Bounds>> : QuickNarrow<Float16, Arithmetic::in_float> {
  static constexpr bool exists = true;
  using Second = QuickNarrow<Float16, Arithmetic::in_double>;
};
#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
