// Double-double arithmetic for one Highway target: included inside HWY_NAMESPACE by a file that is compiled once per
// target.
//
// A number is the unevaluated sum high + low, normal if |low| <= u |high|, u = 2^-53. Bounds are in units of u^2 =
// 2^-106, to first order; whoever chains them leaves a margin for the rest. Rounding is to nearest, with subnormals
// (standard_arithmetic.hpp), and -ffp-contract is off. The bounds hold while no product of two highs overflows or falls
// below 2^-968 (where its low part would be subnormal): callers state why theirs do not.

#if defined(SEXTANT_LIB_KERNELS_DOUBLE_DOUBLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_KERNELS_DOUBLE_DOUBLE_INL_H_
#undef SEXTANT_LIB_KERNELS_DOUBLE_DOUBLE_INL_H_
#else
#define SEXTANT_LIB_KERNELS_DOUBLE_DOUBLE_INL_H_
#endif

#include <hwy/highway.h>

#include "lib/numeric/standard_arithmetic.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct DoubleDouble {
  V high;
  V low;
};

/// a + b exactly, if |a| >= |b| or a = 0 (Dekker 1971).
template <class V>
HWY_INLINE DoubleDouble<V> FastTwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}

/// a + b exactly (Knuth 1969, The Art of Computer Programming 2, section 4.2.2, theorem B).
template <class V>
HWY_INLINE DoubleDouble<V> TwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  const V of_b = hn::Sub(sum, a);
  const V of_a = hn::Sub(sum, of_b);
  return {sum, hn::Add(hn::Sub(a, of_a), hn::Sub(b, of_b))};
}

/// a * b exactly: by one fused operation where the target has it, else with both factors split in halves of 26 bits
/// (Dekker 1971), which needs |a|, |b| < 2^996.
template <class V>
HWY_INLINE DoubleDouble<V> TwoProduct(V a, V b) {
  const V product = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  return {product, hn::MulSub(a, b, product)};
#else
  const V splitter = hn::Set(hn::DFromV<V>(), 0x1p27 + 1);
  const V a_scaled = hn::Mul(a, splitter);
  const V b_scaled = hn::Mul(b, splitter);
  const V a_high = hn::Sub(a_scaled, hn::Sub(a_scaled, a));
  const V b_high = hn::Sub(b_scaled, hn::Sub(b_scaled, b));
  const V a_low = hn::Sub(a, a_high);
  const V b_low = hn::Sub(b, b_high);
  // Each partial product is exact in 53 bits, and so is each sum in this order.
  const V rest = hn::Sub(hn::Mul(a_high, b_high), product);
  const V mixed = hn::Add(hn::Add(rest, hn::Mul(a_high, b_low)), hn::Mul(a_low, b_high));
  return {product, hn::Add(mixed, hn::Mul(a_low, b_low))};
#endif
}

/// x + y, normal, within 3 (|x| + |y|): the lows, at most u|x| and u|y|, add within 1 (|x| + |y|); their sum and the
/// low of the exact sum of the highs, together at most 2u (|x| + |y|), add within 2 (|x| + |y|); the last TwoSum is
/// exact, whatever has cancelled.
template <class V>
HWY_INLINE DoubleDouble<V> Add(const DoubleDouble<V>& x, const DoubleDouble<V>& y) {
  const DoubleDouble<V> highs = TwoSum(x.high, y.high);
  return TwoSum(highs.high, hn::Add(highs.low, hn::Add(x.low, y.low)));
}

template <class V>
HWY_INLINE DoubleDouble<V> Negate(const DoubleDouble<V>& x) {
  return {hn::Neg(x.high), hn::Neg(x.low)};
}

/// x * y, normal, within 8 |x y|: the product of the lows, left out, is 1; the mixed products are at most u|x y| each,
/// rounded once or, without fused operations, twice: 2; their sum, at most 2u, is rounded: 2; the exact low of the
/// highs' product, u, joins it: 3.
template <class V>
HWY_INLINE DoubleDouble<V> Multiply(const DoubleDouble<V>& x, const DoubleDouble<V>& y) {
  const DoubleDouble<V> highs = TwoProduct(x.high, y.high);
  const V mixed = hn::MulAdd(x.high, y.low, hn::Mul(x.low, y.high));
  return FastTwoSum(highs.high, hn::Add(highs.low, mixed));
}

/// x * y for a double y, normal, within 5 |x y|: x.low y is rounded once or twice, 2; its sum with the exact low, at
/// most 2u, 2; margin 1.
template <class V>
HWY_INLINE DoubleDouble<V> Multiply(const DoubleDouble<V>& x, V y) {
  const DoubleDouble<V> highs = TwoProduct(x.high, y);
  return FastTwoSum(highs.high, hn::MulAdd(x.low, y, highs.low));
}

/// a b + c d within 20 m, m = |a b| + |c d|. The exact lows of the products and the mixed products join in two
/// roundings of at most 2u and 3u of |a b|, and of |c d|, and 2 more where operations are not fused: 7 m; their sum, 3;
/// the exact low of the highs' sum, at most u m, joins them: 4; the products of the lows, left out: 1. Where the highs
/// cancel to less than `low`, at most 4u m, so that the last addition is not Dekker's case, it still loses no more than
/// u |low|, the rounding of sum - a: 4.
template <class V>
HWY_INLINE DoubleDouble<V> SumOfProducts(const DoubleDouble<V>& a, const DoubleDouble<V>& b, const DoubleDouble<V>& c,
                                         const DoubleDouble<V>& d) {
  const DoubleDouble<V> first = TwoProduct(a.high, b.high);
  const DoubleDouble<V> second = TwoProduct(c.high, d.high);
  const DoubleDouble<V> highs = TwoSum(first.high, second.high);
  const V first_mixed = hn::MulAdd(a.high, b.low, hn::MulAdd(a.low, b.high, first.low));
  const V second_mixed = hn::MulAdd(c.high, d.low, hn::MulAdd(c.low, d.high, second.low));
  const V low = hn::Add(highs.low, hn::Add(first_mixed, second_mixed));
  return FastTwoSum(highs.high, low);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
