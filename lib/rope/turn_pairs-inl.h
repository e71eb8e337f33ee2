// The arithmetic of a rotary encoding on a vector of pairs, for one Highway target: included inside HWY_NAMESPACE by a
// file that is compiled once per target. y0 = a (x0 cos - x1 sin), y1 = a (x0 sin + x1 cos).
//
// The certificate. Let u be the unit roundoff of the arithmetic (2^-53, or 2^-24 where quick_pairs-inl.h turns 16-bit
// elements fast, in float), m = |x0| + |x1|, and c, s the rounded a cos, a sin of the row, each within t a u. Then the
// computed y0, and y1 alike, is within
//
//     t u a m          of the row (the errors of c and s, weighted by |x0| and |x1|)
//     u (|x0 c| + |x1 s|) <= u a m      the products, one of them exact where operations are fused
//     u |y0| <= u a m                   the sum
//
// of the real number, and rounding y0 -+ bound adds u (|y0| + bound). Terms of second order are below 2^-20 of these.
// In all (t + 3) u a m. The bound (t + 3.25) u a m, computed in three roundings, exceeds it: 0.25 / (t + 3) > 1/40 is
// more than the 2^-20 and 3u that could be missing.
//
//   double, 16 and 32 bits  The product of an anchor and a step (step_rotations.hpp), in units of u and in the Euclidean norm, which rotations
//                           keep: both are within 1.25 in each component, sqrt(2) 1.25 < 1.77; the anchor times a, itself within 1: two more; in
//                           each component the products are rounded, 1 together (Cauchy), and their sum, 1.  7.54 < t = 7.75
//                           A row that is turned from the one before (next_row-inl.h) has t = 1.01 for 32 bits, 66 for 16.
//   float, 16 bits, fast    the double's, rounded.                                                           t = 1 + 2^-26
//   double-double           settle.cpp's count, 150 u^2 of 256: vectors and scalars do the same operations
//
// Where pairs have powers of their own, a is the pair's, and so is the bound:
//
//   double, 16 and 32 bits  anchor and step are both multiplied by their own power, rounded, 1.77 + 2 each; the products 1 and their sum 1.
//                                                                                                        9.54 < t = 9.75
//   double-double           the rotation 128, its power 512, their product 8; as in settle.cpp the product with x 8, the sum 3, the bound 1: 660 u^2
//                           of 1024
//
// For a the bound has |c| + |s|: a is at most (1 + 2^-48) of that, which 0.25 / (t + 3) > 1/52 covers. Powers are
// within 2^+-560 (exponent_limit, and steps of at most 15 largest_pair_rate): no product with |x| <= 2^128 overflows,
// and 2^-149 2^-560 2^-53 is normal. A true power beyond is further from 1 than the one held. Where that one's interval
// is certified, it lies beyond the dtype's ends, on one side of zero, and so does the true value: |x0| + |x1| >= 2^-149
// makes bounds of 2^240 at the upper limit, |x| <= 2^128 values below 2^-311 at the lower.
//
// No product overflows: |x| <= 2^128 and a <= 2^20 in double. Underflow costs nothing where x has at most 32 bits
// (2^-149 2^-53 a is a normal double). In double-double, lanes whose m is near either end of the format are left to the
// next tier.

#if defined(SEXTANT_LIB_ROPE_TURN_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_TURN_PAIRS_INL_H_
#undef SEXTANT_LIB_ROPE_TURN_PAIRS_INL_H_
#else
#define SEXTANT_LIB_ROPE_TURN_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/rotations-inl.h"
#include "lib/rope/kernels.hpp"
#include "lib/rope/row-inl.h"
#include "lib/rope/settle.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// A zero has the sign that the formula gives it, from a row whose bound says that the signs of its entries are known.
inline SettledPair SettlePowered(const Row& row, std::size_t entry, std::size_t pair, double first, double second) {
  const double c = row.cos[entry];
  const double s = row.sin[entry];
  if (first == 0 && second == 0 && row.bounds[entry] < HUGE_VAL)
    return {first * c - second * s, first * s + second * c};
  return row.job->powers->settle(static_cast<std::int64_t>(pair), row.position, first, second);
}

