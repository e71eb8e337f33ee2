// Rounding to the element types, and the certificate that a rounding is the correct one, for one Highway target:
// included inside HWY_NAMESPACE by a file that is compiled once per target. Over 400 lines, since each element type's
// rounding, certificate and stores are used together.
//
//   1. Both ends of an interval about a value are rounded to the element type: by the target's conversion (float32), by
//      adding half a unit of what stays (bfloat16), by its conversion or in integers (float16).
//   2. Rounding is monotone: if the ends round alike, every real between them rounds to that value. Equality is that of
//      the bits, so that -0 and +0 differ; NaN, whose bits are alike too, is left open.
//   3. Values come in vectors of doubles and leave as the bits of elements, one in each lane of 32 bits (64 for
//      float64), the form in which two of them can be joined to a pair; lanes that are open come as a mask.
//
// docs/proofs/quick-certificate.md has the shorter forms of the same certificate.

#if defined(SEXTANT_LIB_KERNELS_CERTIFY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_KERNELS_CERTIFY_INL_H_
#undef SEXTANT_LIB_KERNELS_CERTIFY_INL_H_
#else
#define SEXTANT_LIB_KERNELS_CERTIFY_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lib/kernels/double_double-inl.h"
#include "lib/numeric/dtype.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// The bits of elements, and the lanes whose rounding is left open.
template <class DBits>
struct Certified {
  hn::Vec<DBits> bits;
  hn::Mask<DBits> undecided;
};

template <class D>
using Bits32 = hn::Rebind<std::uint32_t, D>;

/// The nearest float32 of each lane, ties to even, overflow to infinity: the target's own conversion. Highway's for
/// plain C++ saturates at the largest finite value instead, so those lanes are converted by the language, which rounds
/// as the others do.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<float, D>> NearestFloat(D d, hn::Vec<D> value) {
  const hn::Rebind<float, D> df;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  alignas(16) std::array<double, hn::MaxLanes(D())> wide;
  alignas(16) std::array<float, hn::MaxLanes(D())> narrow;
  hn::Store(value, d, wide.data());
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) narrow[lane] = static_cast<float>(wide[lane]);
  return hn::Load(df, narrow.data());
#else
  (void)d;
  return hn::DemoteTo(df, value);
#endif
}

/// The bits of float vectors rounded to bfloat16, ties to even, in the low half of each lane. Adding half a unit of the
/// upper half, less one where it is even, carries as rounding does, through binades and into infinity. Not for NaN.
template <class DF>
HWY_INLINE hn::Vec<Bits32<DF>> BFloat16Bits(DF, hn::Vec<DF> value) {
  const Bits32<DF> du;
  const auto bits = hn::BitCast(du, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  return hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF))));
}

/// The same to float16. Of a NaN it makes one.
template <class DF>
HWY_INLINE hn::Vec<Bits32<DF>> Float16Bits(DF df, hn::Vec<DF> value) {
  const Bits32<DF> du;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  // F16C converts to nearest, ties to even.
  const hn::Rebind<hwy::float16_t, DF> dh;
  const hn::Rebind<std::uint16_t, DF> dh_bits;
  (void)df;
  return hn::PromoteTo(du, hn::BitCast(dh_bits, hn::DemoteTo(dh, value)));
#else
  const auto all = hn::BitCast(du, value);
  const auto sign = hn::And(all, hn::Set(du, 0x80000000U));
  const auto magnitude = hn::Xor(all, sign);
  // Normal: drop 13 bits as above and move the exponent's bias from 127 to 15. From 65520 on this carries into the
  // exponent of infinity.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1));
  const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(odd, hn::Set(du, 0xFFFU - (112U << 23)))));
  // Below 2^-14: a float of exponent -1 has units of 2^-24, those of float16's subnormals, so that adding 1/2 rounds to
  // them.
  const auto half = hn::Set(df, 0.5F);
  const auto subnormal = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), half)), hn::BitCast(du, half));
  const hn::RebindToSigned<Bits32<DF>> di;  // magnitudes compare as signed integers, which every target can do
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto is_nan = hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7F800000)));
  const auto infinite = hn::IfThenElse(is_nan, hn::Set(du, 0x7E00), hn::Set(du, 0x7C00));
  const auto is_small = hn::RebindMask(du, hn::Lt(signed_magnitude, hn::Set(di, 113 << 23)));
  const auto is_large = hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, (143 << 23) - 1)));
  const auto finite = hn::IfThenElse(is_small, subnormal, normal);
  return hn::Or(hn::IfThenElse(is_large, infinite, finite), hn::ShiftRight<16>(sign));
