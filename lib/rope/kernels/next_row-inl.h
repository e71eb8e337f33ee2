// Rows of equally spaced positions, each turned from the one before, for one Highway target. Included inside
// HWY_NAMESPACE by a file that is compiled once per target. docs/proofs/rope.md, step 4, has the errors.
//
// A token's heads pass through the first-level cache between two rows. What every row needs is still there, the row
// before and the rotation by which they differ; of a table of rotations each entry has left it, and sixteen misses a
// token are felt where memory is busy.
//
// A row type says `precise` (whether it is turned in double-double), `element_bytes`, and how many rows are turned from
// each other at most.

#if defined(SEXTANT_LIB_ROPE_KERNELS_NEXT_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_NEXT_ROW_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_NEXT_ROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_NEXT_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/kernels/rotations-inl.h"
#include "lib/rope/kernels/precise_row-inl.h"
#include "lib/rope/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Whether rows are turned from each other where they can be. Values of Rounding::fast depend on a row's last bits and
/// must not on the token before.
template <class Row>
HWY_INLINE bool TurnsRows(const RowSource& source) {
  // 16 times as much is more than a first-level cache.
  constexpr std::int64_t least_bytes_per_row = 4096;
  const PairTurns& turns = source.turns;
  const std::int64_t bytes =
      source.heads_per_row * 2 * static_cast<std::int64_t>(turns.frequencies->pairs() * Row::element_bytes);
  return source.rounding == Rounding::certified && turns.axes == nullptr && turns.powers == nullptr &&
         turns.frequencies->pairs() <= rope_tile_pairs && bytes >= least_bytes_per_row;
}

/// The rotation by the distance from one row's position to the next.
template <class Row>
void FillStep(const RowSource& source, std::int64_t distance, std::size_t count, Row& row) {
  if (row.step_distance == distance) return;
  for (std::size_t i = 0; i < count; i += hn::Lanes(Doubles())) {
    const PreciseRotation step =
        PreciseRotationAt(*source.turns.frequencies, i, split_position(distance), unit_circle());
    if constexpr (Row::precise) {
      StorePrecise(step, i, row.step_cos, row.step_sin, row.step_cos_low, row.step_sin_low);
    } else {
      StoreRotation({step.sin.high, step.cos.high}, i, row.step_cos, row.step_sin);
    }
  }
  row.step_distance = distance;
}

/// The row turned by the step.
template <class Row>
void TurnRow(std::size_t count, Row& row) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(Doubles())) {
    if constexpr (Row::precise) {
      const PreciseRotation z = LoadPrecise(i, row.cos, row.sin, row.cos_low, row.sin_low);
      const PreciseRotation step = LoadPrecise(i, row.step_cos, row.step_sin, row.step_cos_low, row.step_sin_low);
      StorePrecise(Multiply(z, step), i, row.cos, row.sin, row.cos_low, row.sin_low);
    } else {
      StoreRotation(Multiply(LoadRotation(i, row.cos, row.sin), LoadRotation(i, row.step_cos, row.step_sin)), i,
                    row.cos, row.sin);
    }
  }
}

/// Fills cos and sin for row.position, `distance` from the position that they are of, and sets what goes with them;
/// false where that must be done otherwise. The attention factor must be ordinary.
template <class Row>
bool FillFromRowBefore(const RowSource& source, std::int64_t distance, std::size_t count, Row& row) {
  // Two distances alike make it likely that there are more.
  if (distance != row.distance) {
    row.distance = distance;
    row.turns = 0;
    return false;
  }
  if (row.turns == Row::most_turns) {
    row.turns = 0;
    if (!Row::precise) return false;
  }
  FillStep(source, distance, count, row);
  if constexpr (Row::precise) {
    row.turns == 0 ? FillPreciseRow(source, 0, count, row) : TurnRow(count, row);
  } else {
    TurnRow(count, row);
  }
  ++row.turns;
  row.bounds.bound = Row::bound_of_turned * 0x1p-53 * source.turns.factor.high;
  return true;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
