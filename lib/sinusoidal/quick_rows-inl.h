// Rows of the sinusoidal encoding, two vectors of pairs at a time, with the quick certificate, for one Highway target:
// included inside HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. The rows j after and j before an anchor are turned from the same products; the vectors that come next before
//      those at hand are rounded.
//   2. They are rounded to floats, and from those to 16 bits, joined in the table's order and stored as they come.
//   3. The quick certificate looks at all of them at once. Where it is not sure, the vectors are turned again one by
//      one, and those in question stored again, certified with care (row-inl.h).
//
// docs/proofs/sinusoidal-rows.md, step 3, has the bounds, docs/proofs/quick-certificate.md why what is kept is right.

#if defined(SEXTANT_LIB_SINUSOIDAL_QUICK_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_QUICK_ROWS_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_QUICK_ROWS_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_QUICK_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "lib/kernels/put_vector-inl.h"
#include "lib/sinusoidal/quick_certificate-inl.h"
#include "lib/sinusoidal/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Two vectors of pairs, or one twice.
struct TwoRotations {
  Rotation first;
  Rotation later;
};

/// Two vectors of floats, as bits, each to its place as elements of the type.
template <class Type, Caching caching, class V>
HWY_INLINE void PutFloats(V first, V second, typename Type::Element* to, typename Type::Element* second_to) {
  if constexpr (sizeof(typename Type::Element) == 4) {
    PutVector<caching>(first, to);
    PutVector<caching>(second, second_to);
  } else if constexpr (sizeof(typename Type::Element) == 2) {
    const hn::Repartition<float, Doubles> df;
    const auto elements = RoundFloatsAgain(Type(), hn::BitCast(df, first), hn::BitCast(df, second));
    const hn::Half<hn::DFromV<decltype(elements)>> half;
    if (second_to == to + hn::Lanes(half)) return PutVector<caching>(elements, to);
    PutVector<streams_elements<Type, Doubles> ? caching : Caching::kept>(hn::LowerHalf(half, elements), to);
    PutVector<streams_elements<Type, Doubles> ? caching : Caching::kept>(hn::UpperHalf(half, elements), second_to);
  }
}

/// Rounds two vectors of pairs, puts them in place at i and, if that is another place, at `later`, which is next to it,
/// and looks at them.
template <class Type, Order order, Caching caching>
HWY_INLINE typename QuickCertificate<Type>::Marks PutQuickly(const TwoRotations& z, std::size_t i, std::size_t later,
                                                             const RowPlace<Type>& place,
                                                             const QuickCertificate<Type>& quick) {
  const Doubles d;
  // The nearest floats as bits: sines and cosines where they go to halves, else side by side.
  const auto joined = [&](DoubleVector earlier_half, DoubleVector later_half) HWY_ATTR {
    const auto a = Float32::Round(d, earlier_half);
    const auto b = Float32::Round(d, later_half);
    if constexpr (order == Order::halves) return hn::Combine(hn::Repartition<std::uint32_t, Doubles>(), b, a);
    return order == Order::cos_sin ? Interleave(d, b, a) : Interleave(d, a, b);
  };
  const bool halves = order == Order::halves;
  const auto first = halves ? joined(z.first.sin, z.later.sin) : joined(z.first.sin, z.first.cos);
  const auto second = halves ? joined(z.first.cos, z.later.cos) : joined(z.later.sin, z.later.cos);
  if (later == i) {
    Put<Type, order, caching>({Type::RoundTwice(d, z.first.sin), Type::RoundTwice(d, z.first.cos)}, i, place);
  } else if (halves) {
    PutFloats<Type, caching>(first, second, place.sin + i, place.cos + i);
  } else {
    PutFloats<Type, caching>(first, second, place.sin + 2 * i, place.sin + 2 * later);
  }
  return quick.Join(quick.MarksOf(z.first, first), quick.MarksOf(z.later, second));
}

/// Looks at the vectors at i and `later` again, one by one, and puts those in place again, certified, that the quick
/// certificate is not sure of. Not inlined, and given nothing that has been computed, so that the loop need not keep it
/// in memory.
template <class Type, Order order, Caching caching>
HWY_NOINLINE bool PutAgain(const RowOf& row, std::size_t i, std::size_t later, const RowPlace<Type>& place,
                           const QuickCertificate<Type>& quick) {
  bool decided = true;
  for (; i <= later; i += hn::Lanes(Doubles())) {
    const Rotation z = TurnedTo<Type>(row, i);
    const auto floats = hn::Combine(hn::Repartition<std::uint32_t, Doubles>(), Float32::Round(Doubles(), z.cos),
                                    Float32::Round(Doubles(), z.sin));
    if (!quick.AllCertain(quick.MarksOf(z, floats))) decided &= PutCertified<Type, order, caching>(row, z, i, place);
  }
  return decided;
}

