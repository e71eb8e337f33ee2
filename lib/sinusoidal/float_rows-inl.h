// Rows of the sinusoidal encoding in bfloat16, turned in float, for one Highway target: included inside HWY_NAMESPACE
// by a file that is compiled once per target.
//
//   1. Anchors and steps are rounded to float: a vector has twice the pairs of one of doubles, with no conversions.
//   2. The rows j after and j before an anchor are turned from the same products, each value twice, to both ends of an
//      interval that has the truth inside: the bound goes in with the first product.
//   3. Where both ends round to the same elements, those are the truth's. All are written; a vector of pairs where they
//      do not, one in fifty, is remembered, and no branch depends on it.
//   4. What was remembered is turned in double behind and written again, as quick_rows-inl.h does.
//
// Rounding::fast is done by the same. Of float16 one vector in six would be left open, which takes longer than to turn
// all of them in double at once.
//
// docs/proofs/sinusoidal-rows.md, step 7, has the bound, docs/proofs/quick-certificate.md, step 6, why equal ends are
// enough.

#if defined(SEXTANT_LIB_SINUSOIDAL_FLOAT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_FLOAT_ROWS_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_FLOAT_ROWS_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_FLOAT_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lib/kernels/put_vector-inl.h"
#include "lib/sinusoidal/quick_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Whether rows that have others on the other side of their anchor are turned in float.
template <class Type>
inline constexpr bool turns_in_float = HWY_TARGET != HWY_SCALAR&& Type::dtype == Dtype::bfloat16;

#if HWY_TARGET != HWY_SCALAR

using Singles = hn::Repartition<float, Doubles>;
using SingleVector = hn::Vec<Singles>;

/// sin and cos of the same angles, or one end of an interval around each.
struct SingleRotation {
  SingleVector sin;
  SingleVector cos;
};

/// The anchors of a tile, rounded.
struct SingleAnchors {
  alignas(64) std::array<float, tile_pairs> sin;
  alignas(64) std::array<float, tile_pairs> cos;
};

HWY_INLINE void RoundAnchors(const Anchors& anchors, std::size_t count, SingleAnchors& rounded) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Rotation z = LoadRotation(i, anchors.cos_high.data(), anchors.sin_high.data());
    hn::Store(NearestFloat(d, z.sin), df, rounded.sin.data() + i);
    hn::Store(NearestFloat(d, z.cos), df, rounded.cos.data() + i);
  }
}

/// The ends of a vector of pairs on both sides of the anchors.
struct BothSidesInFloat {
  SingleRotation after_upper;
  SingleRotation after_lower;
  SingleRotation before_upper;
  SingleRotation before_lower;
};

/// Step 2: sin(a + b) = sin a cos b + cos a sin b, and so on, with both ends of the second product.
HWY_INLINE BothSidesInFloat TurnBothSides(const SingleRotation& anchor, const SingleRotation& step,
                                          SingleVector bound) {
  const SingleVector cos_sin_upper = hn::MulAdd(anchor.cos, step.sin, bound);
  const SingleVector cos_sin_lower = hn::MulSub(anchor.cos, step.sin, bound);
  const SingleVector sin_sin_upper = hn::MulAdd(anchor.sin, step.sin, bound);
  const SingleVector sin_sin_lower = hn::MulSub(anchor.sin, step.sin, bound);
  return {{hn::MulAdd(anchor.sin, step.cos, cos_sin_upper), hn::MulSub(anchor.cos, step.cos, sin_sin_lower)},
          {hn::MulAdd(anchor.sin, step.cos, cos_sin_lower), hn::MulSub(anchor.cos, step.cos, sin_sin_upper)},
          {hn::MulSub(anchor.sin, step.cos, cos_sin_lower), hn::MulAdd(anchor.cos, step.cos, sin_sin_upper)},
          {hn::MulSub(anchor.sin, step.cos, cos_sin_upper), hn::MulAdd(anchor.cos, step.cos, sin_sin_lower)}};
}

/// The elements of a vector of pairs in the order in which they are put in place.
template <class Type, Order order>
HWY_INLINE auto ElementsInOrder(const SingleRotation& z) {
  const hn::RebindToUnsigned<Singles> du;
  const auto sin = hn::BitCast(du, z.sin);
  const auto cos = hn::BitCast(du, z.cos);
  return order == Order::halves    ? RoundFloatsAgain(Type(), sin, cos)
         : order == Order::sin_cos ? RoundFloatPairsAgain(Type(), sin, cos)
                                   : RoundFloatPairsAgain(Type(), cos, sin);
}

/// A vector of pairs to be turned in double: its row's offset from the anchor, and its first pair.
struct OpenPairs {
  std::int16_t offset;
  std::uint16_t pair;
};

/// Where rows of a block go: the anchor's, and the elements from one to the next.
template <class Type>
struct BlockPlace {
  RowPlace<Type> middle;
  std::ptrdiff_t stride;

