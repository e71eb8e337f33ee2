// Fills the row of a token, for one Highway target: included inside HWY_NAMESPACE by a file that is compiled once per
// target. turn_pairs-inl.h derives the bounds.

#if defined(SEXTANT_LIB_ROPE_FILL_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_FILL_ROW_INL_H_
#undef SEXTANT_LIB_ROPE_FILL_ROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_FILL_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lib/kernels/powers-inl.h"
#include "lib/kernels/rotations-inl.h"
#include "lib/rope/next_row-inl.h"
#include "lib/rope/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// visit(position, i, mask) for each vector of pairs, from entry i of the row on, that the axis has a pair in.
template <class Visit>
HWY_INLINE void VisitAxes(const RopeJob& job, std::int64_t token, std::size_t first_pair, std::size_t count,
                          Visit visit) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const std::uint64_t* masks = job.axes->masks.data() + first_pair;
  for (std::int64_t axis = 0; axis < job.axes->count; ++axis, masks += job.frequencies->padded()) {
    const std::int64_t position = SignedPosition(job, job.positions[axis * job.axis_stride + token]);
    const PairRange range = job.axes->ranges[static_cast<std::size_t>(axis)];
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

/// cos and sin, for a job with axes whose factor is 1: from the anchors of each pair's own position, which neighbouring
/// tokens share for most pairs.
inline void FillRotationsOfAxes(const RopeJob& job, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  // What each pair's position is, or its anchor's: doubles, since anchors are multiples of StepRotations::count.
  alignas(64) double positions[rope_tile_pairs];
  const std::size_t whole_groups =
      (count + FrequencyPieces::lanes - 1) / FrequencyPieces::lanes * FrequencyPieces::lanes;
  std::fill_n(positions, whole_groups, 0.0);
  if (job.dtype == Dtype::float64) {
    VisitAxes(job, row.token, first_pair, count, [&](std::int64_t position, std::size_t i, DoubleVector mask) HWY_ATTR {
      JoinMasked(mask, hn::Set(d, static_cast<double>(position)), positions + i);
    });
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const PreciseRotation turn =
          PreciseRotationAt(*job.frequencies, first_pair + i, hn::Load(d, positions + i), unit_circle());
      StorePrecise(turn, i, row.cos, row.sin, row.cos_low, row.sin_low);
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
  const bool held = row.anchor_position != Row::none;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const DoubleVector anchor = hn::Load(d, positions + i);
    if (!held || !hn::AllTrue(d, hn::Eq(anchor, hn::Load(d, row.anchors + i)))) {
      const Rotation z = RotationAt(*job.frequencies, first_pair + i, anchor, unit_circle());
      hn::Store(anchor, d, row.anchors + i);
      StoreRotation(z, i, row.anchor_cos, row.anchor_sin);
    }
    StoreRotation(Multiply(LoadRotation(i, row.anchor_cos, row.anchor_sin), LoadRotation(i, row.cos, row.sin)), i,
                  row.cos, row.sin);
  }
  row.anchor_position = job.frequencies->pairs() > rope_tile_pairs ? Row::none : 0;
}

/// The bounds of pairs with powers, from cos and sin. Where a bound does not tell the sign of an entry, on which the
/// sign of a zero hangs, and where double-double would leave its range, it is infinite, and nothing of that pair is
/// certified.
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
    hn::Store(hn::DemoteTo(
                  df, hn::IfThenElse(known, hn::Set(d, static_cast<double>(std::numeric_limits<float>::max())), none)),
              df, row.largests + i);
  }
  row.quick = quick;
}

/// How the entries of a row lie that the quick tier reads. even_then_odd: for bfloat16 where memory does not hold whole
/// pairs, those of the even and of the odd pairs in two vectors apart. twice: for float32 where pairs lie side by side
/// and are not taken apart, each entry once for each element of its pair and the first sine negated, so that with the
/// elements of each pair swapped in x' y = x cos + x' sin.
enum class PairOrder { natural, even_then_odd, twice };

