// A row in double-double, for one Highway target. Included inside HWY_NAMESPACE by a file that is compiled once per
// target.
//
//   1. cos and sin of each pair at the row's position come from the exact phase (lib/kernels/rotations-inl.h).
//   2. They are multiplied by the attention factor, or by the pair's power at the distance from the powers' origin.
//
// docs/proofs/rope.md, steps 5 and 7, has the bounds.

#if defined(SEXTANT_LIB_ROPE_KERNELS_PRECISE_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_PRECISE_ROW_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_PRECISE_ROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_PRECISE_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include "lib/kernels/powers-inl.h"
#include "lib/kernels/rotations-inl.h"
#include "lib/rope/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// The row at its position: a cos and a sin, or those times the pairs' powers.
template <class Row>
void FillPreciseRow(const RowSource& source, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  const PairTurns& turns = source.turns;
  DoubleDouble<DoubleVector> scale{hn::Set(d, turns.factor.high), hn::Set(d, turns.factor.low)};
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const PreciseRotation turn =
        PreciseRotationAt(*turns.frequencies, first_pair + i, split_position(row.position), unit_circle());
    if constexpr (Row::Bounds::of_pairs)
      scale = PowerAt(*turns.powers->rates, first_pair + i,
                      hn::Set(d, static_cast<double>(row.position - turns.powers->origin)), binary_powers());
    StorePrecise({Multiply(turn.sin, scale), Multiply(turn.cos, scale)}, i, row.cos, row.sin, row.cos_low, row.sin_low);
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
