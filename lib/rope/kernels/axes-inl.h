// Rows whose pairs turn by coordinates of their own, for one Highway target. Included inside HWY_NAMESPACE by a file
// that is compiled once per target.

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

/// visit(position, i, mask) for each vector of pairs, from entry i of the row on, that the axis has a pair in.
template <class Visit>
HWY_INLINE void VisitAxes(const RowSource& source, std::int64_t token, std::size_t first_pair, std::size_t count,
                          Visit visit) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const PairAxes& axes = *source.turns.axes;
  const std::uint64_t* masks = axes.masks.data() + first_pair;
  for (std::int64_t axis = 0; axis < axes.count; ++axis, masks += source.turns.frequencies->padded()) {
    const std::int64_t position = SignedPosition(source, source.positions[axis * source.tokens + token]);
    const PairRange range = axes.ranges[static_cast<std::size_t>(axis)];
    const std::size_t first = std::max(range.first, first_pair) - first_pair;
    const std::size_t last = std::min(std::max(range.last, first_pair) - first_pair, count);
    for (std::size_t i = first; i < last; i += hn::Lanes(d))
      visit(position, i, hn::BitCast(d, hn::LoadU(du, masks + i)));
  }
}

HWY_INLINE void JoinMasked(DoubleVector mask, DoubleVector value, double* entries) {
  const Doubles d;
  hn::Store(hn::Or(hn::Load(d, entries), hn::And(mask, value)), d, entries);
}

HWY_INLINE std::size_t WholeGroups(std::size_t count) {
  return (count + FrequencyPieces::lanes - 1) / FrequencyPieces::lanes * FrequencyPieces::lanes;
}

/// a cos and a sin in double-double, each pair at its own position.
template <class Row>
void FillPreciseRowOfAxes(const RowSource& source, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  alignas(64) double positions[rope_tile_pairs];
  std::fill_n(positions, WholeGroups(count), 0.0);
  VisitAxes(source, row.token, first_pair, count,
            [&](std::int64_t position, std::size_t i, DoubleVector mask)
                HWY_ATTR { JoinMasked(mask, hn::Set(d, static_cast<double>(position)), positions + i); });
  const AttentionFactor& factor = source.turns.factor;
  const DoubleDouble<DoubleVector> scale{hn::Set(d, factor.high), hn::Set(d, factor.low)};
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const PreciseRotation turn =
        PreciseRotationAt(*source.turns.frequencies, first_pair + i, hn::Load(d, positions + i), unit_circle());
    StorePrecise({Multiply(turn.sin, scale), Multiply(turn.cos, scale)}, i, row.cos, row.sin, row.cos_low, row.sin_low);
  }
}

/// a cos and a sin from the anchors of each pair's own position, which neighbouring tokens share for most pairs.
template <class Row>
void FillAnchoredRowOfAxes(const RowSource& source, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  // The anchors' positions as doubles: they are multiples of StepRotations::count.
  alignas(64) double positions[rope_tile_pairs];
  std::fill_n(positions, WholeGroups(count), 0.0);
  std::fill_n(row.cos, WholeGroups(count), 0.0);
  std::fill_n(row.sin, WholeGroups(count), 0.0);
  VisitAxes(source, row.token, first_pair, count,
            [&](std::int64_t position, std::size_t i, DoubleVector mask) HWY_ATTR {
              const std::int64_t step = position & (StepRotations::count - 1);
              const StepGroup& group = source.turns.steps->at(step)[(first_pair + i) / FrequencyPieces::lanes];
              const std::size_t lane = (first_pair + i) % FrequencyPieces::lanes;
              JoinMasked(mask, hn::Set(d, static_cast<double>(position - step)), positions + i);
              JoinMasked(mask, hn::Load(d, group.cos.data() + lane), row.cos + i);
              JoinMasked(mask, hn::Load(d, group.sin.data() + lane), row.sin + i);
            });
  const DoubleVector scale = hn::Set(d, source.turns.factor.high);
  const bool held = row.anchor_position != Row::none;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const DoubleVector anchor = hn::Load(d, positions + i);
    if (!held || !hn::AllTrue(d, hn::Eq(anchor, hn::Load(d, row.anchors + i)))) {
      const Rotation z = RotationAt(*source.turns.frequencies, first_pair + i, anchor, unit_circle());
      hn::Store(anchor, d, row.anchors + i);
      StoreRotation({hn::Mul(z.sin, scale), hn::Mul(z.cos, scale)}, i, row.anchor_cos, row.anchor_sin);
    }
    StoreRotation(Multiply(LoadRotation(i, row.anchor_cos, row.anchor_sin), LoadRotation(i, row.cos, row.sin)), i,
                  row.cos, row.sin);
  }
  row.anchor_position = source.turns.frequencies->pairs() > rope_tile_pairs ? Row::none : 0;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
