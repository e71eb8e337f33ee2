// A row in double from an anchor and a step, or from the row before, for one Highway target. Included inside
// HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. The anchor of a position is the multiple of StepRotations::count at or below it: the rotation there, from the
//      exact phase, times the attention factor. It is kept while tokens have the same one.
//   2. A row is the product of its anchor and of the step from there, which a table has.
//   3. Equally spaced tokens turn the row before instead, as many times as its bound allows (next_row-inl.h).
//   4. Pairs of several axes each have the anchor and the step of their own coordinate (axes-inl.h); pairs with powers
//      have them in both.
//
// docs/proofs/rope.md, steps 3, 4 and 6, has the bounds.

#if defined(SEXTANT_LIB_ROPE_KERNELS_ANCHORED_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_ANCHORED_ROW_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_ANCHORED_ROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_ANCHORED_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

#include "lib/kernels/powers-inl.h"
#include "lib/kernels/rotations-inl.h"
#include "lib/rope/kernels/axes-inl.h"
#include "lib/rope/kernels/next_row-inl.h"
#include "lib/rope/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// How far the row's position is from its anchor's.
template <class Row>
HWY_INLINE std::int64_t StepOf(const Row& row) {
  return row.position & (StepRotations::count - 1);
}

/// Makes the anchor that of row.position; false where it was already.
template <class Row>
bool FillAnchor(const RowSource& source, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  const PairTurns& turns = source.turns;
  const std::int64_t position = row.position - StepOf(row);
  if (position == row.anchor_position) return false;
  DoubleVector scale = hn::Set(d, turns.factor.high);
  const SplitPosition anchor = split_position(position);
  DoubleVector counted = hn::Set(d, anchor.nearest);
  if constexpr (Row::Bounds::of_pairs) counted = hn::Set(d, static_cast<double>(position - turns.powers->origin));
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Rotation z = RotationAt(*turns.frequencies, first_pair + i, anchor, unit_circle());
    if constexpr (Row::Bounds::of_pairs)
      scale = PowerInDoubleAt(*turns.powers->rates, first_pair + i, counted, binary_powers());
    StoreRotation({hn::Mul(z.sin, scale), hn::Mul(z.cos, scale)}, i, row.anchor_cos, row.anchor_sin);
  }
  row.anchor_position = turns.frequencies->pairs() > rope_tile_pairs ? Row::none : position;
  return true;
}

template <class Row>
void FillFromAnchor(const RowSource& source, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  FillAnchor(source, first_pair, count, row);
  const StepGroup* const groups = source.turns.steps->at(StepOf(row)) + first_pair / FrequencyPieces::lanes;
  DoubleVector least = hn::Set(d, 1.0);
  DoubleVector most = least;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const StepGroup& group = groups[i / FrequencyPieces::lanes];
    const Rotation turn = LoadRotation(i % FrequencyPieces::lanes, group.cos.data(), group.sin.data());
    const Rotation z = Multiply(LoadRotation(i, row.anchor_cos, row.anchor_sin), turn);
    StoreRotation(z, i, row.cos, row.sin);
    if constexpr (Row::Bounds::of_pairs) {
      const DoubleVector size = hn::Add(hn::Abs(z.cos), hn::Abs(z.sin));
      least = hn::Min(least, size);
      most = hn::Max(most, size);
    }
  }
  // The powers that the quick tiers take (docs/proofs/rope.md, step 14).
  if constexpr (Row::Bounds::of_pairs)
    row.quick = hn::AllTrue(d, hn::And(hn::Ge(least, hn::Set(d, 0x1p-60)), hn::Le(most, hn::Set(d, 0x1p60))));
}

/// The row of a tile for one token, with the bound that its pairs share.
template <class Row>
void FillAnchoredRow(const RowSource& source, std::int64_t token, std::size_t first_pair, std::size_t count, Row& row) {
  const std::int64_t before = row.position;
  const std::int64_t token_before = row.token;
  BeginRow(source, token, first_pair, row);
  const PairTurns& turns = source.turns;
  const bool ordinary = IsOrdinary(turns.factor);
  row.quick = ordinary;
  if constexpr (Row::Bounds::of_pairs) {
    FillFromAnchor(source, first_pair, count, row);
  } else {
    row.bounds.bound = 11 * 0x1p-53 * (ordinary ? turns.factor.high : HUGE_VAL);
    if (turns.axes != nullptr) return FillAnchoredRowOfAxes(source, token_before, first_pair, count, row);
    const bool turned = ordinary && before != Row::none && TurnsRows<Row>(source) &&
                        FillFromRowBefore(source, row.position - before, count, row);
    if (!turned) FillFromAnchor(source, first_pair, count, row);
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
