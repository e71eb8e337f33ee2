// What the pairs of one token are turned with, for one Highway target: included inside HWY_NAMESPACE by a file that is
// compiled once per target. turn_pairs-inl.h derives the bounds.

#if defined(SEXTANT_LIB_ROPE_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_ROW_INL_H_
#undef SEXTANT_LIB_ROPE_ROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lib/kernels/powers-inl.h"
#include "lib/kernels/rotations-inl.h"
#include "lib/rope/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// a cos and a sin of a tile of frequencies at one position, with the bounds that go with them. Full vectors may be
/// read at any pair.
struct Row {
  static constexpr std::size_t entries = rope_tile_pairs + 16;
  alignas(64) double cos[entries];
  alignas(64) double sin[entries];
  alignas(64) double cos_low[entries];  // float64, and float32 where turns > 0
  alignas(64) double sin_low[entries];
  alignas(64) double cos_twice[2 * entries];  // float32 only, PairOrder::twice
  alignas(64) double sin_twice[2 * entries];
  alignas(64) float cos_head[entries];  // 16-bit elements only: FillFloats
  alignas(64) float sin_head[entries];
  alignas(64) float cos_tail[entries];
  alignas(64) float sin_tail[entries];
  // Under powers of pairs the bounds below are these.
  alignas(64) double bounds[entries];
  alignas(64) float largests[entries];
  alignas(64) double anchors[rope_tile_pairs];  // under axes the anchor positions of the pairs
  // a times the rotations at anchor_position (under axes, at `anchors`), of the whole encoding where that is one tile;
  // not for float64.
  alignas(64) double anchor_cos[rope_tile_pairs];
  alignas(64) double anchor_sin[rope_tile_pairs];
  // next_row-inl.h: the rotation by step_distance.
  alignas(64) double step_cos[rope_tile_pairs];
  alignas(64) double step_sin[rope_tile_pairs];
  alignas(64) double step_cos_low[rope_tile_pairs];
  alignas(64) double step_sin_low[rope_tile_pairs];
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  std::int64_t anchor_position = none;
  std::int64_t step_distance = none;
  std::int64_t distance = none;  // from the position of the row before
  std::int64_t position = none;  // negated where the direction is clockwise; not under axes
  std::int64_t token;
  std::size_t first_pair;
  const RopeJob* job;
  double bound;
  float largest;  // of the elements for which 16-bit kernels may decide anything: below 0 where a is out of range
  // Places of y, a power of 2, within which the quick tier of float32 takes a tie to be near: 2^15 where t of
  // turn_pairs-inl.h is at most 1.01, 2^17 up to 9.54.
  std::int32_t units;
  int turns = 0;  // how many rows were turned from each other since one was filled by itself
  bool quick;     // whether the quick tier's conditions on a hold for all pairs
};

#if HWY_TARGET != HWY_SCALAR
/// The floats nearest to two vectors of doubles.
HWY_INLINE hn::Vec<hn::Repartition<float, Doubles>> Joined(DoubleVector later, DoubleVector earlier) {
  const hn::Rebind<float, Doubles> df;
  return hn::Combine(hn::Repartition<float, Doubles>(), hn::DemoteTo(df, later), hn::DemoteTo(df, earlier));
}
#endif

/// The position as pairs turn by it.
HWY_INLINE std::int64_t SignedPosition(const RopeJob& job, std::int64_t position) {
  return job.direction == Direction::clockwise ? -position : position;
}

/// The position that a pair turns by.
inline std::int64_t PositionOf(const Row& row, std::size_t pair) {
  const RopeJob& job = *row.job;
  if (job.axes == nullptr) return row.position;
  std::int64_t axis = 0;
  while (job.axes->masks[static_cast<std::size_t>(axis) * job.frequencies->padded() + pair] == 0) ++axis;
  return SignedPosition(job, job.positions[axis * job.axis_stride + row.token]);
}

/// Bounds that all pairs of a row share.
struct SharedBounds {
  template <class D>
  static HWY_INLINE hn::Vec<D> InDouble(D d, const Row& row, std::size_t) {
    return hn::Set(d, row.bound);
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> Largest(D d, const Row& row, std::size_t) {
    return hn::Set(d, row.largest);
  }
  /// |x0| + |x1| for double-double: within these ends no product overflows, not even when it is split, and what
  /// underflows is below 2^-1072, the bound above 2^-1018.
  static constexpr double least_size = 0x1p-900;
  static constexpr double largest_size = 0x1p900;
};

/// Bounds that each pair has of its own.
struct PairBounds {
  template <class D>
  static HWY_INLINE hn::Vec<D> InDouble(D d, const Row& row, std::size_t i) {
    return hn::LoadU(d, row.bounds + i);
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> Largest(D d, const Row& row, std::size_t i) {
    return hn::LoadU(d, row.largests + i);
  }
  /// With powers within 2^+-500 products are within 2^+-900, and bounds above 2^-996.
  static constexpr double least_size = 0x1p-400;
  static constexpr double largest_size = 0x1p400;
};

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
