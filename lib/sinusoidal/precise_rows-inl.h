// Rows of float64 on both sides of an anchor, for one Highway target: included inside HWY_NAMESPACE by a file that is
// compiled once per target.
//
//   1. The rows j after and j before an anchor are sums and differences of the same four products in double-double.
//   2. A sum is left as the highs' rounded sum and all that is small beside it, which is what the certificate needs:
//      the value is decided where both ends of the bound, added to the small part, give the same double.
//   3. A vector of pairs that is not decided is done again with care (row-inl.h).
//
// docs/proofs/sinusoidal-rows.md, step 2, has the bound.

#if defined(SEXTANT_LIB_SINUSOIDAL_PRECISE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_PRECISE_ROWS_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_PRECISE_ROWS_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_PRECISE_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cmath>

#include "lib/sinusoidal/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// a b: the highs' product, rounded, and what it lacks but for the product of the lows. Not normal.
HWY_INLINE DoubleDouble<DoubleVector> LooseProduct(const DoubleDouble<DoubleVector>& a,
                                                   const DoubleDouble<DoubleVector>& b) {
  const DoubleDouble<DoubleVector> highs = TwoProduct(a.high, b.high);
  return {highs.high, hn::MulAdd(a.high, b.low, hn::MulAdd(a.low, b.high, highs.low))};
}

/// a + b, not normal either: SumOfProducts without its last step.
HWY_INLINE DoubleDouble<DoubleVector> LooseSum(const DoubleDouble<DoubleVector>& a,
                                               const DoubleDouble<DoubleVector>& b) {
  const DoubleDouble<DoubleVector> highs = TwoSum(a.high, b.high);
  return {highs.high, hn::Add(highs.low, hn::Add(a.low, b.low))};
}

/// a - b, with the bits of LooseSum(a, Negate(b)).
HWY_INLINE DoubleDouble<DoubleVector> LooseDifference(const DoubleDouble<DoubleVector>& a,
                                                      const DoubleDouble<DoubleVector>& b) {
  const DoubleVector high = hn::Sub(a.high, b.high);
  const DoubleVector of_b = hn::Sub(high, a.high);
  const DoubleVector lost = hn::Sub(hn::Sub(a.high, hn::Sub(high, of_b)), hn::Add(b.high, of_b));
  return {high, hn::Add(lost, hn::Sub(a.low, b.low))};
}

/// Does one vector of pairs again.
template <Order order, Caching caching>
HWY_NOINLINE bool PutPreciselyAgain(const RowOf& row, std::size_t i, const RowPlace<Float64>& place) {
  return PutCertified<Float64, order, caching>(row, TurnedTo<Float64>(row, i), i, place, i);
}

/// The rows at 1 to `count` rows after the anchors' and at as many before, `stride` elements from each other. The scale
/// is moderate.
template <Rounding rounding, Order order, Caching caching>
HWY_NOINLINE bool EncodeBothSidesPrecisely(const RowOf& middle, const RowPlace<Float64>& place, std::size_t stride,
                                           std::int64_t count) {
  const Doubles d;
  const BitsTag<Float64> bits;
  const DoubleVector bound = hn::Set(d, 0x1p-93 * std::fabs(middle.plan.encoding.scale));
  const Anchors& anchors = middle.anchors;
  bool decided = true;
  const auto moved = [&](std::ptrdiff_t elements) HWY_ATTR {
    return RowPlace<Float64>{place.sin + elements, place.cos + elements, place.earlier};
  };
  for (std::int64_t offset = 1; offset <= count; ++offset) {
    const std::ptrdiff_t distance = offset * static_cast<std::ptrdiff_t>(stride);
    const RowPlace<Float64> after = moved(distance);
    const RowPlace<Float64> before = moved(-distance);
    const std::size_t first_step = middle.plan.step_at(offset, middle.tile.first);
    const double* const step_high = middle.plan.step_high[first_step].sin.data();
    const double* const step_low = middle.plan.step_low[first_step].sin.data();
    for (std::size_t i = 0; i < middle.tile.padded; i += hn::Lanes(d)) {
      // One level of vectors: GCC writes nested ones to memory that it never reads.
      const auto anchor = [&](const std::array<double, tile_pairs>& high,
                              const std::array<double, tile_pairs>& low) HWY_ATTR {
        return DoubleDouble<DoubleVector>{hn::Load(d, high.data() + i), hn::Load(d, low.data() + i)};
      };
      const DoubleDouble<DoubleVector> z_sin = anchor(anchors.sin_high, anchors.sin_low);
      const DoubleDouble<DoubleVector> z_cos = anchor(anchors.cos_high, anchors.cos_low);
      const std::size_t at_sin = StepOffset(i);
      const std::size_t at_cos = at_sin + FrequencyPieces::lanes;
      const DoubleDouble<DoubleVector> step_sin{hn::Load(d, step_high + at_sin), hn::Load(d, step_low + at_sin)};
      const DoubleDouble<DoubleVector> step_cos{hn::Load(d, step_high + at_cos), hn::Load(d, step_low + at_cos)};
      const DoubleDouble<DoubleVector> sin_cos = LooseProduct(z_sin, step_cos);
      const DoubleDouble<DoubleVector> cos_sin = LooseProduct(z_cos, step_sin);
      const DoubleDouble<DoubleVector> cos_cos = LooseProduct(z_cos, step_cos);
      const DoubleDouble<DoubleVector> sin_sin = LooseProduct(z_sin, step_sin);
      const auto upper = [&](const DoubleDouble<DoubleVector>& value) HWY_ATTR {
        if constexpr (rounding == Rounding::fast) return hn::Add(value.high, value.low);
        return hn::Add(value.high, hn::Add(value.low, bound));
      };
      const auto is_open = [&](const DoubleDouble<DoubleVector>& value, DoubleVector end)
                               HWY_ATTR { return hn::Ne(hn::Add(value.high, hn::Sub(value.low, bound)), end); };
      const auto put = [&](const DoubleDouble<DoubleVector>& sin, const DoubleDouble<DoubleVector>& cos,
                           const RowPlace<Float64>& to) HWY_ATTR {
        const DoubleVector sin_end = upper(sin);
        const DoubleVector cos_end = upper(cos);
        Put<Float64, order, caching>({hn::BitCast(bits, sin_end), hn::BitCast(bits, cos_end)}, i, to);
        return hn::Or(is_open(sin, sin_end), is_open(cos, cos_end));
      };
      const auto open_after = put(LooseSum(sin_cos, cos_sin), LooseDifference(cos_cos, sin_sin), after);
      const auto open_before = put(LooseDifference(sin_cos, cos_sin), LooseSum(cos_cos, sin_sin), before);
      if (rounding == Rounding::fast || HWY_LIKELY(hn::AllFalse(d, hn::Or(open_after, open_before)))) continue;
      const auto again = [&](std::int64_t at, const RowPlace<Float64>& where) {
        return PutPreciselyAgain<order, caching>({middle.plan, middle.tile, middle.anchors, middle.anchor, at}, i,
                                                 where);
      };
      decided &= again(offset, after);
      decided &= again(-offset, before);
    }
  }
  return decided;
}

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