/// Settles the lanes of `open` one by one: pair row.first_pair + i + lane, elements x0[lane], x1[lane], results to
/// y0[lane], y1[lane].
template <class Element>
HWY_NOINLINE void SettleLanes(const Row& row, std::size_t i, std::uint32_t open, const Element* x0, const Element* x1,
                              Element* y0, Element* y1) {
  const Doubles d;
  const RopeJob& job = *row.job;
  const auto bytes = [](auto* elements, std::size_t lane) {
    return reinterpret_cast<const std::byte*>(elements + lane);
  };
  for (std::size_t lane = 0; open != 0; ++lane, open >>= 1) {
    if ((open & 1) == 0) continue;
    // Lanes beyond the last pair repeat it.
    const std::size_t pair = std::min(row.first_pair + i + lane, job.frequencies->pairs() - 1);
    const double first = load(job.dtype, bytes(x0, lane));
    const double second = load(job.dtype, bytes(x1, lane));
    if (job.powers != nullptr) {
      const SettledPair y = SettlePowered(row, i + lane, pair, first, second);
      store(job.dtype, y.first, reinterpret_cast<std::byte*>(y0 + lane));
      store(job.dtype, y.second, reinterpret_cast<std::byte*>(y1 + lane));
      continue;
    }
    const std::int64_t position = PositionOf(row, pair);
    const std::size_t in_vector = pair % hn::Lanes(d);
    const PreciseRotation turn =
        PreciseRotationAt(*job.frequencies, pair - in_vector, split_position(position), unit_circle());
    alignas(64) double parts[4][FrequencyPieces::lanes];
    StorePrecise(turn, 0, parts[2], parts[0], parts[3], parts[1]);
    const SettledPair y = settle({job.encoding,
                                  job.factor,
                                  job.length,
                                  job.dtype,
                                  static_cast<std::int64_t>(pair),
                                  position,
                                  first,
                                  second,
                                  {parts[0][in_vector], parts[1][in_vector]},
                                  {parts[2][in_vector], parts[3][in_vector]}});
    store(job.dtype, y.first, reinterpret_cast<std::byte*>(y0 + lane));
    store(job.dtype, y.second, reinterpret_cast<std::byte*>(y1 + lane));
  }
}

/// Two vectors of elements, as bits.
template <class V>
struct PairOf {
  V first;
  V second;
};

/// Settles the lanes of a mask that are neither pairs of zeros, which turn into zeros, nor hold a NaN, which make NaN
/// of both. Under powers of pairs, zeros keep the sign that the formula gives them.
template <class DU, class M>
HWY_INLINE PairOf<hn::Vec<DU>> SettleMasked(DU du, const Row& row, std::size_t i, M open, const PairOf<hn::Vec<DU>>& x,
                                            PairOf<hn::Vec<DU>> y, hn::TFromD<DU> infinity, hn::TFromD<DU> quiet_nan) {
  using Element = hn::TFromD<DU>;
  // Unsigned comparison is by the sign bit's removal and a signed one: every target has that.
  const hn::RebindToSigned<DU> di;
  const auto magnitude = hn::Set(du, static_cast<Element>(~(Element{1} << (8 * sizeof(Element) - 1))));
  const auto first = hn::And(x.first, magnitude);
  const auto second = hn::And(x.second, magnitude);
  auto zero = hn::Eq(hn::Or(first, second), hn::Zero(du));
  if (row.job->powers != nullptr) zero = hn::AndNot(zero, zero);
  const auto limit = hn::BitCast(di, hn::Set(du, infinity));
  const auto nan =
      hn::RebindMask(du, hn::Or(hn::Gt(hn::BitCast(di, first), limit), hn::Gt(hn::BitCast(di, second), limit)));
  y.first = hn::IfThenElse(nan, hn::Set(du, quiet_nan), hn::IfThenZeroElse(zero, y.first));
  y.second = hn::IfThenElse(nan, hn::Set(du, quiet_nan), hn::IfThenZeroElse(zero, y.second));
  const auto rest = hn::AndNot(hn::Or(zero, nan), open);
  if (hn::AllFalse(du, rest)) return y;
  alignas(64) Element in[2][HWY_MAX_BYTES / sizeof(Element)];
  alignas(64) Element out[2][HWY_MAX_BYTES / sizeof(Element)];
  hn::Store(x.first, du, in[0]);
  hn::Store(x.second, du, in[1]);
  hn::Store(y.first, du, out[0]);
  hn::Store(y.second, du, out[1]);
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(du, rest, bits);
  const std::uint32_t lanes = (std::uint32_t{1} << hn::Lanes(du)) - 1;
  SettleLanes(row, i, (std::uint32_t{bits[0]} | std::uint32_t{bits[1]} << 8) & lanes, in[0], in[1], out[0], out[1]);
  return {hn::Load(du, out[0]), hn::Load(du, out[1])};
}