#endif
}

/// The certificate of two ends as elements; `upper_number` is the upper one as a number, NaN where the value is.
template <class DBits, class V>
HWY_INLINE Certified<DBits> Compared(DBits, V upper_number, hn::Vec<DBits> lower, hn::Vec<DBits> upper) {
  const DBits bits;
  return {upper, hn::Or(hn::Ne(lower, upper), hn::RebindMask(bits, hn::IsNaN(upper_number)))};
}

/// Each element type states: Bits<D>, the tag of its lanes; Certify(d, value, bound), the certificate for every real
/// within the interval.
///
/// Contract of `bound`: at least |true - value| + 2^-53 (|value| + bound), so that it covers the rounding of value -
/// bound and value + bound too; a bound at least 2^-52 |value| above the error will do. A NaN is left open, an infinite
/// value is decided as itself. Round is the nearest value by one rounding; RoundTwice passes through float32, and is
/// within half a unit of that of the nearest.
struct Float32 {
  static constexpr Dtype dtype = Dtype::float32;
  using Element = std::uint32_t;
  template <class D>
  using Bits = Bits32<D>;

  template <class D>
  static HWY_INLINE hn::Vec<Bits<D>> RoundTwice(D d, hn::Vec<D> value) {
    return Round(d, value);
  }

  template <class D>
  static HWY_INLINE hn::Vec<Bits<D>> Round(D d, hn::Vec<D> value) {
    return hn::BitCast(Bits<D>(), NearestFloat(d, value));
  }

  template <class D>
  static HWY_INLINE Certified<Bits<D>> Certify(D d, hn::Vec<D> value, hn::Vec<D> bound) {
    const auto lower = NearestFloat(d, hn::Sub(value, bound));
    const auto upper = NearestFloat(d, hn::Add(value, bound));
    return Compared(Bits<D>(), upper, hn::BitCast(Bits<D>(), lower), hn::BitCast(Bits<D>(), upper));
  }
};

// A double goes to 16 bits by way of float32. Two roundings are not one, but the certificate needs only that the ends
// enclose: with w = 2 bound + 2^-23 |value| + 2^-149, the first rounding, off by at most 2^-24 (|value| + w) + 2^-150
// (in float32's subnormals), leaves RN32(value - w) <= value - bound and RN32(value + w) >= value + bound, as 2^-24
// |value| and 2^-150 are within w's own terms and 2^-24 w is within `bound`, 2^-24 |value| and 2^-150 again. Where
// float32 overflows the 16-bit types do as well.
template <class D>
HWY_INLINE hn::Vec<D> WidenedForFloat32(D d, hn::Vec<D> value, hn::Vec<D> bound) {
  return hn::MulAdd(hn::Abs(value), hn::Set(d, 0x1p-23), hn::Add(hn::Add(bound, bound), hn::Set(d, 0x1p-149)));
}

/// To float32 by rounding to odd (Boldo and Melquiond 2008): the nearest float where it is exact, else the one of its
/// two neighbours whose last bit is 1. A later rounding to 22 bits or fewer, or to bfloat16's subnormals, is then as
/// good as one rounding. Not for NaN.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<float, D>> OddFloat(D d, hn::Vec<D> value) {
  const hn::Rebind<float, D> df;
  const hn::RebindToSigned<hn::Rebind<std::uint32_t, D>> di;
  const auto nearest = NearestFloat(d, value);
  const auto back = hn::PromoteTo(d, nearest);
  // -1, 0 or 1: how the magnitude of the value compares with that of its nearest float.
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1.0);
  const auto above = hn::IfThenElse(hn::Gt(hn::Abs(value), hn::Abs(back)), one, zero);
  const auto below = hn::IfThenElse(hn::Lt(hn::Abs(value), hn::Abs(back)), one, zero);
  const auto step = hn::DemoteTo(di, hn::Sub(above, below));
  const auto bits = hn::BitCast(di, nearest);
  const auto even = hn::Sub(hn::And(bits, hn::Set(di, 1)), hn::Set(di, 1));  // all ones where the last bit is 0
  return hn::BitCast(df, hn::Add(bits, hn::And(step, even)));
}

