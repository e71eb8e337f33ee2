// The rows of float16 and bfloat16 elements, for one Highway target. Included inside HWY_NAMESPACE by a file that is
// compiled once per target.
//
//   1. A row in double (anchored_row-inl.h) is what careful turns read.
//   2. The quick tier reads it in float: under Rounding::fast floats near to it, or, where nothing else is read, an
//      anchor in float times a step in float; certified, entries in two parts, the
//      first so short that its product with an element is exact.
//   3. Where operations are fused both entries of a pair are multiplied by the k near 1 that makes the cosine a float,
//      which then needs no second part.
//
// docs/proofs/rope.md, steps 3, 4 and 6, has the bounds, step 12 what is made of the entries.

#if defined(SEXTANT_LIB_ROPE_TIERS_NARROW_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_TIERS_NARROW_ROW_INL_H_
#undef SEXTANT_LIB_ROPE_TIERS_NARROW_ROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_TIERS_NARROW_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/kernels/float_rotations-inl.h"
#include "lib/rope/kernels/anchored_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// A row in double, and in float as the quick tier reads it.
template <class Bounds>
struct NarrowRow : AnchoredRow<Bounds> {
  static constexpr std::size_t element_bytes = 2;
  static constexpr bool precise = false;
  static constexpr int most_turns = 16;
  static constexpr double bound_of_turned = 70;  // at least t + 3.25 (docs/proofs/rope.md, step 4)

  alignas(64) float anchor_cos_in_float[rope_tile_pairs];  // FillInFloat, at its own position
  alignas(64) float anchor_sin_in_float[rope_tile_pairs];
  std::int64_t anchor_in_float_position = RowOf<Bounds>::none;
  alignas(64) float cos_head[2 * row_entries];  // FillFloats
  alignas(64) float sin_head[2 * row_entries];
  alignas(64) float cos_tail[row_entries];
  alignas(64) float sin_tail[row_entries];
};

/// How the entries lie that the quick tier reads. even_then_odd: for bfloat16 where memory does not hold whole pairs,
/// those of the even and of the odd pairs in two vectors apart. twice: under Rounding::fast of pairs of float16 that
/// lie side by side, once for each element, the first sine negated (TurnedTogether).
enum class PairOrder { natural, even_then_odd, twice };
enum class EntryKind { cosine, sine };

#if HWY_TARGET != HWY_SCALAR
/// Entries of two vectors from pair i on, in the order that the quick tier reads.
template <class DF, class V>
HWY_INLINE void StoreInOrder(DF df, PairOrder order, EntryKind kind, std::size_t i, V earlier, V later, float* to) {
  const std::size_t lanes = hn::Lanes(df);
  if (order == PairOrder::twice) {
    const auto of_first = [&](V entry) HWY_ATTR { return kind == EntryKind::sine ? hn::Neg(entry) : entry; };
    hn::StoreInterleaved2(of_first(earlier), earlier, df, to + 2 * i);
    hn::StoreInterleaved2(of_first(later), later, df, to + 2 * i + 2 * lanes);
    return;
  }
  const bool natural = order == PairOrder::natural;
  hn::Store(natural ? earlier : hn::ConcatEven(df, later, earlier), df, to + i);
  hn::Store(natural ? later : hn::ConcatOdd(df, later, earlier), df, to + i + lanes);
}
#endif

/// The first part of an entry that is split in two floats: the nearest float, or one of 13 bits for float16 and of 16
/// for bfloat16, whose product with an element is exact.
enum class HeadLength { whole, exact_product };

/// The entries in float, for what the quick tier turns there: fast by the heads alone, or certified in two parts, the
/// first of a length that the elements ask for, but for the cosines where operations are fused (docs/proofs/rope.md,
/// step 12); as far as two vectors at a time go.
template <Dtype dtype, class Bounds>
void FillFloats([[maybe_unused]] const RowSource& source, [[maybe_unused]] std::size_t count,
                [[maybe_unused]] PairOrder order, [[maybe_unused]] HeadLength certified_length,
                [[maybe_unused]] NarrowRow<Bounds>& row) {
#if HWY_TARGET != HWY_SCALAR
  const Doubles d;
  const hn::Repartition<float, Doubles> df;
  const hn::Half<decltype(df)> half;
  const hn::RebindToUnsigned<decltype(df)> du;
  using Floats = hn::Vec<decltype(df)>;
  const std::size_t lanes = hn::Lanes(df);
  const bool fast = source.rounding == Rounding::fast;
  const std::uint32_t dropped = dtype == Dtype::float16 ? 11 : 8;
  const auto half_place = hn::Set(du, std::uint32_t{1} << (dropped - 1));
  const auto first_places = hn::Set(du, ~((std::uint32_t{1} << dropped) - 1));
  const auto tail_of = [&](DoubleVector later, DoubleVector earlier, Floats first) HWY_ATTR {
    return Joined(hn::Sub(later, hn::PromoteTo(d, hn::UpperHalf(half, first))),
                  hn::Sub(earlier, hn::PromoteTo(d, hn::LowerHalf(half, first))));
  };
  const auto split = [&](EntryKind kind, const double* from, float* head, float* tail, HeadLength length) HWY_ATTR {
    const auto head_of = [&](Floats nearest) HWY_ATTR {
      if (length == HeadLength::whole) return nearest;
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
      StoreInOrder(df, order, kind, i, earlier_head, later_head, head);
      if (tail != nullptr)
        StoreInOrder(df, order, kind, i, tail_of(b, a, earlier_head), tail_of(e, c, later_head), tail);
    }
  };
  if (fast || !HWY_NATIVE_FMA) {
    const HeadLength length = fast ? HeadLength::whole : certified_length;
    split(EntryKind::cosine, row.cos, row.cos_head, fast ? nullptr : row.cos_tail, length);
    split(EntryKind::sine, row.sin, row.sin_head, fast ? nullptr : row.sin_tail, length);
    return;
  }
  // k (cos, sin), the first of which is a float: k sin = sin - sin (1 - k), where 1 - k = (cos - k cos) / cos is below
  // 2^-24 and known to 2^-46.
  alignas(64) double sin[row_entries];
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
  split(EntryKind::cosine, row.cos, row.cos_head, nullptr, HeadLength::whole);
  split(EntryKind::sine, sin, row.sin_head, row.sin_tail, certified_length);
#endif
}