  HWY_INLINE RowPlace<Type> At(std::int64_t offset) const {
    return {middle.sin + offset * stride, middle.cos + offset * stride, middle.earlier};
  }
};

/// Step 4, by TurnedTo's operations, so that PutAgain finds the same values. The side is told by the sine's sign, not
/// by a branch, which could not be foreseen.
template <class Type, Order order, Caching caching>
HWY_NOINLINE bool TurnOpen(const RowOf& middle, const BlockPlace<Type>& place, const OpenPairs* open, std::size_t count,
                           const QuickCertificate<Type>& quick) {
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  bool decided = true;
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t offset = open[k].offset;
    const RowOf row{middle.plan, middle.tile, middle.anchors, middle.anchor, offset};
    const RowPlace<Type> to = place.At(offset);
    const DoubleVector side = hn::BitCast(d, hn::Set(di, offset & std::numeric_limits<std::int64_t>::min()));
    const auto turned = [&](std::size_t i) HWY_ATTR {
      const double* const step = row.Steps() + StepOffset(i);
      const DoubleVector step_sin = hn::Xor(hn::Load(d, step), side);
      const Rotation z = LoadRotation(i, middle.anchors.cos_high.data(), middle.anchors.sin_high.data());
      return Products{z, hn::Load(d, step + FrequencyPieces::lanes), hn::Mul(z.cos, step_sin), hn::Mul(z.sin, step_sin)}
          .After();
    };
    const std::size_t i = open[k].pair;
    const std::size_t later = i + hn::Lanes(d);
    const auto marks = PutQuickly<Type, order, caching>({turned(i), turned(later)}, i, later, to, quick);
    if (HWY_UNLIKELY(!quick.AllCertain(marks))) decided &= PutAgain<Type, order, caching>(row, i, later, to, quick);
  }
  return decided;
}

/// As EncodeBothSides.
template <class Type, Order order, Caching caching>
HWY_NOINLINE bool EncodeBothSidesInFloat(const RowOf& middle, const BlockPlace<Type>& place, std::int64_t count,
                                         const QuickCertificate<Type>& quick) {
  const Singles df;
  const hn::Repartition<std::uint16_t, Doubles> de;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t pairs = middle.tile.padded;
  SingleAnchors anchors;
  RoundAnchors(middle.anchors, pairs, anchors);
  constexpr double bound_in_roundings = HWY_NATIVE_FMA ? 4.25 : 5.25;
  const SingleVector bound =
      hn::Set(df, static_cast<float>(bound_in_roundings * 0x1p-24 * std::fabs(middle.plan.encoding.scale)));
  // A row's vectors at least are remembered before any is turned.
  constexpr std::size_t most_per_row = 2 * tile_pairs / hn::MaxLanes(df);
  constexpr std::size_t most = 4 * most_per_row;
  std::array<OpenPairs, most + 1> open;
  std::size_t opened = 0;
  bool decided = true;
  const auto put = [&](const SingleRotation& upper, const SingleRotation& lower, std::int64_t offset, std::size_t i,
                       const RowPlace<Type>& to) HWY_ATTR {
    const auto elements = ElementsInOrder<Type, order>(upper);
    if constexpr (order == Order::halves) {
      PutHalves<Type, caching>(elements, to.sin + i, to.cos + i);
    } else {
      PutVector<caching>(elements, to.sin + 2 * i);
    }
    open[opened] = {static_cast<std::int16_t>(offset), static_cast<std::uint16_t>(i)};
    opened += hn::AllTrue(de, hn::Eq(elements, ElementsInOrder<Type, order>(lower))) ? 0 : 1;
  };
  for (std::int64_t offset = 1; offset <= count; ++offset) {
    const RowPlace<Type> after = place.At(offset);
    const RowPlace<Type> before = place.At(-offset);
    const SingleStepGroup* const steps =
        &middle.plan.step_single[middle.plan.single_step_at(offset, middle.tile.first)];
    for (std::size_t i = 0; i < pairs; i += lanes) {
      const SingleStepGroup& group = steps[i / SingleStepGroup::lanes];
      const std::size_t in_group = i % SingleStepGroup::lanes;
      const SingleRotation step{hn::Load(df, group.sin.data() + in_group), hn::Load(df, group.cos.data() + in_group)};
      const SingleRotation anchor{hn::Load(df, anchors.sin.data() + i), hn::Load(df, anchors.cos.data() + i)};
      const BothSidesInFloat z = TurnBothSides(anchor, step, bound);
      put(z.after_upper, z.after_lower, offset, i, after);
      put(z.before_upper, z.before_lower, -offset, i, before);
    }
    if (HWY_LIKELY(offset < count && opened <= most - most_per_row)) continue;
    decided &= TurnOpen<Type, order, caching>(middle, place, open.data(), opened, quick);
    opened = 0;
  }
  return decided;
}

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
