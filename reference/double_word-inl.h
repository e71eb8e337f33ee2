// Double-word arithmetic for one Highway target: included inside HWY_NAMESPACE by a file that is compiled once per
// target.
//
// The algorithms of Joldes, Muller and Popescu 2017, "Tight and rigorous error bounds for basic building blocks of
// double-word arithmetic" (ACM TOMS 44:2, hal-01351529), by their names and numbers there. A double word is the
// unevaluated sum high + low with high = RN(high + low), so that |low| <= u |high|, u = 2^-53. Bounds are proved in
// docs/proofs/fast-rotations.md, steps 1 to 4, for rounding to nearest, without underflow or overflow.

#if defined(SEXTANT_REFERENCE_DOUBLE_WORD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_DOUBLE_WORD_INL_H_
#undef SEXTANT_REFERENCE_DOUBLE_WORD_INL_H_
#else
#define SEXTANT_REFERENCE_DOUBLE_WORD_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::reference::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct DoubleWord {
  V high;
  V low;
};

/// Algorithm 1, Fast2Sum: a + b exactly, where a = 0 or |a| >= |b|.
template <class V>
HWY_INLINE DoubleWord<V> Fast2Sum(V a, V b) {
  const V sum = hn::Add(a, b);
  const V taken = hn::Sub(sum, a);
  return {sum, hn::Sub(b, taken)};
}

/// Algorithm 2, 2Sum: a + b exactly.
template <class V>
HWY_INLINE DoubleWord<V> TwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  const V a_taken = hn::Sub(sum, b);
  const V b_taken = hn::Sub(sum, a_taken);
  return {sum, hn::Add(hn::Sub(a, a_taken), hn::Sub(b, b_taken))};
}

/// Algorithm 3, 2Prod: a * b exactly. Where the target has no fused operation, Dekker's product of halves that
/// Veltkamp's splitting makes.
template <class V>
HWY_INLINE DoubleWord<V> TwoProd(V a, V b) {
  const V product = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  return {product, hn::MulSub(a, b, product)};
#else
  const auto half = [](V x) {
    const V wide = hn::Mul(x, hn::Set(hn::DFromV<V>(), 0x1p27 + 1));
    return hn::Add(wide, hn::Sub(x, wide));
  };
  const V a_half = half(a);
  const V b_half = half(b);
  const V a_rest = hn::Sub(a, a_half);
  const V b_rest = hn::Sub(b, b_half);
  V low = hn::Sub(hn::Mul(a_half, b_half), product);
  low = hn::Add(low, hn::Mul(a_half, b_rest));
  low = hn::Add(low, hn::Mul(a_rest, b_half));
  return {product, hn::Add(low, hn::Mul(a_rest, b_rest))};
#endif
}

/// Algorithm 4, DWPlusFP, for 2 |y| <= |x.high|: within 3 u^2 |x|.
template <class V>
HWY_INLINE DoubleWord<V> AddSmaller(const DoubleWord<V>& x, V y) {
  const DoubleWord<V> highs = Fast2Sum(x.high, y);
  return Fast2Sum(highs.high, hn::Add(x.low, highs.low));
}

/// Algorithm 6, AccurateDWPlusDW: within 3 u^2 + 13 u^3 of |x + y|, relatively, whatever cancels.
template <class V>
HWY_INLINE DoubleWord<V> Add(const DoubleWord<V>& x, const DoubleWord<V>& y) {
  const DoubleWord<V> highs = TwoSum(x.high, y.high);
  const DoubleWord<V> lows = TwoSum(x.low, y.low);
  const DoubleWord<V> middle = Fast2Sum(highs.high, hn::Add(highs.low, lows.high));
  return Fast2Sum(middle.high, hn::Add(lows.low, middle.low));
}

template <class V>
HWY_INLINE DoubleWord<V> Subtract(const DoubleWord<V>& x, const DoubleWord<V>& y) {
  return Add(x, DoubleWord<V>{hn::Neg(y.high), hn::Neg(y.low)});
}

/// Algorithms 12, DWTimesDW3, and without fused operations 10, DWTimesDW1: within 8.01 u^2 |x y|.
template <class V>
HWY_INLINE DoubleWord<V> Multiply(const DoubleWord<V>& x, const DoubleWord<V>& y) {
  const DoubleWord<V> highs = TwoProd(x.high, y.high);
#if HWY_NATIVE_FMA
  const V mixed = hn::MulAdd(x.low, y.high, hn::MulAdd(x.high, y.low, hn::Mul(x.low, y.low)));
#else
  const V mixed = hn::Add(hn::Mul(x.high, y.low), hn::Mul(x.low, y.high));
#endif
  return Fast2Sum(highs.high, hn::Add(highs.low, mixed));
}

}  // namespace sextant::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