inline void FillTwice(std::size_t count, Row& row) {
  const Doubles d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Rotation z = LoadRotation(i, row.cos, row.sin);
    hn::StoreInterleaved2(z.cos, z.cos, d, row.cos_twice + 2 * i);
    hn::StoreInterleaved2(hn::Neg(z.sin), z.sin, d, row.sin_twice + 2 * i);
  }
}

/// The first part of an entry that is split in two floats: the nearest float, or one of 13 bits for float16 and of 16
/// for bfloat16, whose product with an element is exact.
enum class Head { whole, exact_product };

/// The entries in float, for what the quick tier turns there: 16-bit elements, fast by the heads alone, or certified in
/// two parts, but for the cosines where operations are fused (quick_pairs-inl.h); as far as two vectors at a time go.
inline void FillFloats([[maybe_unused]] const RopeJob& job, [[maybe_unused]] std::size_t count,
                       [[maybe_unused]] PairOrder order, [[maybe_unused]] Row& row) {
#if HWY_TARGET != HWY_SCALAR
  const Doubles d;
  const hn::Repartition<float, Doubles> df;
  const hn::Half<decltype(df)> half;
  const hn::RebindToUnsigned<decltype(df)> du;
  using Floats = hn::Vec<decltype(df)>;
  const std::size_t lanes = hn::Lanes(df);
  const bool fast = job.rounding == Rounding::fast;
  const std::uint32_t dropped = job.dtype == Dtype::float16 ? 11 : 8;
  const auto half_place = hn::Set(du, std::uint32_t{1} << (dropped - 1));
  const auto first_places = hn::Set(du, ~((std::uint32_t{1} << dropped) - 1));
  const auto put = [&](Floats earlier, Floats later, float* to) HWY_ATTR {
    const bool natural = order == PairOrder::natural;
    hn::Store(natural ? earlier : hn::ConcatEven(df, later, earlier), df, to);
    hn::Store(natural ? later : hn::ConcatOdd(df, later, earlier), df, to + lanes);
  };
  const auto tail_of = [&](DoubleVector later, DoubleVector earlier, Floats first) HWY_ATTR {
    return Joined(hn::Sub(later, hn::PromoteTo(d, hn::UpperHalf(half, first))),
                  hn::Sub(earlier, hn::PromoteTo(d, hn::LowerHalf(half, first))));
  };
  const auto split = [&](const double* from, float* head, float* tail, Head length) HWY_ATTR {
    const auto head_of = [&](Floats nearest) HWY_ATTR {
      if (length == Head::whole) return nearest;
      return hn::BitCast(df, hn::And(hn::Add(hn::BitCast(du, nearest), half_place), first_places));
    };
    for (std::size_t i = 0; i + 2 * lanes <= count; i += 2 * lanes) {
      const DoubleVector a = hn::Load(d, from + i);
      const DoubleVector b = hn::Load(d, from + i + lanes / 2);
      const DoubleVector c = hn::Load(d, from + i + lanes);
      const DoubleVector e = hn::Load(d, from + i + lanes + lanes / 2);
      const Floats earlier = Joined(b, a);
      const Floats later = Joined(e, c);
      const Floats earlier_head = head_of(earlier);
      const Floats later_head = head_of(later);
      put(earlier_head, later_head, head + i);
      if (tail != nullptr) put(tail_of(b, a, earlier_head), tail_of(e, c, later_head), tail + i);
    }
  };
  if (fast || !HWY_NATIVE_FMA) {
    const Head length = fast ? Head::whole : Head::exact_product;
    split(row.cos, row.cos_head, fast ? nullptr : row.cos_tail, length);
    split(row.sin, row.sin_head, fast ? nullptr : row.sin_tail, length);
    return;
  }
  // k (cos, sin), the first of which is a float: k sin = sin - sin (1 - k), where 1 - k = (cos - k cos) / cos is below
  // 2^-24 and known to 2^-46.
  alignas(64) double sin[Row::entries];
  for (std::size_t i = 0; i + lanes <= count; i += lanes) {
    const DoubleVector earlier = hn::Load(d, row.cos + i);
    const DoubleVector later = hn::Load(d, row.cos + i + lanes / 2);
    const Floats nearest = Joined(later, earlier);
    const Floats less = hn::Div(tail_of(later, earlier, nearest), nearest);
    const auto scaled = [&](std::size_t at, auto less_of_half) HWY_ATTR {
      const DoubleVector s = hn::Load(d, row.sin + at);
      hn::Store(hn::NegMulAdd(s, hn::PromoteTo(d, less_of_half), s), d, sin + at);
    };
    scaled(i, hn::LowerHalf(half, less));
    scaled(i + lanes / 2, hn::UpperHalf(half, less));
  }
  split(row.cos, row.cos_head, nullptr, Head::whole);
  split(sin, row.sin_head, row.sin_tail, Head::exact_product);
#endif
}

