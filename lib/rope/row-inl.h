// What the pairs of one token are turned with, for one Highway target: included inside HWY_NAMESPACE by a file that is compiled once per target.
// turn_pairs-inl.h derives the bounds.

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

#include "lib/numeric/powers-inl.h"
#include "lib/numeric/rotations-inl.h"
#include "lib/rope/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// a cos and a sin of a tile of frequencies at one position, with the bounds that go with them. Full vectors may be read at any pair.
struct Row {
  static constexpr std::size_t entries = rope_tile_pairs + 16;
  alignas(64) double cos[entries];
  alignas(64) double sin[entries];
  alignas(64) double cos_low[entries];  // float64 only
  alignas(64) double sin_low[entries];
  alignas(64) float cos_float[entries];  // 16-bit elements only
  alignas(64) float sin_float[entries];
  alignas(64) float cos_head[entries];  // the rest of them: cos = cos_head + cos_tail
  alignas(64) float sin_head[entries];
  alignas(64) float cos_tail[entries];
  alignas(64) float sin_tail[entries];
  // Under powers of pairs the bounds below are these.
  alignas(64) double bounds[entries];
  alignas(64) float largests[entries];
  alignas(64) double anchors[rope_tile_pairs];  // under axes the anchor positions of the pairs
  // a times the rotations at anchor_position (under axes, at `anchors`), of the whole encoding where that is one tile; not for float64.
  alignas(64) double anchor_cos[rope_tile_pairs];
  alignas(64) double anchor_sin[rope_tile_pairs];
  std::int64_t anchor_position = no_anchor;
  static constexpr std::int64_t no_anchor = std::numeric_limits<std::int64_t>::min();
  double bound;
  float largest;  // of the elements for which 16-bit kernels may decide anything: below 0 where a is out of range
  bool quick;     // whether the quick tier's conditions on a hold for all pairs
  const RopeJob* job;
  std::size_t first_pair;
  std::int64_t token;
  std::int64_t position;  // negated where the direction is clockwise; not under axes
};

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
  /// |x0| + |x1| for double-double: within these ends no product overflows, not even when it is split, and what underflows is below 2^-1072, the
  /// bound above 2^-1018.
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

/// visit(position, i, mask) for each vector of pairs, from entry i of the row on, that the axis has a pair in.
template <class Visit>
HWY_INLINE void VisitAxes(const RopeJob& job, std::int64_t token, std::size_t first_pair, std::size_t count, Visit visit) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const std::uint64_t* masks = job.axes->masks.data() + first_pair;
  for (std::int64_t axis = 0; axis < job.axes->count; ++axis, masks += job.frequencies->padded()) {
    const std::int64_t position = SignedPosition(job, job.positions[axis * job.axis_stride + token]);
    const PairRange range = job.axes->ranges[static_cast<std::size_t>(axis)];
    const std::size_t first = std::max(range.first, first_pair) - first_pair;
    const std::size_t last = std::min(std::max(range.last, first_pair) - first_pair, count);
    for (std::size_t i = first; i < last; i += hn::Lanes(d)) visit(position, i, hn::BitCast(d, hn::LoadU(du, masks + i)));
  }
}

HWY_INLINE void JoinMasked(DoubleVector mask, DoubleVector value, double* entries) {
  const Doubles d;
  hn::Store(hn::Or(hn::Load(d, entries), hn::And(mask, value)), d, entries);
}

