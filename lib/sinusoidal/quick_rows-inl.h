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
#include <array>

#include "lib/kernels/put_vector-inl.h"
#include "lib/sinusoidal/quick_certificate-inl.h"
#include "lib/sinusoidal/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// A vector of 16-bit elements to two places, which may be beside each other.
template <class Type, Caching caching, class V>
HWY_INLINE void PutHalves(V elements, typename Type::Element* to, typename Type::Element* second_to) {
  const hn::Half<hn::DFromV<V>> half;
  if (second_to == to + hn::Lanes(half)) return PutVector<caching>(elements, to);
  constexpr Caching of_halves = streams_elements<Type, Doubles> ? caching : Caching::kept;
  PutVector<of_halves>(hn::LowerHalf(half, elements), to);
  PutVector<of_halves>(hn::UpperHalf(half, elements), second_to);
}

/// The nearest floats of two vectors, as bits.
HWY_INLINE auto JoinedFloats(DoubleVector earlier, DoubleVector later) {
  const Doubles d;
  const hn::Repartition<std::uint32_t, Doubles> du;
#if HWY_TARGET <= HWY_AVX3
  // Highway's Combine clears the upper half first.
  return hn::Vec<decltype(du)>{
      _mm512_inserti32x8(_mm512_castsi256_si512(Float32::Round(d, earlier).raw), Float32::Round(d, later).raw, 1)};
#else
  return hn::Combine(du, Float32::Round(d, later), Float32::Round(d, earlier));
#endif
}

/// Rounds two vectors of pairs, puts them in place at i and, if that is another place, at `later`, which is next to it,
/// and looks at them.
template <class Type, Order order, Caching caching>
HWY_INLINE typename QuickCertificate<Type>::Marks PutQuickly(const TwoRotations& z, std::size_t i, std::size_t later,
                                                             const RowPlace<Type>& place,
                                                             const QuickCertificate<Type>& quick) {
  const Doubles d;
  const auto put_one = [&]() HWY_ATTR {
    Put<Type, order, caching>({Type::RoundTwice(d, z.first.sin), Type::RoundTwice(d, z.first.cos)}, i, place);
  };
  if constexpr (sizeof(typename Type::Element) == 2) {
    const auto sin = JoinedFloats(z.first.sin, z.later.sin);
    const auto cos = JoinedFloats(z.first.cos, z.later.cos);
    const auto elements = order == Order::halves    ? RoundFloatsAgain(Type(), sin, cos)
                          : order == Order::sin_cos ? RoundFloatPairsAgain(Type(), sin, cos)
                                                    : RoundFloatPairsAgain(Type(), cos, sin);
    if (later == i) {
      put_one();
    } else if (order == Order::halves) {
      PutHalves<Type, caching>(elements, place.sin + i, place.cos + i);
    } else {
      PutVector<caching>(elements, place.sin + 2 * i);
    }
    return quick.MarksOf(sin, cos, elements);
  } else {
    // Sines and cosines where they go to halves, else side by side.
    const auto side_by_side = [&](const Rotation& of) HWY_ATTR {
      const auto sin = Float32::Round(d, of.sin);
      const auto cos = Float32::Round(d, of.cos);
      return order == Order::cos_sin ? Interleave(d, cos, sin) : Interleave(d, sin, cos);
    };
    constexpr bool halves = order == Order::halves;
    const auto first = halves ? JoinedFloats(z.first.sin, z.later.sin) : side_by_side(z.first);
    const auto second = halves ? JoinedFloats(z.first.cos, z.later.cos) : side_by_side(z.later);
    if (later == i) {
      put_one();
    } else {
      PutVector<caching>(first, halves ? place.sin + i : place.sin + 2 * i);
      PutVector<caching>(second, halves ? place.cos + i : place.sin + 2 * later);
    }
    return quick.MarksOf(z, first, second);
  }
}

