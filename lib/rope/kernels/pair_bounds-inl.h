// The bounds of a row whose pairs have powers of their own, for one Highway target. Included inside HWY_NAMESPACE by a
// file that is compiled once per target.
//
//   1. The bound of a pair is a constant times |cos| + |sin| of its entries, which have its power in them.
//   2. It is infinite, so that nothing of the pair is certified, where it does not tell the sign of an entry, on which
//      the sign of a zero hangs, and of float64 where double-double would leave its range.
//   3. float64, whose quick tier reads the bound of every vector, keeps them with the row. The others ask only for that
//      of a vector that the quick tier leaves open.
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

#include "lib/kernels/rotations-inl.h"
#include "lib/rope/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// The bound of each pair of a row by |x0| + |x1|, entries i to i + lanes - 1.
template <Dtype dtype, class Row>
HWY_INLINE DoubleVector BoundAt(const Row& row, std::size_t i) {
  const Doubles d;
  if constexpr (!Row::Bounds::of_pairs) {
    return hn::Set(d, row.bounds.bound);
  } else {
    constexpr bool precise = dtype == Dtype::float64;
    const DoubleVector c = hn::Abs(hn::LoadU(d, row.cos + i));
    const DoubleVector s = hn::Abs(hn::LoadU(d, row.sin + i));
    const DoubleVector size = hn::Add(c, s);
    const DoubleVector bound = hn::Mul(size, hn::Set(d, precise ? 0x1p-96 : 13 * 0x1p-53));
    // At position 0 the sine is 0 itself; a pair that stands is copied.
    auto known = row.position == 0 ? hn::Eq(size, size) : hn::Gt(hn::Min(c, s), bound);
    if (precise) known = hn::And(known, hn::And(hn::Gt(size, hn::Set(d, 0x1p-498)), hn::Lt(size, hn::Set(d, 0x1p499))));
    return hn::IfThenElse(known, bound, hn::Set(d, HUGE_VAL));
  }
}

/// The bounds that float64 keeps.
template <class Row>
void FillPairBounds(std::size_t count, Row& row) {
  const Doubles d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d))
    hn::Store(BoundAt<Dtype::float64>(row, i), d, row.bounds.bounds + i);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
