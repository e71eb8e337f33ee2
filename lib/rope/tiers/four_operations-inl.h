// float32 and float64 elements under Rounding::fast, where operations are fused, for one Highway target. Included
// inside HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. A row's a cos and a sin, of the exact angle, are rounded to the type of the elements.
//   2. y0 = x0 c - x1 s and y1 = x1 c + x0 s, each by a product and a fused operation in that type.
//   3. Whole vectors of pairs are turned, side by side where memory holds them so; there is nothing to certify, and
//      what is not finite is what the operations make of it.
//
// docs/proofs/rope.md, step 22, has the bound.

#if defined(SEXTANT_LIB_ROPE_TIERS_FOUR_OPERATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_TIERS_FOUR_OPERATIONS_INL_H_
#undef SEXTANT_LIB_ROPE_TIERS_FOUR_OPERATIONS_INL_H_
#else
#define SEXTANT_LIB_ROPE_TIERS_FOUR_OPERATIONS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "lib/rope/kernels/heads-inl.h"
#include "lib/rope/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Whether Rounding::fast of float32 and float64 takes four operations; else it is turned in double, or certified.
inline constexpr bool has_four_operations = HWY_TARGET != HWY_SCALAR && HWY_NATIVE_FMA;

/// A row's entries as elements, once each, or for pairs side by side as FillNearest has them.
template <class Number>
struct NearestEntries {
  alignas(64) Number cos[2 * row_entries];
  alignas(64) Number sin[2 * row_entries];
};

#if HWY_TARGET != HWY_SCALAR && HWY_NATIVE_FMA

/// Each entry once, or under pairs side by side once for each element of its pair, the first sine negated: with the
/// elements of each pair swapped in x', y = x cos + x' sin.
template <Pairing in, Pairing out, class Row, class Number>
void FillNearest(const Row& row, std::size_t count, NearestEntries<Number>& nearest) {
  const Doubles d;
  const hn::Rebind<Number, Doubles> dn;
  const auto as_number = [&](DoubleVector value) HWY_ATTR {
    if constexpr (std::is_same_v<Number, float>) {
      return NearestFloat(d, value);
    } else {
      return value;
    }
  };
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto c = as_number(hn::Load(d, row.cos + i));
    const auto s = as_number(hn::Load(d, row.sin + i));
    if constexpr (side_by_side<in, out>) {
      hn::StoreInterleaved2(c, c, dn, nearest.cos + 2 * i);
      hn::StoreInterleaved2(hn::Neg(s), s, dn, nearest.sin + 2 * i);
    } else {
      hn::Store(c, dn, nearest.cos + i);
      hn::Store(s, dn, nearest.sin + i);
    }
  }
}

/// A vector of pairs at a time, or of each channel of as many (TurnByEntries).
template <class Number>
struct FourOperations {
  using DN = hn::CappedTag<Number, 64 / sizeof(Number)>;
  using DE = hn::RebindToUnsigned<DN>;
  using Element = hn::TFromD<DE>;
  using From = Element;

  // Of both halves of the pairs where they lie side by side, else of all in the first two.
  struct Entries {
    hn::Vec<DN> a_cos;
    hn::Vec<DN> a_sin;
    hn::Vec<DN> b_cos;
    hn::Vec<DN> b_sin;
  };

  template <Pairing in, Pairing out>
  static HWY_INLINE std::size_t PairsATime() {
    return hn::Lanes(DE());
  }

  template <Pairing in, Pairing out, class Row>
  static HWY_INLINE Entries EntriesAt(const Row& row, std::size_t i) {
    const DN d;
    const NearestEntries<Number>& by = row.nearest;
    const std::size_t at = side_by_side<in, out> ? 2 * i : i;
    const std::size_t of_b = side_by_side<in, out> ? at + hn::Lanes(d) : at;
    return {ReadOnce(hn::Load(d, by.cos + at)), ReadOnce(hn::Load(d, by.sin + at)), hn::Load(d, by.cos + of_b),
            hn::Load(d, by.sin + of_b)};
  }

  template <Pairing in, Pairing out, Caching caching>
  static HWY_INLINE void Turn(const Entries& by, const Element* x0, const Element* x1, Element* y0, Element* y1) {
    const DN d;
    const DE de;
    if constexpr (side_by_side<in, out>) {
      const std::size_t lanes = hn::Lanes(de);
      const auto a = TurnedTogether(d, hn::BitCast(d, hn::LoadU(de, x0)), by.a_cos, by.a_sin);
      const auto b = TurnedTogether(d, hn::BitCast(d, hn::LoadU(de, x0 + lanes)), by.b_cos, by.b_sin);
      PutVector<caching>(hn::BitCast(de, a), y0);
      PutVector<caching>(hn::BitCast(de, b), y0 + lanes);
    } else {
      const auto x = LoadPairs<in>(de, x0, x1);
      const auto y = TurnedBy(hn::BitCast(d, x.first), hn::BitCast(d, x.second), by.a_cos, by.a_sin);
      StorePairs<out, caching>(de, PairOf<hn::Vec<DE>>{hn::BitCast(de, y.first), hn::BitCast(de, y.second)}, y0, y1);
    }
  }
};

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