/// The row of a tile for one token. Bounds as turn_pairs-inl.h derives them; an attention factor outside the range of
/// that derivation makes them infinite, so that nothing is certified and every pair goes to settle.
inline void FillDoubles(const RopeJob& job, std::int64_t token, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  row.job = &job;
  row.first_pair = first_pair;
  row.token = token;
  const std::int64_t before = row.position;
  row.position = SignedPosition(job, job.positions[token]);
  const double a = job.factor->high;
  const bool ordinary = a >= 0x1p-20 && a <= 0x1p20;
  const double factor = ordinary ? a : HUGE_VAL;
  if (job.dtype == Dtype::float64) {
    row.bound = 0x1p-98 * factor;
    if (job.axes != nullptr) return FillRotationsOfAxes(job, first_pair, count, row);
    FillPreciseRow(job, first_pair, count, row);
    if (job.powers != nullptr) FillPairBounds(job, count, row);
    return;
  }
  row.bound = 11 * 0x1p-53 * factor;
  row.units = 1 << 17;
  row.largest = ordinary ? std::numeric_limits<float>::max() : -1.0F;
  row.quick = ordinary;
  if (job.axes != nullptr) return FillRotationsOfAxes(job, first_pair, count, row);
  if (ordinary && before != Row::none && TurnsRows(job) && FillFromRowBefore(job, row.position - before, count, row))
    return;
  const std::int64_t step = row.position & (StepRotations::count - 1);
  if (row.position - step != row.anchor_position) {
    DoubleVector scale = hn::Set(d, a);
    const SplitPosition anchor = split_position(row.position - step);
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const Rotation z = RotationAt(*job.frequencies, first_pair + i, anchor, unit_circle());
      if (job.powers != nullptr)
        scale = PowerAt(*job.powers->rates, first_pair + i, hn::Set(d, anchor.nearest), binary_powers()).high;
      StoreRotation({hn::Mul(z.sin, scale), hn::Mul(z.cos, scale)}, i, row.anchor_cos, row.anchor_sin);
    }
    row.anchor_position = job.frequencies->pairs() > rope_tile_pairs ? Row::none : row.position - step;
  }
  const StepGroup* const groups = job.steps->at(step) + first_pair / FrequencyPieces::lanes;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const StepGroup& group = groups[i / FrequencyPieces::lanes];
    const Rotation turn = LoadRotation(i % FrequencyPieces::lanes, group.cos.data(), group.sin.data());
    StoreRotation(Multiply(LoadRotation(i, row.anchor_cos, row.anchor_sin), turn), i, row.cos, row.sin);
  }
  if (job.powers != nullptr) FillPairBounds(job, count, row);
}

inline void FillRow(const RopeJob& job, std::int64_t token, std::size_t first_pair, std::size_t count, PairOrder order,
                    Row& row) {
  FillDoubles(job, token, first_pair, count, row);
  if (job.dtype == Dtype::float32 && order == PairOrder::twice) FillTwice(count, row);
  if (size_of(job.dtype) > 2) return;
  // A vector of 16-bit elements may read more of a row than vectors of doubles have written: more copies of the last
  // entry.
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
