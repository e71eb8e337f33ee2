// Rows whose pairs turn by coordinates of their own, for one Highway target. Included inside HWY_NAMESPACE by a file
// that is compiled once per target. docs/proofs/rope.md, steps 3 and 5, has the bounds: each pair is what a row of one
// axis has at that position.
//
//   1. A pair's axis is told by masks, one of all pairs for each axis; axes may alternate within a vector.
//   2. An axis whose coordinate is that of the token before is passed over: its pairs' entries still stand.
//   3. Of another the vectors that have a pair of it are computed as if all were of it, the multiple of
//      StepRotations::count below the coordinate (unless that is the one before) times the step, and blended in.

#if defined(SEXTANT_LIB_ROPE_KERNELS_AXES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_AXES_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_AXES_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_AXES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "lib/kernels/rotations-inl.h"
#include "lib/rope/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// visit(i, mask) for each vector of pairs, from entry i of the row on, that the axis has a pair in.
template <class Visit>
HWY_INLINE void VisitAxis(const PairAxes& axes, std::int64_t axis, std::size_t padded, std::size_t first_pair,
                          std::size_t count, Visit visit) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const std::uint64_t* masks = axes.masks.data() + static_cast<std::size_t>(axis) * padded + first_pair;
  const PairRange range = axes.ranges[static_cast<std::size_t>(axis)];
  const std::size_t first = std::max(range.first, first_pair) - first_pair;
  const std::size_t last = std::min(std::max(range.last, first_pair) - first_pair, count);
  for (std::size_t i = first; i < last; i += hn::Lanes(d)) visit(i, hn::BitCast(d, hn::LoadU(du, masks + i)));
}

/// `value` where the mask is all ones, in place of what was there.
HWY_INLINE void BlendMasked(DoubleVector mask, DoubleVector value, double* entries) {
  const Doubles d;
  hn::Store(hn::Or(hn::And(mask, value), hn::AndNot(mask, hn::Load(d, entries))), d, entries);
}

HWY_INLINE std::size_t WholeGroups(std::size_t count) {
  return (count + FrequencyPieces::lanes - 1) / FrequencyPieces::lanes * FrequencyPieces::lanes;
}

/// Whether what the row has of the token before may stay.
template <class Row>
HWY_INLINE bool Holds(const RowSource& source, const Row& row, std::int64_t before) {
  return before != row.none && source.turns.frequencies->pairs() <= rope_tile_pairs;
}

/// a cos and a sin in double-double, each pair at its own position; `before` as below.
template <class Row>
void FillPreciseRowOfAxes(const RowSource& source, std::int64_t before, std::size_t first_pair, std::size_t count,
                          Row& row) {
  const Doubles d;
  const PairAxes& axes = *source.turns.axes;
  const bool held = Holds(source, row, before);
  if (!held) {
    for (double* entries : {row.cos, row.sin, row.cos_low, row.sin_low}) std::fill_n(entries, WholeGroups(count), 0.0);
  }
  const AttentionFactor& factor = source.turns.factor;
  const DoubleDouble<DoubleVector> scale{hn::Set(d, factor.high), hn::Set(d, factor.low)};
  for (std::int64_t axis = 0; axis < axes.count; ++axis) {
    const std::int64_t* const of_axis = source.positions + axis * source.tokens;
    if (held && of_axis[row.token] == of_axis[before]) continue;
    const SplitPosition position = split_position(SignedPosition(source, of_axis[row.token]));
    VisitAxis(axes, axis, source.turns.frequencies->padded(), first_pair, count,
              [&](std::size_t i, DoubleVector mask) HWY_ATTR {
                const PreciseRotation turn =
                    PreciseRotationAt(*source.turns.frequencies, first_pair + i, position, unit_circle());
                const auto cos = Multiply(turn.cos, scale);
                const auto sin = Multiply(turn.sin, scale);
                BlendMasked(mask, cos.high, row.cos + i);
                BlendMasked(mask, sin.high, row.sin + i);
                BlendMasked(mask, cos.low, row.cos_low + i);
                BlendMasked(mask, sin.low, row.sin_low + i);
              });
  }
}

/// a cos and a sin from the anchors of each pair's own position. `before` is the token that the row was of, or none: of
/// an axis whose coordinate has not changed since, the pairs are left as they are, and of one that has, their anchors
/// too unless it has come to another's steps. In a scan of patches most axes stand still.
template <class Row>
void FillAnchoredRowOfAxes(const RowSource& source, std::int64_t before, std::size_t first_pair, std::size_t count,
                           Row& row) {
  const Doubles d;
  const PairAxes& axes = *source.turns.axes;
  const std::size_t padded = source.turns.frequencies->padded();
  const bool held = Holds(source, row, before);
  if (!held) {
    for (double* entries : {row.cos, row.sin, row.anchor_cos, row.anchor_sin})
      std::fill_n(entries, WholeGroups(count), 0.0);
  }
  const DoubleVector scale = hn::Set(d, source.turns.factor.high);
  for (std::int64_t axis = 0; axis < axes.count; ++axis) {
    const std::int64_t* const of_axis = source.positions + axis * source.tokens;
    const std::int64_t position = SignedPosition(source, of_axis[row.token]);
    const std::int64_t position_before = held ? SignedPosition(source, of_axis[before]) : 0;
    if (held && position == position_before) continue;
    constexpr std::int64_t step_bits = StepRotations::count - 1;
    const std::int64_t step = position & step_bits;
    const bool same_anchor = held && position - step == (position_before & ~step_bits);
    const StepGroup* const groups = source.turns.steps->at(step);
    VisitAxis(axes, axis, padded, first_pair, count, [&](std::size_t i, DoubleVector mask) HWY_ATTR {
      if (!same_anchor) {
        const Rotation z =
            RotationAt(*source.turns.frequencies, first_pair + i, split_position(position - step), unit_circle());
        BlendMasked(mask, hn::Mul(z.cos, scale), row.anchor_cos + i);
        BlendMasked(mask, hn::Mul(z.sin, scale), row.anchor_sin + i);
      }
      const StepGroup& group = groups[(first_pair + i) / FrequencyPieces::lanes];
      const Rotation turn = LoadRotation((first_pair + i) % FrequencyPieces::lanes, group.cos.data(), group.sin.data());
      const Rotation z = Multiply(LoadRotation(i, row.anchor_cos, row.anchor_sin), turn);
      BlendMasked(mask, z.cos, row.cos + i);
      BlendMasked(mask, z.sin, row.sin + i);
    });
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