/// Rounds a row and lets the quick certificate look at two vectors of pairs at a time; what that is not sure of is done
/// again with care.
template <class Type, Rounding rounding, Order order, Caching caching>
HWY_INLINE bool EncodeQuickly(const RowOf& row, const RowPlace<Type>& place, const QuickCertificate<Type>& quick) {
  const std::size_t lanes = hn::Lanes(Doubles());
  bool decided = true;
  for (std::size_t i = 0; i < row.tile.padded; i += 2 * lanes) {
    const std::size_t later = i + lanes < row.tile.padded ? i + lanes : i;
    const auto marks =
        PutQuickly<Type, order, caching>({TurnedTo<Type>(row, i), TurnedTo<Type>(row, later)}, i, later, place, quick);
    if (rounding == Rounding::fast || HWY_LIKELY(quick.AllCertain(marks))) continue;
    decided &= PutAgain<Type, order, caching>(row, i, later, place, quick);
  }
  return decided;
}

/// The rows at 1 to `count` rows after the anchors' and at as many before, `stride` elements from each other, as
/// EncodeQuickly does one. The vectors that come next are turned before those at hand are rounded: in the order of the
/// code the processor then finds more to do that does not wait for what is just before.
template <class Type, Rounding rounding, Order order, Caching caching>
HWY_NOINLINE bool EncodeBothSides(const RowOf& middle, const RowPlace<Type>& place, std::size_t stride,
                                  std::int64_t count, const QuickCertificate<Type>& quick) {
  struct BothSides {
    TwoRotations after;
    TwoRotations before;
  };
  const std::size_t lanes = hn::Lanes(Doubles());
  const auto turned = [&](const double* steps, std::size_t i) HWY_ATTR {
    const Products first = MultiplyInDouble(steps, middle.anchors, i);
    const Products later = MultiplyInDouble(steps, middle.anchors, i + lanes);
    return BothSides{{first.After(), later.After()}, {first.Before(), later.Before()}};
  };
  const auto steps_of = [&](std::int64_t offset) HWY_ATTR {
    return middle.plan.step_high[middle.plan.step_at(offset, middle.tile.first)].sin.data();
  };
  const auto moved = [&](const RowPlace<Type>& from, std::ptrdiff_t elements) HWY_ATTR {
    return RowPlace<Type>{from.sin + elements, from.cos + elements, from.earlier};
  };
  // Where the count of vectors is odd, the last but one is done twice.
  const std::size_t last = middle.tile.padded - 2 * lanes;
  bool decided = true;
  BothSides next = turned(steps_of(1), 0);
  std::size_t next_i = 0;
  for (std::int64_t offset = 1; offset <= count; ++offset) {
    const RowPlace<Type> after = moved(place, offset * static_cast<std::ptrdiff_t>(stride));
    const RowPlace<Type> before = moved(place, -offset * static_cast<std::ptrdiff_t>(stride));
    const double* const steps = steps_of(offset);
    const double* const next_steps = steps_of(offset < count ? offset + 1 : offset);
    do {
      const BothSides z = next;
      const std::size_t i = next_i;
      next_i = i == last ? 0 : std::min(i + 2 * lanes, last);
      next = turned(i == last ? next_steps : steps, next_i);
      const auto marks = quick.Join(PutQuickly<Type, order, caching>(z.after, i, i + lanes, after, quick),
                                    PutQuickly<Type, order, caching>(z.before, i, i + lanes, before, quick));
      if (rounding == Rounding::fast || HWY_LIKELY(quick.AllCertain(marks))) continue;
      const auto again = [&](std::int64_t at, const RowPlace<Type>& where) {
        return PutAgain<Type, order, caching>({middle.plan, middle.tile, middle.anchors, middle.anchor, at}, i,
                                              i + lanes, where, quick);
      };
      decided &= again(offset, after);
      decided &= again(-offset, before);
    } while (next_i != 0);
  }
  return decided;
}

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