/// The pairs at the two pointers under Pairing::half, at the first of them under Pairing::interleaved.
template <Pairing pairing, class DE>
HWY_INLINE PairOf<hn::Vec<DE>> LoadPairs(DE de, const hn::TFromD<DE>* first, const hn::TFromD<DE>* second) {
  if constexpr (pairing == Pairing::half) return {hn::LoadU(de, first), hn::LoadU(de, second)};
  PairOf<hn::Vec<DE>> x{hn::Zero(de), hn::Zero(de)};
  hn::LoadInterleaved2(de, first, x.first, x.second);
  return x;
}

template <Pairing pairing, class DE>
HWY_INLINE void StorePairs(DE de, const PairOf<hn::Vec<DE>>& y, hn::TFromD<DE>* first, hn::TFromD<DE>* second) {
  if constexpr (pairing == Pairing::half) {
    hn::StoreU(y.first, de, first);
    hn::StoreU(y.second, de, second);
  } else {
    hn::StoreInterleaved2(y.first, y.second, de, first);
  }
}

template <class V>
HWY_INLINE PairOf<V> Turned(V x0, V x1, V c, V s) {
  return {hn::NegMulAdd(x1, s, hn::Mul(x0, c)), hn::MulAdd(x0, s, hn::Mul(x1, c))};
}

template <class V>
HWY_INLINE V Bound(V x0, V x1, V factor) {
  return hn::Mul(hn::Add(hn::Abs(x0), hn::Abs(x1)), factor);
}

/// float32 elements, in double.
template <class Bounds>
struct TurnFloat32 {
  static constexpr Dtype dtype = Dtype::float32;
  using Element = std::uint32_t;
  using DE = hn::Rebind<Element, Doubles>;
  using Pair = PairOf<hn::Vec<DE>>;

  template <Rounding rounding>
  static HWY_INLINE Pair Turn(const Row& row, std::size_t i, const Pair& x) {
    const Doubles d;
    const DE du;
    const hn::Rebind<float, Doubles> df;
    const auto x0 = hn::PromoteTo(d, hn::BitCast(df, x.first));
    const auto x1 = hn::PromoteTo(d, hn::BitCast(df, x.second));
    const auto y = Turned(x0, x1, hn::Load(d, row.cos + i), hn::Load(d, row.sin + i));
    if constexpr (rounding == Rounding::fast) {
      return {hn::BitCast(du, hn::DemoteTo(df, y.first)), hn::BitCast(du, hn::DemoteTo(df, y.second))};
    } else {
      const auto bound = Bound(x0, x1, Bounds::InDouble(d, row, i));
      const auto first = Float32::Certify(d, y.first, bound);
      const auto second = Float32::Certify(d, y.second, bound);
      const auto open = hn::Or(first.undecided, second.undecided);
      if (HWY_UNLIKELY(!hn::AllFalse(du, open))) {
        return SettleMasked(du, row, i, open, x, {first.bits, second.bits}, 0x7F800000U, 0x7FC00000U);
      }
      return {first.bits, second.bits};
    }
  }
};

/// float64 elements, in double-double; Rounding::fast is the same.
template <class Bounds>
struct TurnFloat64 {
  static constexpr Dtype dtype = Dtype::float64;
  using Element = std::uint64_t;
  using DE = hn::Rebind<Element, Doubles>;
  using Pair = PairOf<hn::Vec<DE>>;