/// cos and sin, for a job with axes whose factor is 1: from the anchors of each pair's own position, which neighbouring tokens share for most pairs.
inline void FillRotationsOfAxes(const RopeJob& job, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  // What each pair's position is, or its anchor's: doubles, since anchors are multiples of StepRotations::count.
  alignas(64) double positions[rope_tile_pairs];
  const std::size_t whole_groups = (count + FrequencyPieces::lanes - 1) / FrequencyPieces::lanes * FrequencyPieces::lanes;
  std::fill_n(positions, whole_groups, 0.0);
  if (job.dtype == Dtype::float64) {
    VisitAxes(job, row.token, first_pair, count, [&](std::int64_t position, std::size_t i, DoubleVector mask) HWY_ATTR {
      JoinMasked(mask, hn::Set(d, static_cast<double>(position)), positions + i);
    });
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const PreciseRotation turn = PreciseRotationAt(*job.frequencies, first_pair + i, hn::Load(d, positions + i), unit_circle());
      hn::Store(turn.cos.high, d, row.cos + i);
      hn::Store(turn.cos.low, d, row.cos_low + i);
      hn::Store(turn.sin.high, d, row.sin + i);
      hn::Store(turn.sin.low, d, row.sin_low + i);
    }
    return;
  }
  std::fill_n(row.cos, whole_groups, 0.0);
  std::fill_n(row.sin, whole_groups, 0.0);
  VisitAxes(job, row.token, first_pair, count, [&](std::int64_t position, std::size_t i, DoubleVector mask) HWY_ATTR {
    const std::int64_t step = position & (StepRotations::count - 1);
    const StepGroup& group = job.steps->at(step)[(first_pair + i) / FrequencyPieces::lanes];
    const std::size_t lane = (first_pair + i) % FrequencyPieces::lanes;
    JoinMasked(mask, hn::Set(d, static_cast<double>(position - step)), positions + i);
    JoinMasked(mask, hn::Load(d, group.cos.data() + lane), row.cos + i);
    JoinMasked(mask, hn::Load(d, group.sin.data() + lane), row.sin + i);
  });
  const bool held = row.anchor_position != Row::no_anchor;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const DoubleVector anchor = hn::Load(d, positions + i);
    if (!held || !hn::AllTrue(d, hn::Eq(anchor, hn::Load(d, row.anchors + i)))) {
      const Rotation z = RotationAt(*job.frequencies, first_pair + i, anchor, unit_circle());
      hn::Store(anchor, d, row.anchors + i);
      hn::Store(z.cos, d, row.anchor_cos + i);
      hn::Store(z.sin, d, row.anchor_sin + i);
    }
    const DoubleVector c = hn::Load(d, row.cos + i);
    const DoubleVector s = hn::Load(d, row.sin + i);
    const DoubleVector z_cos = hn::Load(d, row.anchor_cos + i);
    const DoubleVector z_sin = hn::Load(d, row.anchor_sin + i);
    hn::Store(hn::NegMulAdd(z_sin, s, hn::Mul(z_cos, c)), d, row.cos + i);
    hn::Store(hn::MulAdd(z_sin, c, hn::Mul(z_cos, s)), d, row.sin + i);
  }
  row.anchor_position = job.frequencies->pairs() > rope_tile_pairs ? Row::no_anchor : 0;
}

/// The bounds of pairs with powers, from cos and sin. Where a bound does not tell the sign of an entry, on which the sign of a zero hangs, and where
/// double-double would leave its range, it is infinite, and nothing of that pair is certified.
inline void FillPairBounds(const RopeJob& job, std::size_t count, Row& row) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  const bool precise = job.dtype == Dtype::float64;
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
    hn::Store(hn::IfThenElse(known, bound, infinity), d, row.bounds + i);
    if (size_of(job.dtype) > 2) continue;
    quick = quick && hn::AllTrue(d, hn::And(hn::Ge(size, hn::Set(d, 0x1p-60)), hn::Le(size, hn::Set(d, 0x1p60))));
    hn::Store(hn::DemoteTo(df, hn::IfThenElse(known, hn::Set(d, static_cast<double>(std::numeric_limits<float>::max())), none)), df, row.largests + i);
  }
  row.quick = quick;
}

/// How the float entries of a row lie: for bfloat16, where memory does not hold whole pairs, the even and the odd of the pairs in two vectors apart.
enum class PairOrder { natural, even_then_odd };

/// The entries in float, for what is turned there: 16-bit elements, fast, or certified in two
/// parts, the first of 13 bits for float16 and of 16 for bfloat16.
inline void FillFloats(const RopeJob& job, std::size_t count, PairOrder order, Row& row) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  const hn::Rebind<std::uint32_t, Doubles> du;
  const bool fast = job.rounding == Rounding::fast;
  const std::uint32_t dropped = job.dtype == Dtype::float16 ? 11 : 8;
  const auto half_place = hn::Set(du, std::uint32_t{1} << (dropped - 1));
  const auto first_places = hn::Set(du, ~((std::uint32_t{1} << dropped) - 1));
  const auto split = [&](const double* from, float* rounded, float* head, float* tail) HWY_ATTR {
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const DoubleVector value = hn::Load(d, from + i);
      const auto narrow = hn::DemoteTo(df, value);
      if (fast) {
        hn::Store(narrow, df, rounded + i);
        continue;
      }
      const auto first_bits = hn::BitCast(df, hn::And(hn::Add(hn::BitCast(du, narrow), half_place), first_places));
      hn::Store(first_bits, df, head + i);
      hn::Store(hn::DemoteTo(df, hn::Sub(value, hn::PromoteTo(d, first_bits))), df, tail + i);
    }
  };
  split(row.cos, row.cos_float, row.cos_head, row.cos_tail);
  split(row.sin, row.sin_float, row.sin_head, row.sin_tail);