struct Float16 {
  static constexpr Dtype dtype = Dtype::float16;
  using Element = std::uint16_t;
  template <class D>
  using Bits = Bits32<D>;

  template <class D>
  static HWY_INLINE hn::Vec<Bits<D>> Round(D d, hn::Vec<D> value) {
    return Float16Bits(hn::Rebind<float, D>(), OddFloat(d, value));
  }
  template <class D>
  static HWY_INLINE hn::Vec<Bits<D>> RoundTwice(D d, hn::Vec<D> value) {
    return Float16Bits(hn::Rebind<float, D>(), NearestFloat(d, value));
  }

  template <class D>
  static HWY_INLINE Certified<Bits<D>> Certify(D d, hn::Vec<D> value, hn::Vec<D> bound) {
    const hn::Rebind<float, D> df;
    const auto widened = WidenedForFloat32(d, value, bound);
    const auto lower = NearestFloat(d, hn::Sub(value, widened));
    const auto upper = NearestFloat(d, hn::Add(value, widened));
    return Compared(Bits<D>(), upper, Float16Bits(df, lower), Float16Bits(df, upper));
  }
};

struct BFloat16 {
  static constexpr Dtype dtype = Dtype::bfloat16;
  using Element = std::uint16_t;
  template <class D>
  using Bits = Bits32<D>;

  template <class D>
  static HWY_INLINE hn::Vec<Bits<D>> Round(D d, hn::Vec<D> value) {
    return BFloat16Bits(hn::Rebind<float, D>(), OddFloat(d, value));
  }
  template <class D>
  static HWY_INLINE hn::Vec<Bits<D>> RoundTwice(D d, hn::Vec<D> value) {
    return BFloat16Bits(hn::Rebind<float, D>(), NearestFloat(d, value));
  }

  template <class D>
  static HWY_INLINE Certified<Bits<D>> Certify(D d, hn::Vec<D> value, hn::Vec<D> bound) {
    const hn::Rebind<float, D> df;
    const auto widened = WidenedForFloat32(d, value, bound);
    const auto lower = NearestFloat(d, hn::Sub(value, widened));
    const auto upper = NearestFloat(d, hn::Add(value, widened));
    return Compared(Bits<D>(), upper, BFloat16Bits(df, lower), BFloat16Bits(df, upper));
  }
};

/// The floats that 16-bit elements stand for.
template <class Type, class DF>
HWY_INLINE hn::Vec<DF> WidenedToFloat(Type, DF df, hn::Vec<hn::Rebind<std::uint16_t, DF>> x) {
  const Bits32<DF> du;
  if constexpr (Type::dtype == Dtype::bfloat16) {
    return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, x)));
  } else {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    return hn::PromoteTo(df, hn::BitCast(hn::Rebind<hwy::float16_t, DF>(), x));
#else
    // The fraction and exponent in a float's places, times 2^112 for the difference of the biases: exact, subnormals
    // too. The exponent of infinity and NaN is filled up.
    const auto bits = hn::PromoteTo(du, x);
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000)));
    const auto rest = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7FFF)));
    const auto finite = hn::BitCast(du, hn::Mul(hn::BitCast(df, rest), hn::Set(df, 0x1p112F)));
    const auto top = hn::Set(du, 0x7C00U << 13);
    const auto filled = hn::IfThenElse(hn::Eq(hn::And(rest, top), top), hn::Or(rest, hn::Set(du, 0x7F800000U)), finite);
    return hn::BitCast(df, hn::Or(filled, sign));
#endif
  }
}

struct Float64 {
  static constexpr Dtype dtype = Dtype::float64;
  using Element = std::uint64_t;
  template <class D>
  using Bits = hn::Rebind<std::uint64_t, D>;

  template <class D>
  static HWY_INLINE hn::Vec<Bits<D>> Round(D, hn::Vec<D> value) {
    return hn::BitCast(Bits<D>(), value);
  }

  /// The certificate for high + low. `bound` is at least the error + 2^-53 (|low| + bound): the sums low -+ bound are
  /// rounded once, and adding high is the rounding that is judged.
  template <class D>
  static HWY_INLINE Certified<Bits<D>> Certify(D d, const DoubleDouble<hn::Vec<D>>& value, hn::Vec<D> bound) {
    const auto lower = hn::Add(value.high, hn::Sub(value.low, bound));
    const auto upper = hn::Add(value.high, hn::Add(value.low, bound));
    return Compared(Bits<D>(), upper, Round(d, lower), Round(d, upper));
  }
};

