// Rows of equally spaced positions, each turned from the one before, for one Highway target: included inside
// HWY_NAMESPACE by a file that is compiled once per target.
//
// A token's heads pass through the first-level cache between two rows. What every row needs is still there, the row
// before and the rotation by which they differ; of a table of rotations each entry has left it, and sixteen misses a
// token are felt where memory is busy.
//
// The errors, in units of u = 2^-53 and in the Euclidean norm, relative to the factor a.
//
//   float32  In double-double. The first row, PreciseRotationAt times a, and each rotation are within 2^-98, a product
//   adds 29 u^2: 64 of them are below 2^-91.
//            What counts is that the row's highs are rounded: 1 < t = 1.01
//   16 bits  In double. The first row is within 7.54 (turn_pairs-inl.h). A rotation is rounded, 1, the products are, 1
//   together (Cauchy), and their sum, 1:
//            16 of them make t = 7.54 + 48 < 66

#if defined(SEXTANT_LIB_ROPE_NEXT_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_NEXT_ROW_INL_H_
#undef SEXTANT_LIB_ROPE_NEXT_ROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_NEXT_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/kernels/powers-inl.h"
#include "lib/kernels/rotations-inl.h"
#include "lib/rope/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Whether rows of the job are turned from each other where they can be. Values of Rounding::fast depend on a row's
/// last bits and must not on the token before.
HWY_INLINE bool TurnsRows(const RopeJob& job) {
  // 16 times as much is more than a first-level cache.
  constexpr std::int64_t least_bytes_per_row = 4096;
  const std::int64_t bytes =
      job.heads_per_unit * 2 * static_cast<std::int64_t>(job.frequencies->pairs() * size_of(job.dtype));
  return job.rounding == Rounding::certified && job.dtype != Dtype::float64 && job.axes == nullptr &&
         job.powers == nullptr && job.frequencies->pairs() <= rope_tile_pairs && bytes >= least_bytes_per_row;
}

/// The rotation by the distance from one row's position to the next.
inline void FillStep(const RopeJob& job, std::int64_t distance, std::size_t count, Row& row) {
  if (row.step_distance == distance) return;
  for (std::size_t i = 0; i < count; i += hn::Lanes(Doubles())) {
    const PreciseRotation step = PreciseRotationAt(*job.frequencies, i, split_position(distance), unit_circle());
    StorePrecise(step, i, row.step_cos, row.step_sin, row.step_cos_low, row.step_sin_low);
  }
  row.step_distance = distance;
}

/// The row turned by the step, in double.
inline void TurnRow(std::size_t count, Row& row) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(Doubles())) {
    StoreRotation(Multiply(LoadRotation(i, row.cos, row.sin), LoadRotation(i, row.step_cos, row.step_sin)), i, row.cos,
                  row.sin);
  }
}

/// The row turned by the step, in double-double.
inline void TurnRowPrecisely(std::size_t count, Row& row) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(Doubles())) {
    const PreciseRotation z = LoadPrecise(i, row.cos, row.sin, row.cos_low, row.sin_low);
    const PreciseRotation step = LoadPrecise(i, row.step_cos, row.step_sin, row.step_cos_low, row.step_sin_low);
    StorePrecise(Multiply(z, step), i, row.cos, row.sin, row.cos_low, row.sin_low);
  }
}

/// The row at its position, in double-double: a cos and a sin, or those times the pairs' powers.
inline void FillPreciseRow(const RopeJob& job, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  DoubleDouble<DoubleVector> scale{hn::Set(d, job.factor->high), hn::Set(d, job.factor->low)};
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const PreciseRotation turn =
        PreciseRotationAt(*job.frequencies, first_pair + i, split_position(row.position), unit_circle());
    if (job.powers != nullptr)
      scale =
          PowerAt(*job.powers->rates, first_pair + i, hn::Set(d, static_cast<double>(row.position)), binary_powers());
    StorePrecise({Multiply(turn.sin, scale), Multiply(turn.cos, scale)}, i, row.cos, row.sin, row.cos_low, row.sin_low);
  }
}

/// Fills cos and sin for row.position, `distance` from the position that they are of, and sets what goes with them;
/// false where that must be done otherwise. The attention factor must be in [2^-20, 2^20].
inline bool FillFromRowBefore(const RopeJob& job, std::int64_t distance, std::size_t count, Row& row) {
  // Two distances alike make it likely that there are more.
  if (distance != row.distance) {
    row.distance = distance;
    row.turns = 0;
    return false;
  }
  const bool precise = job.dtype == Dtype::float32;
  if (row.turns == (precise ? 64 : 16)) {
    row.turns = 0;
    if (!precise) return false;
  }
  FillStep(job, distance, count, row);
  if (!precise) {
    TurnRow(count, row);
  } else if (row.turns == 0) {
    FillPreciseRow(job, 0, count, row);
  } else {
    TurnRowPrecisely(count, row);
  }
  ++row.turns;
  row.bound = (precise ? 4.5 : 70) * 0x1p-53 * job.factor->high;  // at least (t + 3.25) u a
  if (precise) row.units = 1 << 15;
  return true;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