#if HWY_TARGET != HWY_SCALAR
  if (order == PairOrder::natural) return;
  const hn::CappedTag<float, 16> narrow;
  const std::size_t lanes = hn::Lanes(narrow);
  const auto part = [&](float* values) HWY_ATTR {
    for (std::size_t i = 0; i + 2 * lanes <= count; i += 2 * lanes) {
      auto even = hn::Zero(narrow);
      auto odd = even;
      hn::LoadInterleaved2(narrow, values + i, even, odd);
      hn::Store(even, narrow, values + i);
      hn::Store(odd, narrow, values + i + lanes);
    }
  };
  part(fast ? row.cos_float : row.cos_head);
  part(fast ? row.sin_float : row.sin_head);
  if (fast) return;
  part(row.cos_tail);
  part(row.sin_tail);
#else
  (void)order;
#endif
}

/// The row of a tile for one token. Bounds as turn_pairs-inl.h derives them; an attention factor outside the range of that derivation makes
/// them infinite, so that nothing is certified and every pair goes to settle.
inline void FillDoubles(const RopeJob& job, std::int64_t token, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  row.job = &job;
  row.first_pair = first_pair;
  row.token = token;
  row.position = SignedPosition(job, job.positions[token]);
  const double a = job.factor->high;
  const bool ordinary = a >= 0x1p-20 && a <= 0x1p20;
  const double factor = ordinary ? a : HUGE_VAL;
  const UnitCircle& circle = unit_circle();
  if (job.dtype == Dtype::float64) {
    row.bound = 0x1p-98 * factor;
    if (job.axes != nullptr) return FillRotationsOfAxes(job, first_pair, count, row);
    DoubleDouble<DoubleVector> scale{hn::Set(d, a), hn::Set(d, job.factor->low)};
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const PreciseRotation turn = PreciseRotationAt(*job.frequencies, first_pair + i, split_position(row.position), circle);
      if (job.powers != nullptr) scale = PowerAt(*job.powers->rates, first_pair + i, hn::Set(d, static_cast<double>(row.position)), binary_powers());
      const auto c = Multiply(turn.cos, scale);
      const auto s = Multiply(turn.sin, scale);
      hn::Store(c.high, d, row.cos + i);
      hn::Store(c.low, d, row.cos_low + i);
      hn::Store(s.high, d, row.sin + i);
      hn::Store(s.low, d, row.sin_low + i);
    }
    if (job.powers != nullptr) FillPairBounds(job, count, row);
    return;
  }
  row.bound = 11 * 0x1p-53 * factor;
  row.largest = ordinary ? std::numeric_limits<float>::max() : -1.0F;
  row.quick = ordinary;
  if (job.axes != nullptr) return FillRotationsOfAxes(job, first_pair, count, row);
  const std::int64_t step = row.position & (StepRotations::count - 1);
  if (row.position - step != row.anchor_position) {
    DoubleVector scale = hn::Set(d, a);
    const SplitPosition anchor = split_position(row.position - step);
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const Rotation z = RotationAt(*job.frequencies, first_pair + i, anchor, circle);
      if (job.powers != nullptr) scale = PowerAt(*job.powers->rates, first_pair + i, hn::Set(d, anchor.nearest), binary_powers()).high;
      hn::Store(hn::Mul(z.cos, scale), d, row.anchor_cos + i);
      hn::Store(hn::Mul(z.sin, scale), d, row.anchor_sin + i);
    }
    row.anchor_position = job.frequencies->pairs() > rope_tile_pairs ? Row::no_anchor : row.position - step;
  }
  const StepGroup* const groups = job.steps->at(step) + first_pair / FrequencyPieces::lanes;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const StepGroup& group = groups[i / FrequencyPieces::lanes];
    const DoubleVector c = hn::Load(d, group.cos.data() + i % FrequencyPieces::lanes);
    const DoubleVector s = hn::Load(d, group.sin.data() + i % FrequencyPieces::lanes);
    const DoubleVector z_cos = hn::Load(d, row.anchor_cos + i);
    const DoubleVector z_sin = hn::Load(d, row.anchor_sin + i);
    hn::Store(hn::NegMulAdd(z_sin, s, hn::Mul(z_cos, c)), d, row.cos + i);
    hn::Store(hn::MulAdd(z_sin, c, hn::Mul(z_cos, s)), d, row.sin + i);
  }
  if (job.powers != nullptr) FillPairBounds(job, count, row);
}

inline void FillRow(const RopeJob& job, std::int64_t token, std::size_t first_pair, std::size_t count, PairOrder order, Row& row) {
  FillDoubles(job, token, first_pair, count, row);
  if (size_of(job.dtype) > 2) return;
  // A vector of 16-bit elements may read more of a row than vectors of doubles have written: more copies of the last entry.
  const std::size_t full = (count + FrequencyPieces::lanes - 1) / FrequencyPieces::lanes * FrequencyPieces::lanes;
  const auto fill = [&](auto* values) { std::fill_n(values + full, 8, values[full - 1]); };
  fill(row.cos);
  fill(row.sin);
  if (job.powers != nullptr) {
    fill(row.bounds);
    fill(row.largests);
  }
  FillFloats(job, count, order, row);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