  template <Rounding>
  static HWY_INLINE Pair Turn(const Row& row, std::size_t i, const Pair& x) {
    const Doubles d;
    const DE du;
    const auto x0 = hn::BitCast(d, x.first);
    const auto x1 = hn::BitCast(d, x.second);
    const DoubleDouble<DoubleVector> c{hn::Load(d, row.cos + i), hn::Load(d, row.cos_low + i)};
    const DoubleDouble<DoubleVector> s{hn::Load(d, row.sin + i), hn::Load(d, row.sin_low + i)};
    const auto size = hn::Add(hn::Abs(x0), hn::Abs(x1));
    const auto bound = hn::Mul(size, Bounds::InDouble(d, row, i));
    const auto first = Float64::Certify(d, Add(Multiply(c, x0), Negate(Multiply(s, x1))), bound);
    const auto second = Float64::Certify(d, Add(Multiply(s, x0), Multiply(c, x1)), bound);
    const auto inside =
        hn::And(hn::Ge(size, hn::Set(d, Bounds::least_size)), hn::Le(size, hn::Set(d, Bounds::largest_size)));
    const auto open = hn::Or(hn::Or(first.undecided, second.undecided), hn::RebindMask(du, hn::Not(inside)));
    if (HWY_UNLIKELY(!hn::AllFalse(du, open))) {
      return SettleMasked(du, row, i, open, x, {first.bits, second.bits}, std::uint64_t{0x7FF} << 52,
                          std::uint64_t{0xFFF} << 51);
    }
    return {first.bits, second.bits};
  }
};

/// 16-bit elements, in double, under either rounding.
template <class Type, class Bounds>
struct TurnNarrow {
  static constexpr Dtype dtype = Type::dtype;
  using Element = std::uint16_t;
  using DF = hn::CappedTag<float, 16>;
  using DE = hn::Rebind<Element, DF>;
  using Pair = PairOf<hn::Vec<DE>>;
  static constexpr bool is_float16 = Type::dtype == Dtype::float16;
  static constexpr Element infinity = is_float16 ? 0x7C00 : 0x7F80;
  static constexpr Element quiet_nan = is_float16 ? 0x7E00 : 0x7FC0;

  static HWY_INLINE hn::Vec<DF> Widened(hn::Vec<DE> x) { return WidenedToFloat(Type(), DF(), x); }

  static HWY_INLINE hn::Vec<hn::Rebind<std::uint32_t, DF>> Bits(hn::Vec<DF> value) {
    if constexpr (is_float16) return Float16Bits(DF(), value);
    return BFloat16Bits(DF(), value);
  }

  static HWY_INLINE hn::Vec<DE> Narrowed(hn::Vec<hn::Rebind<std::uint32_t, DF>> bits) {
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
    const auto bound = Bound(x0, x1, Bounds::InDouble(d, row, i));
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

  template <Rounding>
  static HWY_NOINLINE Pair Turn(const Row& row, std::size_t i, const Pair& x) {
    const DF df;
    const DE de;
    const hn::Rebind<std::uint32_t, DF> du;
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
    const auto first = Bits(Joined(later.upper.first, earlier.upper.first));
    const auto second = Bits(Joined(later.upper.second, earlier.upper.second));
    const auto first_below = Bits(Joined(later.lower.first, earlier.lower.first));
    const auto second_below = Bits(Joined(later.lower.second, earlier.lower.second));
    // NaN and infinity are told by x, since they pass the comparison of bits; each by itself, since some targets'
    // greater of a NaN and a number is the number.
    const auto largest = Bounds::Largest(df, row, i);
    const auto finite = hn::And(hn::Le(hn::Abs(x0), largest), hn::Le(hn::Abs(x1), largest));
    const auto open =
        hn::Or(hn::Or(hn::Ne(first, first_below), hn::Ne(second, second_below)), hn::RebindMask(du, hn::Not(finite)));
    const Pair y{Narrowed(first), Narrowed(second)};
    if (HWY_LIKELY(hn::AllFalse(du, open))) return y;
    const auto narrow_open = hn::Ne(Narrowed(hn::IfThenElseZero(open, hn::Set(du, 1))), hn::Zero(de));
    return SettleMasked(de, row, i, narrow_open, x, y, infinity, quiet_nan);
  }
};

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
