// The quick tier of float16 and bfloat16 results, for one Highway target. Included inside HWY_NAMESPACE by a file that
// is compiled once per target.
//
//   1. Elements are widened to float and turned there, by a cosine of one float and a sine of two, whose first part has
//      so few bits that its product with an element is exact.
//   2. The bits of each float that the type drops tell how far it is from a tie. All pairs of a vector pass where none
//      is near to one, and where neither y is too small, too large or too small beside the other.
//   3. Where a vector of float16 does not pass, the pairs around those that did not are turned in double, from whose
//      bits the same is told. bfloat16, a vector of which fails five times more rarely, leaves it to the kernel.
//   4. float32 elements are turned alike, but that a product's error is taken away by itself; in double where
//      operations are not fused.
//   5. What is left over is rounded with both ends of the bound (narrow-inl.h).
//
// docs/proofs/rope.md, steps 9, 10, 12 to 14 and 24, has the certificate.

#if defined(SEXTANT_LIB_ROPE_TIERS_QUICK_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_TIERS_QUICK_NARROW_INL_H_
#undef SEXTANT_LIB_ROPE_TIERS_QUICK_NARROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_TIERS_QUICK_NARROW_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "lib/rope/tiers/narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// The limits of the certificate in float (docs/proofs/rope.md, steps 12 and 14): ratio, least and most in the bits of
/// elements. Values from `below` places below a tie on, `width` of them, are left open.
template <Dtype dtype>
struct QuickLimits;
template <>
struct QuickLimits<Dtype::float16> {
  static constexpr std::uint16_t cut = 13, below = HWY_NATIVE_FMA ? 3 : 4, width = 2 * below, ratio = 11 << 10,
                                 least = 1 << 10, most = 0x7BFF;
};
template <>
struct QuickLimits<Dtype::bfloat16> {
  static constexpr std::uint16_t cut = 16, below = HWY_NATIVE_FMA ? 3 : 4, width = 2 * below, ratio = 14 << 7,
                                 least = 27 << 7, most = 227 << 7;
};

/// The limits of the certificate of float16 in double (step 13).
struct DoubleLimits {
  static constexpr int cut = 42;
  static constexpr std::uint64_t units = 1 << 24;
  static constexpr double ratio = 0x1p16, least = 0x1p-14, most = 65504;
};

/// 16-bit results, two vectors of floats at a time, of elements of FromType.
template <class Type, class FromType>
struct QuickNarrow {
  using Element = std::uint16_t;
  using From = typename FromType::Element;
  using DF = hn::CappedTag<float, 16>;
  using DU = hn::RebindToUnsigned<DF>;
  using DE = hn::Repartition<Element, DF>;
  using Floats = hn::Vec<DF>;
  using Elements = hn::Vec<DE>;
  using Pairs = PairOf<Floats>;
  using Limits = QuickLimits<Type::dtype>;
  static constexpr bool is_float16 = Type::dtype == Dtype::float16;
  static constexpr bool is_cast = !std::is_same_v<Type, FromType>;
  static constexpr bool defers = is_float16;

  template <class Bounds>
  explicit HWY_INLINE QuickNarrow(const NarrowRow<Bounds>&)
      : width(hn::Set(DE(), Limits::width)),
        ratio(hn::Set(DE(), Limits::ratio)),
        first_inside(hn::Set(DE(), Limits::least + 1)),
        most(hn::Set(DE(), is_float16 ? Limits::most : Limits::most - Limits::ratio - Limits::least - 1)) {}

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
#if HWY_TARGET <= HWY_AVX3
    const auto bits = hn::BitCast(DE(), even);
    // Bytes 2 and 3 of each float go to where both its elements are; a mask has two bytes of four.
    alignas(16) static constexpr std::uint8_t upper_bytes[16] = {2,  3,  2,  3,  6,  7,  6,  7,
                                                                 10, 11, 10, 11, 14, 15, 14, 15};
    constexpr std::uint64_t even_elements = ~std::uint64_t{0} / 5;
    return Elements{_mm512_mask_shuffle_epi8(hn::BitCast(DE(), odd).raw, even_elements, bits.raw,
                                             hn::LoadDup128(hn::Repartition<std::uint8_t, DE>(), upper_bytes).raw)};
#else
    return hn::OddEven(hn::BitCast(DE(), odd), hn::BitCast(DE(), hn::ShiftRight<16>(hn::BitCast(DU(), even))));
#endif
  }

  static HWY_INLINE hn::Vec<hn::Half<DE>> Demoted(Floats value) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    return hn::BitCast(hn::Half<DE>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, DF>(), value));