/// As many elements from `elements` on as D has lanes, as doubles. Exact.
template <class Type, class D>
HWY_INLINE hn::Vec<D> WidenedToDouble(Type type, D d, const typename Type::Element* elements) {
  [[maybe_unused]] const hn::Rebind<float, D> df;
  const auto bits = hn::LoadU(hn::Rebind<typename Type::Element, D>(), elements);
  if constexpr (Type::dtype == Dtype::float64) {
    (void)type;
    return hn::BitCast(d, bits);
  } else if constexpr (Type::dtype == Dtype::float32) {
    (void)type;
    return hn::PromoteTo(d, hn::BitCast(df, bits));
  } else {
    return hn::PromoteTo(d, WidenedToFloat(type, df, bits));
  }
}

/// Writes one element for each lane of d at `destination`, any alignment.
template <class Type, class D>
HWY_INLINE void StoreElements(Type, D, hn::Vec<typename Type::template Bits<D>> bits,
                              typename Type::Element* destination) {
#if HWY_TARGET == HWY_SCALAR
  // Highway's stores of one lane assume the alignment of the element.
  const auto element = static_cast<typename Type::Element>(hn::GetLane(bits));
  std::memcpy(destination, &element, sizeof element);
#else
  if constexpr (sizeof(typename Type::Element) == 2) {
    const hn::Rebind<std::uint16_t, D> narrow;
    const hn::RebindToSigned<Bits32<D>> di;
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(di, bits)), narrow, destination);
  } else {
    hn::StoreU(bits, typename Type::template Bits<D>(), destination);
  }
#endif
}

/// Whether the elements of the lanes of D fill a vector that can be written past the cache: Highway's Stream takes no
/// less than 16 bytes.
template <class Type, class D>
inline constexpr bool streams_elements = HWY_TARGET != HWY_SCALAR &&
                                         sizeof(typename Type::Element) * hn::MaxLanes(D()) >= 16;