#if HWY_TARGET != HWY_SCALAR
/// Makes the anchor in float that of row.position; its pairs are whole vectors of floats.
template <class Bounds>
void FillAnchorInFloat(const RowSource& source, NarrowRow<Bounds>& row) {
  const Doubles d;
  const hn::Repartition<float, Doubles> df;
  const PairTurns& turns = source.turns;
  const std::int64_t position = row.position - StepOf(row);
  if (position == row.anchor_in_float_position) return;
  const DoubleVector at = hn::Set(d, static_cast<double>(position));
  const DoubleVector scale = hn::Set(d, turns.factor.high);
  for (std::size_t i = 0; i < turns.frequencies->pairs(); i += hn::Lanes(df)) {
    const Rotation earlier = RotationForFloatsAt(*turns.frequencies, i, at);
    const Rotation later = RotationForFloatsAt(*turns.frequencies, i + hn::Lanes(d), at);
    hn::Store(Joined(hn::Mul(later.cos, scale), hn::Mul(earlier.cos, scale)), df, row.anchor_cos_in_float + i);
    hn::Store(Joined(hn::Mul(later.sin, scale), hn::Mul(earlier.sin, scale)), df, row.anchor_sin_in_float + i);
  }
  row.anchor_in_float_position = position;
}
#endif

/// The row of a token in float alone, under Rounding::fast, where the quick tier turns every pair and no other row is
/// read; false where there is more to be done. The attention factor is ordinary.
template <PairOrder order, class Bounds>
bool FillInFloat([[maybe_unused]] const RowSource& source, [[maybe_unused]] std::int64_t token,
                 [[maybe_unused]] NarrowRow<Bounds>& row) {
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<float, Doubles> df;
  const std::size_t lanes = hn::Lanes(df);
  const PairTurns& turns = source.turns;
  const std::size_t pairs = turns.frequencies->pairs();
  if (source.rounding != Rounding::fast || pairs > rope_tile_pairs || pairs % (2 * lanes) != 0) return false;
  BeginRow(source, token, 0, row);
  row.quick = true;
  FillAnchorInFloat(source, row);
  const StepGroupInFloat* const groups = turns.steps->at_in_float(StepOf(row));
  constexpr std::size_t group_pairs = 2 * FrequencyPieces::lanes;
  for (std::size_t i = 0; i < pairs; i += 2 * lanes) {
    const auto entry = [&](std::size_t at, auto& c, auto& s) HWY_ATTR {
      const StepGroupInFloat& group = groups[at / group_pairs];
      const auto step_c = hn::Load(df, group.cos.data() + at % group_pairs);
      const auto step_s = hn::Load(df, group.sin.data() + at % group_pairs);
      const auto anchor_c = hn::Load(df, row.anchor_cos_in_float + at);
      const auto anchor_s = hn::Load(df, row.anchor_sin_in_float + at);
      c = hn::NegMulAdd(anchor_s, step_s, hn::Mul(anchor_c, step_c));
      s = hn::MulAdd(anchor_s, step_c, hn::Mul(anchor_c, step_s));
    };
    auto earlier_c = hn::Zero(df), earlier_s = hn::Zero(df), later_c = hn::Zero(df), later_s = hn::Zero(df);
    entry(i, earlier_c, earlier_s);
    entry(i + lanes, later_c, later_s);
    StoreInOrder(df, order, EntryKind::cosine, i, earlier_c, later_c, row.cos_head);
    StoreInOrder(df, order, EntryKind::sine, i, earlier_s, later_s, row.sin_head);
  }
  return true;
#else
  return false;
#endif
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