#else
    return hn::DemoteTo(hn::Half<DE>(), hn::BitCast(hn::RebindToSigned<DF>(), Float16Bits(DF(), value)));
#endif
  }

  // To the bits of a bfloat16's float half a place is added, so that what is kept is rounded, and `below`, so that the
  // bits that are dropped then tell the distance from a tie. Without a certificate `below` is 0, and ties go away from
  // zero: no bound depends on them.
  template <std::uint32_t below>
  static HWY_INLINE Floats Moved(Floats y) {
    return hn::BitCast(DF(), hn::Add(hn::BitCast(DU(), y), hn::Set(DU(), 0x8000 + below)));
  }

  // The distances of two vectors of floats from a tie: for float16 of both, for bfloat16 of the nearer, in the lower
  // halves of lanes; what is in the upper ones is less than `width` for nothing but elements near zero.
  static HWY_INLINE Elements FromTie(Floats y, Floats other) {
    const DE de;
    if constexpr (!is_float16) return hn::Min(hn::BitCast(de, y), hn::BitCast(de, other));
    const auto lower_words = hn::ConcatEven(de, hn::BitCast(de, other), hn::BitCast(de, y));
    const auto moved =
        hn::Add(lower_words, hn::Set(de, static_cast<Element>(Limits::below - (1 << (Limits::cut - 1)))));
    return hn::And(moved, hn::Set(de, (1 << Limits::cut) - 1));
  }

  // Not 0 where the smaller is not above `least` or the larger is above `most`. For bfloat16 in one: a smaller one up
  // to most - ratio will do.
  static HWY_INLINE Elements Outside(Elements smaller, Elements larger) {
    const DE de;
    if constexpr (is_float16) {
      return hn::Or(hn::SaturatedSub(hn::Set(de, Limits::least + 1), smaller),
                    hn::SaturatedSub(larger, hn::Set(de, Limits::most)));
    }
    return hn::SaturatedSub(hn::Sub(smaller, hn::Set(de, Limits::least + 1)),
                            hn::Set(de, Limits::most - Limits::ratio - Limits::least - 1));
  }

  // Where no limit is passed by either of a pair, given the distances from a tie as FromTie has them.
  HWY_INLINE hn::Mask<DE> Certain(Elements from_tie, Elements y0, Elements y1) const {
    const DE de;
    const auto magnitude = hn::Set(de, 0x7FFF);
    y0 = hn::And(y0, magnitude);
    y1 = hn::And(y1, magnitude);
    const auto smaller = hn::Min(y0, y1);
    const auto larger = hn::Max(y0, y1);
#if HWY_TARGET <= HWY_AVX3
    // Each comparison is masked by those before it.
    const auto at_most = [](__mmask32 before, Elements value, Elements limit)
                             HWY_ATTR { return _mm512_mask_cmple_epu16_mask(before, value.raw, limit.raw); };
    const __mmask32 clear = _mm512_cmpge_epu16_mask(from_tie.raw, width.raw);
    const __mmask32 near = at_most(clear, hn::Sub(larger, smaller), ratio);
    if constexpr (is_float16) return {at_most(at_most(near, larger, most), first_inside, smaller)};
    return {at_most(near, hn::Sub(smaller, first_inside), most)};
#else
    // Not 0 where a limit is passed.
    const auto near_tie = hn::SaturatedSub(hn::Set(de, Limits::width), from_tie);
    const auto apart = hn::SaturatedSub(hn::Sub(larger, smaller), hn::Set(de, Limits::ratio));
    return hn::Eq(hn::Or(hn::Or(near_tie, apart), Outside(smaller, larger)), hn::Zero(de));
#endif
  }

  // Whether a pair of x fills 32 bits: both words of it are first halves of the one vector or second halves of the
  // other.
  template <Pairing in>
  static constexpr bool whole_pairs = in == Pairing::interleaved && !is_float16 && !is_cast;

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
  static HWY_INLINE Pairs TurnHalf(const NarrowRow<Bounds>& row, std::size_t i, Floats x0, Floats x1) {
    const DF df;
    const auto c = hn::Load(df, row.cos_head + i);
    const auto s = hn::Load(df, row.sin_head + i);
    const auto s_tail = hn::Load(df, row.sin_tail + i);
    const auto first = hn::NegMulAdd(x1, s_tail, hn::MulSub(x0, c, hn::Mul(x1, s)));
    const auto second = hn::MulAdd(x0, s_tail, hn::MulAdd(x1, c, hn::Mul(x0, s)));
    if constexpr (HWY_NATIVE_FMA) return {first, second};
    const auto c_tail = hn::Load(df, row.cos_tail + i);
    return {hn::MulAdd(x0, c_tail, first), hn::MulAdd(x1, c_tail, second)};
  }

  // Floats. A fused operation gives what a product lost.
  template <class Bounds>
  static HWY_INLINE Pairs TurnFloats(const NarrowRow<Bounds>& row, std::size_t i, Floats x0, Floats x1) {
#if HWY_NATIVE_FMA
    const DF df;
    const auto c = hn::Load(df, row.cos_head + i);
    const auto s = ReadOnce(hn::Load(df, row.sin_head + i));
    const auto s_tail = hn::Load(df, row.sin_tail + i);
    const auto minus = hn::Mul(x1, s);
    const auto plus = hn::Mul(x0, s);
    return {hn::Sub(hn::MulSub(x0, c, minus), hn::MulAdd(x1, s_tail, hn::MulSub(x1, s, minus))),
            hn::Add(hn::MulAdd(x1, c, plus), hn::MulAdd(x0, s_tail, hn::MulSub(x0, s, plus)))};
#else
    const Doubles d;
    const hn::Rebind<float, Doubles> half;
    const auto turned = [&](std::size_t at, auto half_x0, auto half_x1) HWY_ATTR {
      return Turned(hn::PromoteTo(d, half_x0), hn::PromoteTo(d, half_x1), hn::LoadU(d, row.cos + at),
                    hn::LoadU(d, row.sin + at));
    };
    const auto earlier = turned(i, hn::LowerHalf(half, x0), hn::LowerHalf(half, x1));
    const auto later = turned(i + hn::Lanes(d), hn::UpperHalf(half, x0), hn::UpperHalf(half, x1));
    return {Joined(later.first, earlier.first), Joined(later.second, earlier.second)};
#endif
  }

  // One level of vectors: GCC writes nested ones to memory that it never reads.
  struct Begun {
    Floats a_first;
    Floats a_second;
    Floats b_first;
    Floats b_second;
  };

  template <Rounding rounding, Pairing in, Pairing out, class Bounds>
  HWY_INLINE Begun Begin(const NarrowRow<Bounds>& row, std::size_t i, const From* x0, const From* x1) const {
    static_assert(rounding == Rounding::certified);
    const std::size_t lanes = hn::Lanes(DF());
    const auto begun = [](const Pairs& a, const Pairs& b) HWY_ATTR {
      return Begun{a.first, a.second, b.first, b.second};
    };
    if constexpr (is_cast) {
      const auto turned = [&](std::size_t at) HWY_ATTR {
        const auto x = LoadPairs<in>(DU(), x0 + channel_step<in> * at, x1 + at);
        return TurnFloats(row, i + at, hn::BitCast(DF(), x.first), hn::BitCast(DF(), x.second));
      };
      return begun(turned(0), turned(lanes));
    } else if constexpr (is_float16 && in == Pairing::half) {
      return begun(TurnHalf(row, i, WidenedAt(x0), WidenedAt(x1)),
                   TurnHalf(row, i + lanes, WidenedAt(x0 + lanes), WidenedAt(x1 + lanes)));
    } else {
      const auto x = Load<in, out>(x0, x1);
      return begun(
          TurnHalf(row, i, FirstHalf(x.first), whole_pairs<in> ? SecondHalf(x.first) : FirstHalf(x.second)),
          TurnHalf(row, i + lanes, whole_pairs<in> ? FirstHalf(x.second) : SecondHalf(x.first), SecondHalf(x.second)));
    }
  }

  static HWY_INLINE Floats WidenedAt(const Element* x) {
    return WidenedToFloat(Type(), DF(), hn::LoadU(hn::Half<DE>(), x));
  }

  template <std::uint32_t below>
  static HWY_INLINE Begun Prepared(const Begun& y) {
    if constexpr (is_float16) return y;
    return {Moved<below>(y.a_first), Moved<below>(y.a_second), Moved<below>(y.b_first), Moved<below>(y.b_second)};
  }

  static HWY_INLINE Elements Rounded(Floats a, Floats b) {
    if constexpr (is_float16) return hn::Combine(DE(), Demoted(b), Demoted(a));
    if constexpr (is_cast) return hn::ConcatOdd(DE(), hn::BitCast(DE(), b), hn::BitCast(DE(), a));
    return Uppers(a, b);
  }

  HWY_INLINE hn::Mask<DE> Certain(const Begun& y, Elements first, Elements second) const {
    return Certain(hn::Min(FromTie(y.a_first, y.b_first), FromTie(y.a_second, y.b_second)), first, second);
  }

  template <Rounding rounding, Pairing in, Pairing out, Caching caching>
  HWY_INLINE bool End(const Begun& begun, Element* y0, Element* y1) const {
    const Begun y = Prepared<Limits::below>(begun);
    const Elements first = Rounded(y.a_first, y.b_first);
    const Elements second = Rounded(y.a_second, y.b_second);
    if (HWY_UNLIKELY(!hn::AllTrue(DE(), Certain(y, first, second)))) return false;
    Store<in, out, caching>(first, second, y0, y1);
    return true;
  }

  /// Writes the elements whether they are certain or not; a bit for each pair that is not.
  template <Pairing in, Pairing out, Caching caching>
  HWY_INLINE std::uint64_t Put(const Begun& y, Element* y0, Element* y1) const {
    const Elements first = Rounded(y.a_first, y.b_first);
    const Elements second = Rounded(y.a_second, y.b_second);
    const auto certain = Certain(y, first, second);
    Store<in, out, caching>(first, second, y0, y1);
#if HWY_TARGET <= HWY_AVX3
    return std::uint64_t{0xFFFFFFFF} ^ certain.raw;
#else
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(DE(), hn::Not(certain), bits);
    std::uint64_t open = 0;
    std::memcpy(&open, bits, sizeof open);
    return open;
#endif
  }

  // Entries of Rounding::fast: of two vectors of pairs, or of the pairs in two vectors where they are turned in their
  // places.
  struct Entries {
    Floats a_cos;
    Floats a_sin;
    Floats b_cos;
    Floats b_sin;
  };

  // Pairs of float16 that lie side by side are turned so: to take them apart is no quicker.
  template <Pairing in, Pairing out>
  static constexpr bool in_their_places = is_float16&& side_by_side<in, out>;

  template <Pairing in, Pairing out>
  static HWY_INLINE std::size_t PairsATime() {
    return in_their_places<in, out> ? hn::Lanes(DF()) : hn::Lanes(DE());
  }

  template <Pairing in, Pairing out, class Bounds>
  static HWY_INLINE Entries EntriesAt(const NarrowRow<Bounds>& row, std::size_t i) {
    const DF df;
    const std::size_t a = in_their_places<in, out> ? 2 * i : i;
    const std::size_t b = a + hn::Lanes(df);
    return {ReadOnce(hn::Load(df, row.cos_head + a)), ReadOnce(hn::Load(df, row.sin_head + a)),
            ReadOnce(hn::Load(df, row.cos_head + b)), ReadOnce(hn::Load(df, row.sin_head + b))};
  }

  // Two vectors to one of float16, in halves where they need not be put together to be streamed.
  template <Caching caching>
  static HWY_INLINE void PutDemoted(Floats a, Floats b, Element* to) {
    if constexpr (caching == Caching::streamed) {
      PutVector<caching>(Rounded(a, b), to);
    } else {
      const hn::Half<DE> half;
      hn::StoreU(Demoted(a), half, to);
      hn::StoreU(Demoted(b), half, to + hn::Lanes(half));
    }
  }

  /// Rounding::fast: the pairs of one head by a row's floats alone.
  template <Pairing in, Pairing out, Caching caching>
  static HWY_INLINE void Turn(const Entries& by, const Element* x0, const Element* x1, Element* y0, Element* y1) {
    const std::size_t lanes = hn::Lanes(DF());
    if constexpr (in_their_places<in, out>) {
      PutDemoted<caching>(TurnedTogether(DF(), WidenedAt(x0), by.a_cos, by.a_sin),
                          TurnedTogether(DF(), WidenedAt(x0 + lanes), by.b_cos, by.b_sin), y0);
    } else if constexpr (is_float16 && in == Pairing::half && out == Pairing::half) {
      const auto a = TurnedBy(WidenedAt(x0), WidenedAt(x1), by.a_cos, by.a_sin);
      const auto b = TurnedBy(WidenedAt(x0 + lanes), WidenedAt(x1 + lanes), by.b_cos, by.b_sin);
      PutDemoted<caching>(a.first, b.first, y0);
      PutDemoted<caching>(a.second, b.second, y1);
    } else {
      const auto loaded = Load<in, out>(x0, x1);
      const PairOf<Elements> x{ReadOnce(loaded.first), ReadOnce(loaded.second)};
      const auto a =
          TurnedBy(FirstHalf(x.first), whole_pairs<in> ? SecondHalf(x.first) : FirstHalf(x.second), by.a_cos, by.a_sin);
      const auto b = TurnedBy(whole_pairs<in> ? FirstHalf(x.second) : SecondHalf(x.first), SecondHalf(x.second),
                              by.b_cos, by.b_sin);
      const Begun y = Prepared<0>({a.first, a.second, b.first, b.second});
      if constexpr (whole_pairs<in> && out == Pairing::interleaved) {
        PutVector<caching>(Uppers(y.a_first, y.a_second), y0);
        PutVector<caching>(Uppers(y.b_first, y.b_second), y0 + hn::Lanes(DE()));
      } else {
        StorePairs<out, caching>(DE(), PairOf<Elements>{Rounded(y.a_first, y.b_first), Rounded(y.a_second, y.b_second)},
                                 y0, y1);
      }
    }
  }

  // As many pairs as there are doubles in a vector, turned there: float16 results, where all of them are certain.
  template <Pairing in, Pairing out, class Bounds>
  static HWY_INLINE bool TurnInDouble(const NarrowRow<Bounds>& row, std::size_t i, const From* x0, const From* x1,
                                      Element* y0, Element* y1) {
    const Doubles d;
    const hn::RebindToUnsigned<Doubles> du;
    const hn::Rebind<float, Doubles> df;
    const hn::Rebind<std::int32_t, Doubles> di;
    const hn::Rebind<Element, Doubles> de;
    const hn::Rebind<From, Doubles> dx;
    const auto widened = [&](hn::Vec<decltype(dx)> x) HWY_ATTR {
      if constexpr (is_cast) {
        return hn::PromoteTo(d, hn::BitCast(df, x));
      } else {
        return hn::PromoteTo(d, WidenedToFloat(Float16(), df, x));
      }
    };
    const auto x = LoadPairs<in>(dx, x0, x1);
    const auto y = Turned(widened(x.first), widened(x.second), hn::LoadU(d, row.cos + i), hn::LoadU(d, row.sin + i));
    constexpr std::uint64_t dropped = (std::uint64_t{1} << DoubleLimits::cut) - 1;
    const auto clear = hn::Set(du, dropped & ~(2 * DoubleLimits::units - 1));
    const auto half = hn::Set(du, std::uint64_t{1} << (DoubleLimits::cut - 1));
    // What is kept once half a place is added is the rounded value, but for ties.
    const auto moved = [&](DoubleVector value) HWY_ATTR { return hn::Add(hn::BitCast(du, value), half); };
    const auto kept = [&](hn::Vec<decltype(du)> value) HWY_ATTR {
      const auto number = NearestFloat(d, hn::BitCast(d, hn::AndNot(hn::Set(du, dropped), value)));
      return hn::DemoteTo(de, hn::BitCast(di, Float16Bits(df, number)));
    };
    const auto is_clear = [&](hn::Vec<decltype(du)> value) HWY_ATTR {
      return hn::Ne(hn::And(hn::Add(value, hn::Set(du, DoubleLimits::units)), clear), hn::Zero(du));
    };
    const auto first = moved(y.first);
    const auto second = moved(y.second);
    const auto size0 = hn::Abs(y.first);
    const auto size1 = hn::Abs(y.second);
    const auto larger = hn::Max(size0, size1);
    const auto least = hn::Set(d, -DoubleLimits::ratio * DoubleLimits::least);
    const auto comparable = hn::Gt(hn::MulAdd(hn::Min(size0, size1), hn::Set(d, DoubleLimits::ratio), least), larger);
    const auto inside = hn::And(comparable, hn::Le(larger, hn::Set(d, DoubleLimits::most)));
    if (!hn::AllTrue(d, hn::And(inside, hn::RebindMask(d, hn::And(is_clear(first), is_clear(second)))))) return false;
    StorePairs<out>(de, {kept(first), kept(second)}, y0, y1);
    return true;
  }

  /// Turns the pairs again that Put has left open, and those around; false where that is not enough.
  template <Pairing in, Pairing out, class Bounds>
  static HWY_INLINE bool Mend(const NarrowRow<Bounds>& row, std::size_t i, std::uint64_t open, const From* x0,
                              const From* x1, Element* y0, Element* y1) {
    const std::size_t group = hn::Lanes(Doubles());
    while (open != 0) {
      const std::size_t at = static_cast<std::size_t>(std::countr_zero(open)) / group * group;
      if (!TurnInDouble<in, out>(row, i + at, x0 + channel_step<in> * at, x1 + at, y0 + channel_step<out> * at,
                                 y1 + at))
        return false;
      open &= ~(((std::uint64_t{1} << group) - 1) << at);
    }
    return true;
  }

 private:
  Elements width;
  Elements ratio;
  Elements first_inside;
  Elements most;
};

template <class Type, class Bounds>
struct QuickTier<TurnNarrow<Type, Bounds>> {
  static constexpr bool exists = true;
  using Quick = QuickNarrow<Type, Type>;
};

template <class Type>
struct QuickTier<TurnFloat32To<Type>> {
  static constexpr bool exists = true;
  using Quick = QuickNarrow<Type, Float32>;
};

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
