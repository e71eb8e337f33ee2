// The bounds of a row whose pairs have powers of their own, for one Highway target. Included inside HWY_NAMESPACE by a
// file that is compiled once per target.
//
//   1. The bound of a pair is a constant times |cos| + |sin| of its entries, which have its power in them.
//   2. It is infinite, so that nothing of the pair is certified, where it does not tell the sign of an entry, and of
//      float64 where double-double would leave its range.
//   3. 16-bit elements also have the largest element that may be decided, and whether the quick tier's conditions hold
//      for all pairs.
//
// docs/proofs/rope.md, steps 6 to 8 and 14, has the derivation.

#if defined(SEXTANT_LIB_ROPE_KERNELS_PAIR_BOUNDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_PAIR_BOUNDS_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_PAIR_BOUNDS_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_PAIR_BOUNDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "lib/kernels/rotations-inl.h"
#include "lib/rope/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// The bounds of pairs with powers, from cos and sin. Where a bound does not tell the sign of an entry, on which the
/// sign of a zero hangs, and where double-double would leave its range, it is infinite, and nothing of that pair is
/// certified.
template <Dtype dtype, class Row>
void FillPairBounds(std::size_t count, Row& row) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  constexpr bool precise = dtype == Dtype::float64;
  const DoubleVector of_size = hn::Set(d, precise ? 0x1p-96 : 13 * 0x1p-53);
  const DoubleVector infinity = hn::Set(d, HUGE_VAL);
  const DoubleVector none = hn::Set(d, -1.0);
  bool quick = true;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const DoubleVector c = hn::Abs(hn::Load(d, row.cos + i));
    const DoubleVector s = hn::Abs(hn::Load(d, row.sin + i));
    const DoubleVector size = hn::Add(c, s);
    const DoubleVector bound = hn::Mul(size, of_size);
    // At position 0 the sine is 0 itself; a pair that stands is copied.
    auto known = row.position == 0 ? hn::Eq(size, size) : hn::Gt(hn::Min(c, s), bound);
    if (precise) known = hn::And(known, hn::And(hn::Gt(size, hn::Set(d, 0x1p-498)), hn::Lt(size, hn::Set(d, 0x1p499))));
    hn::Store(hn::IfThenElse(known, bound, infinity), d, row.bounds.bounds + i);
    if (size_of(dtype) > 2) continue;
    quick = quick && hn::AllTrue(d, hn::And(hn::Ge(size, hn::Set(d, 0x1p-60)), hn::Le(size, hn::Set(d, 0x1p60))));
    hn::Store(hn::DemoteTo(
                  df, hn::IfThenElse(known, hn::Set(d, static_cast<double>(std::numeric_limits<float>::max())), none)),
              df, row.bounds.largests + i);
  }
  row.quick = quick;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