/// Looks at the vectors at i and `later` again and puts those in place again, certified, that the quick certificate is
/// not sure of. Not inlined, and given nothing that has been computed, so that the loop need not keep it in memory. A
/// line of 16-bit elements that was streamed is streamed whole: a part of one would wait for the rest to be read.
template <class Type, Order order, Caching caching>
HWY_NOINLINE bool PutAgain(const RowOf& row, std::size_t i, std::size_t later, const RowPlace<Type>& place,
                           const QuickCertificate<Type>& quick) {
  using Element = typename Type::Element;
  constexpr std::size_t lanes = hn::MaxLanes(Doubles());
  bool decided = true;
  if constexpr (sizeof(Element) == 4) {
    for (; i <= later; i += lanes) {
      const Rotation z = TurnedTo<Type>(row, i);
      const auto floats = JoinedFloats(z.sin, z.cos);
      if (!quick.AllCertain(quick.MarksOf({z, z}, floats, floats)))
        decided &= PutCertified<Type, order, caching>(row, z, i, place, i);
    }
  } else if constexpr (sizeof(Element) == 2) {
    // The elements of both: pairs, or sines and then cosines.
    alignas(64) std::array<Element, 4 * lanes> elements;
    const RowPlace<Type> first{elements.data(), elements.data() + 2 * lanes, Component::sin};
    const TwoRotations z{TurnedTo<Type>(row, i), TurnedTo<Type>(row, later)};
    const bool certain = quick.AllCertain(PutQuickly<Type, order, Caching::kept>(z, 0, lanes, first, quick));
    if (certain) return true;
    if (later == i) return PutCertified<Type, order, caching>(row, z.first, i, place, i);
    decided &= PutCertified<Type, order, Caching::kept>(row, z.first, i, first, 0);
    decided &= PutCertified<Type, order, Caching::kept>(row, z.later, later, first, lanes);
    const hn::Repartition<Element, Doubles> d;
    const auto whole = hn::Load(d, elements.data());
    if (order == Order::halves) {
      PutHalves<Type, caching>(whole, place.sin + i, place.cos + i);
    } else {
      PutVector<caching>(whole, place.sin + 2 * i);
    }
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
/// EncodeQuickly does one. Where there are registers for both, the vectors that come next are turned before those at
/// hand are rounded: in the order of the code the processor then finds more to do that does not wait for what is just
/// before.
template <class Type, Rounding rounding, Order order, Caching caching>
HWY_NOINLINE bool EncodeBothSides(const RowOf& middle, const RowPlace<Type>& place, std::size_t stride,
                                  std::int64_t count, const QuickCertificate<Type>& quick) {
  struct BothSides {
    TwoRotations after;
    TwoRotations before;
  };
  const std::size_t lanes = hn::Lanes(Doubles());
  const auto turned = [&](const double* steps, std::size_t i) HWY_ATTR {
    const double* const step = steps + StepOffsetOfTwo(i);
    const Products first = MultiplyInDouble(step, middle.anchors, i);
    const Products later = MultiplyInDouble(step + from_first_to_second_step, middle.anchors, i + lanes);
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
  constexpr bool ahead = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM;  // 32 vector registers
  // Begun at once: GCC compiles a default constructor without NEON's attribute, and refuses to inline that of vectors.
  BothSides next = turned(steps_of(1), 0);
  std::size_t next_i = 0;
  for (std::int64_t offset = 1; offset <= count; ++offset) {
    const RowPlace<Type> after = moved(place, offset * static_cast<std::ptrdiff_t>(stride));
    const RowPlace<Type> before = moved(place, -offset * static_cast<std::ptrdiff_t>(stride));
    const double* const steps = steps_of(offset);
    const double* const next_steps = steps_of(offset < count ? offset + 1 : offset);
    do {
      const std::size_t i = next_i;
      next_i = i == last ? 0 : std::min(i + 2 * lanes, last);
      const BothSides z = ahead ? next : turned(steps, i);
      if constexpr (ahead) next = turned(i == last ? next_steps : steps, next_i);
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