/// The same past the cache, where streams_elements says so; `destination` is aligned to what is written.
template <class Type, class D>
HWY_INLINE void StreamElements(Type type, D d, hn::Vec<typename Type::template Bits<D>> bits,
                               typename Type::Element* destination) {
  if constexpr (!streams_elements<Type, D>) {
    StoreElements(type, d, bits, destination);
  } else if constexpr (sizeof(typename Type::Element) == 2) {
    const hn::Rebind<std::uint16_t, D> narrow;
    const hn::RebindToSigned<Bits32<D>> di;
    hn::Stream(hn::DemoteTo(narrow, hn::BitCast(di, bits)), narrow, destination);
  } else {
    hn::Stream(bits, typename Type::template Bits<D>(), destination);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// first[0], second[0], first[1], ... of vectors with as many lanes of 32 bits as D has lanes of 64. The vector that
/// holds both is never split.
template <class D, class V>
HWY_INLINE auto Interleave(D, V first, V second) {
  const hn::Repartition<hn::TFromV<V>, D> both;
  if constexpr (hn::MaxLanes(D()) == 8) {
#if HWY_TARGET <= HWY_AVX3
    // One permutation of both, which Highway has of whole vectors only.
    alignas(64) static constexpr std::uint32_t order[16] = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    const hn::RebindToUnsigned<decltype(both)> du;
    const hn::Half<decltype(du)> half;
    const auto wide = [](hn::Vec<decltype(half)> v) HWY_ATTR { return _mm512_castsi256_si512(v.raw); };
    return hn::BitCast(
        both, hn::Vec<decltype(du)>{_mm512_permutex2var_epi32(wide(hn::BitCast(half, first)), hn::Load(du, order).raw,
                                                              wide(hn::BitCast(half, second)))});
#else
    alignas(64) static constexpr std::int32_t order[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
    return hn::TableLookupLanes(hn::Combine(both, second, first), hn::SetTableIndices(both, order));
#endif
#if HWY_TARGET == HWY_AVX2
  } else if constexpr (hn::MaxLanes(D()) == 4) {
    // A permutation across both halves in place of two within them.
    alignas(32) static constexpr std::int32_t order[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    return hn::TableLookupLanes(hn::Combine(both, second, first), hn::SetTableIndices(both, order));
#endif
  } else if constexpr (hn::MaxLanes(D()) == 4) {
    const hn::DFromV<V> half;
    return hn::Combine(both, hn::InterleaveUpper(half, first, second), hn::InterleaveLower(half, first, second));
  } else {
    return hn::InterleaveLower(both, hn::ZeroExtendVector(both, first), hn::ZeroExtendVector(both, second));
  }
}
#endif

/// The pairs of `first` and `second` as one vector of elements first[0], second[0], first[1], ...: of 16 or 32 bits, on
/// little-endian targets of more than one lane, where the first of two 16-bit elements is the low half of the integer
/// that holds both.
template <class Type, class D>
HWY_INLINE auto JoinPairs(Type, D d, hn::Vec<typename Type::template Bits<D>> first,
                          hn::Vec<typename Type::template Bits<D>> second) {
  if constexpr (sizeof(typename Type::Element) == 2) {
    (void)d;
    return hn::BitCast(hn::Repartition<std::uint16_t, Bits32<D>>(), hn::Or(first, hn::ShiftLeft<16>(second)));
  } else {
    return Interleave(d, first, second);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// first[0], second[0], first[1], ... of vectors of 64 bits: the first half of them.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V EarlierPairs(D d, V first, V second) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 8) {
    alignas(64) static constexpr std::uint64_t order[8] = {0, 8, 1, 9, 2, 10, 3, 11};
    return V{_mm512_permutex2var_epi64(first.raw, hn::Load(d, order).raw, second.raw)};
  }
#endif
  const V lower = hn::InterleaveLower(d, first, second);
  if constexpr (hn::MaxLanes(D()) == 4) return hn::ConcatLowerLower(d, hn::InterleaveUpper(d, first, second), lower);
  return lower;
}

/// The second half.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LaterPairs(D d, V first, V second) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 8) {
    alignas(64) static constexpr std::uint64_t order[8] = {4, 12, 5, 13, 6, 14, 7, 15};
    return V{_mm512_permutex2var_epi64(first.raw, hn::Load(d, order).raw, second.raw)};
  }
#endif
  const V upper = hn::InterleaveUpper(d, first, second);
  if constexpr (hn::MaxLanes(D()) == 4) return hn::ConcatUpperUpper(d, upper, hn::InterleaveLower(d, first, second));
  return upper;
}
#endif

/// Writes first[0], second[0], first[1], second[1], ... at `destination`, any alignment.
template <class Type, class D>
HWY_INLINE void StorePairs(Type type, D d, hn::Vec<typename Type::template Bits<D>> first,
                           hn::Vec<typename Type::template Bits<D>> second, typename Type::Element* destination) {
  using Element = typename Type::Element;
#if HWY_TARGET == HWY_SCALAR
  (void)type;
  (void)d;
  const std::array<Element, 2> pair{static_cast<Element>(hn::GetLane(first)),
                                    static_cast<Element>(hn::GetLane(second))};
  std::memcpy(destination, pair.data(), sizeof pair);
#else
  if constexpr (sizeof(Element) == 8) {
    const typename Type::template Bits<D> bits;
    hn::StoreU(EarlierPairs(bits, first, second), bits, destination);
    hn::StoreU(LaterPairs(bits, first, second), bits, destination + hn::Lanes(d));
  } else {
    const auto pairs = JoinPairs(type, d, first, second);
    hn::StoreU(pairs, hn::DFromV<decltype(pairs)>(), destination);
  }
#endif
}

/// Whether pairs of the lanes of D fill a vector that can be written past the cache, or for 64 bits two.
template <class Type, class D>
inline constexpr bool streams_pairs = HWY_TARGET != HWY_SCALAR &&
                                      (sizeof(typename Type::Element) < 8 ? 2 : 1) *
                                              sizeof(typename Type::Element) * hn::MaxLanes(D()) >=
                                          16;

/// The same past the cache, where streams_pairs says so; `destination` is aligned to the vector.
template <class Type, class D>
HWY_INLINE void StreamPairs(Type type, D d, hn::Vec<typename Type::template Bits<D>> first,
                            hn::Vec<typename Type::template Bits<D>> second, typename Type::Element* destination) {
  if constexpr (streams_pairs<Type, D> && sizeof(typename Type::Element) == 8) {
#if HWY_TARGET != HWY_SCALAR
    const typename Type::template Bits<D> bits;
    hn::Stream(EarlierPairs(bits, first, second), bits, destination);
    hn::Stream(LaterPairs(bits, first, second), bits, destination + hn::Lanes(d));
#endif
  } else if constexpr (streams_pairs<Type, D>) {
    const auto pairs = JoinPairs(type, d, first, second);
    hn::Stream(pairs, hn::DFromV<decltype(pairs)>(), destination);
  } else {
    StorePairs(type, d, first, second, destination);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Bits of floats with those of their bfloat16 in the upper halves, rounded as RoundTwice does but for ties, which go
/// away from zero.
template <class V>
HWY_INLINE V BFloat16InUpperHalf(V bits) {
  static_assert(std::is_same_v<hn::TFromD<hn::DFromV<V>>, std::uint32_t>);  // a float would be added to
  return hn::Add(bits, hn::Set(hn::DFromV<V>(), 0x8000));
}

/// Two vectors of floats, as bits, as one of 16-bit elements, `earlier` and then `later`: rounded as RoundTwice does,
/// bfloat16's ties away from zero.
template <class Type, class V>
HWY_INLINE auto RoundFloatsAgain(Type, V earlier, V later) {
  static_assert(std::is_same_v<hn::TFromD<hn::DFromV<V>>, std::uint32_t>);
  const hn::Repartition<std::uint16_t, hn::DFromV<V>> narrow;
  if constexpr (Type::dtype == Dtype::bfloat16) {
    return hn::ConcatOdd(narrow, hn::BitCast(narrow, BFloat16InUpperHalf(later)),
                         hn::BitCast(narrow, BFloat16InUpperHalf(earlier)));
  } else {
    const hn::RebindToFloat<hn::DFromV<V>> df;
    return hn::ConcatEven(narrow, hn::BitCast(narrow, Float16Bits(df, hn::BitCast(df, later))),
                          hn::BitCast(narrow, Float16Bits(df, hn::BitCast(df, earlier))));
  }
}

/// The same as pairs first[0], second[0], first[1], ...
template <class Type, class V>
HWY_INLINE auto RoundFloatPairsAgain(Type, V first, V second) {
  static_assert(std::is_same_v<hn::TFromD<hn::DFromV<V>>, std::uint32_t>);
  const hn::Repartition<std::uint16_t, hn::DFromV<V>> narrow;
  if constexpr (Type::dtype == Dtype::bfloat16) {
#if HWY_TARGET <= HWY_AVX3
    // One permutation in place of a shift and a blend.
    if constexpr (sizeof(V) == 64) {
      alignas(64) static constexpr std::uint16_t order[32] = {1,  33, 3,  35, 5,  37, 7,  39, 9,  41, 11,
                                                              43, 13, 45, 15, 47, 17, 49, 19, 51, 21, 53,
                                                              23, 55, 25, 57, 27, 59, 29, 61, 31, 63};
      return hn::Vec<decltype(narrow)>{_mm512_permutex2var_epi16(
          BFloat16InUpperHalf(first).raw, hn::Load(narrow, order).raw, BFloat16InUpperHalf(second).raw)};
    }
#endif
    return hn::OddEven(hn::BitCast(narrow, BFloat16InUpperHalf(second)),
                       hn::BitCast(narrow, hn::ShiftRight<16>(BFloat16InUpperHalf(first))));
  } else {
    const hn::RebindToFloat<hn::DFromV<V>> df;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    // One permutation in place of two extensions and what joins them; Highway has none of 16-bit lanes of two vectors.
    if constexpr (sizeof(V) == 64) {
      alignas(64) static constexpr std::uint16_t order[32] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                                              37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                                              11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
      const hn::Rebind<hwy::float16_t, decltype(df)> dh;
      return hn::Vec<decltype(narrow)>{_mm512_permutex2var_epi16(
          _mm512_castsi256_si512(hn::DemoteTo(dh, hn::BitCast(df, first)).raw), hn::Load(narrow, order).raw,
          _mm512_castsi256_si512(hn::DemoteTo(dh, hn::BitCast(df, second)).raw))};
    }
#endif
    return hn::BitCast(narrow, hn::Or(Float16Bits(df, hn::BitCast(df, first)),
                                      hn::ShiftLeft<16>(Float16Bits(df, hn::BitCast(df, second)))));
  }
}

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
