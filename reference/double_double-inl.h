// Double-double arithmetic for one Highway target: included inside HWY_NAMESPACE by a file that is compiled once per
// target.
//
// A number is the unevaluated sum high + low with |low| <= u |high|, u = 2^-53. All error bounds are in units of u^2 =
// 2^-106, to first order; whoever chains them adds a margin for the rest. Nothing here overflows or underflows: values
// come from angles of at least 2^-192 turn and at most one, so products of two highs are above 2^-400. Rounding is to
// nearest and -ffp-contract is off.

#if defined(SEXTANT_REFERENCE_DOUBLE_DOUBLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_DOUBLE_DOUBLE_INL_H_
#undef SEXTANT_REFERENCE_DOUBLE_DOUBLE_INL_H_
#else
#define SEXTANT_REFERENCE_DOUBLE_DOUBLE_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::reference::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct DoubleDouble {
  V high;
  V low;
};

/// a + b exactly (Dekker 1971), if |a| >= |b| or a = 0.
template <class V>
HWY_INLINE DoubleDouble<V> FastTwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}

/// a + b exactly (Knuth 1969).
template <class V>
HWY_INLINE DoubleDouble<V> TwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  const V b_part = hn::Sub(sum, a);
  const V a_part = hn::Sub(sum, b_part);
  return {sum, hn::Add(hn::Sub(a, a_part), hn::Sub(b, b_part))};
}

/// a * b exactly: by a fused operation where the target has one, else by Dekker's splitting in 26 and 27 bits.
template <class V>
HWY_INLINE DoubleDouble<V> TwoProduct(V a, V b) {
  const V product = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  return {product, hn::MulSub(a, b, product)};
#else
  const hn::DFromV<V> d;
  const V splitter = hn::Set(d, 0x1p27 + 1);
  const V a_scaled = hn::Mul(a, splitter);
  const V a_high = hn::Sub(a_scaled, hn::Sub(a_scaled, a));
  const V a_low = hn::Sub(a, a_high);
  const V b_scaled = hn::Mul(b, splitter);
  const V b_high = hn::Sub(b_scaled, hn::Sub(b_scaled, b));
  const V b_low = hn::Sub(b, b_high);
  const V error = hn::Sub(hn::Sub(hn::Sub(hn::Mul(a_high, b_high), product), hn::Neg(hn::Mul(a_low, b_high))),
                          hn::Neg(hn::Mul(a_high, b_low)));
  return {product, hn::Add(error, hn::Mul(a_low, b_low))};
#endif
}

/// x + y with an absolute error of at most 3 u^2 (|x| + |y|): low parts add with error u (u|x| + u|y|); that sum and
/// the low of the highs' exact sum, below u|x+y| + u|x| + u|y|, with error 2 u^2 (|x| + |y|); the final renormalisation
/// is exact, by TwoSum, since after cancellation the highs' sum may be smaller than the lows.
template <class V>
HWY_INLINE DoubleDouble<V> Add(const DoubleDouble<V>& x, const DoubleDouble<V>& y) {
  const DoubleDouble<V> sum = TwoSum(x.high, y.high);
  return TwoSum(sum.high, hn::Add(sum.low, hn::Add(x.low, y.low)));
}

template <class V>
HWY_INLINE DoubleDouble<V> Negate(const DoubleDouble<V>& x) {
  return {hn::Neg(x.high), hn::Neg(x.low)};
}

/// x * y with a relative error of at most 8 u^2: the product of the lows, left out, is u^2; the two mixed products are
/// rounded (one where operations are fused), u^2 each; their sum, at most 2u, is rounded, 2 u^2; adding the high
/// product's exact low, at most u more, is rounded, 3 u^2.
template <class V>
HWY_INLINE DoubleDouble<V> Multiply(const DoubleDouble<V>& x, const DoubleDouble<V>& y) {
  const DoubleDouble<V> product = TwoProduct(x.high, y.high);
  const V mixed = hn::MulAdd(x.high, y.low, hn::Mul(x.low, y.high));
  return FastTwoSum(product.high, hn::Add(product.low, mixed));
}

}  // namespace sextant::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
