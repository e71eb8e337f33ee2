// float64 elements, for one Highway target. Included inside HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. A row has a cos and a sin of each pair in double-double, by itself or turned from the row before.
//   2. Each y is a sum of two products of an element and an entry. The products' and the sum's errors are doubles
//      themselves; with the entries' low parts they make what is left beside the nearest double, h + r.
//   3. The quick tier keeps h where h + r, moved away from h by four bounds, still rounds to h: docs/proofs/rope.md,
//      step 21. It needs fused operations.
//   4. What that leaves open, and whole vectors on other targets, are rounded with both ends of the bound (steps 5 and
//      7), and the rest goes to settle.hpp.
//   5. Rounding::fast is four_operations-inl.h where operations are fused.
//
// docs/proofs/rope.md, steps 4, 5, 7 and 21, has the bounds.

#if defined(SEXTANT_LIB_ROPE_TIERS_FLOAT64_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_TIERS_FLOAT64_INL_H_
#undef SEXTANT_LIB_ROPE_TIERS_FLOAT64_INL_H_
#else
#define SEXTANT_LIB_ROPE_TIERS_FLOAT64_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

#include "lib/kernels/certify-inl.h"
#include "lib/rope/kernels/axes-inl.h"
#include "lib/rope/kernels/next_row-inl.h"
#include "lib/rope/kernels/pair_bounds-inl.h"
#include "lib/rope/kernels/precise_row-inl.h"
#include "lib/rope/kernels/settle-inl.h"
#include "lib/rope/kernels/units-inl.h"
#include "lib/rope/tiers/four_operations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// A row in double-double.
template <class Bounds>
struct Float64Row : NextRow<Bounds> {
  static constexpr std::size_t element_bytes = 8;
  static constexpr bool precise = true;
  static constexpr int most_turns = 64;
  static constexpr double bound_of_turned = 0x1p-39;  // docs/proofs/rope.md, step 4

  alignas(64) double cos_low[row_entries];
  alignas(64) double sin_low[row_entries];
  alignas(64) double step_cos_low[rope_tile_pairs];
  alignas(64) double step_sin_low[rope_tile_pairs];
  alignas(64) double cos_apart[row_entries];  // FillApart
  alignas(64) double sin_apart[row_entries];
  alignas(64) double cos_low_apart[row_entries];
  alignas(64) double sin_low_apart[row_entries];
  alignas(64) double bounds_apart[row_entries];  // of pairs
  NearestEntries<double> nearest;                // under Rounding::fast
};

#if HWY_TARGET != HWY_SCALAR && HWY_NATIVE_FMA
/// The entries in the order in which the quick tier takes pairs apart that lie side by side: the first of the one
/// vector, the first of the other, and so on.
template <class Bounds>
void FillApart(std::size_t count, Float64Row<Bounds>& row) {
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  const std::size_t lanes = hn::Lanes(d);
  alignas(64) std::int64_t order[hn::MaxLanes(Doubles())];
  for (std::size_t k = 0; k < lanes; ++k) order[k] = static_cast<std::int64_t>(k % 2 * (lanes / 2) + k / 2);
  const auto indices = hn::IndicesFromVec(d, hn::Load(di, order));
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto put = [&](const double* from, double* to)
                         HWY_ATTR { hn::Store(hn::TableLookupLanes(hn::Load(d, from + i), indices), d, to + i); };
    put(row.cos, row.cos_apart);
    put(row.sin, row.sin_apart);
    put(row.cos_low, row.cos_low_apart);
    put(row.sin_low, row.sin_low_apart);
    if constexpr (Bounds::of_pairs) put(row.bounds.bounds, row.bounds_apart);
  }
}
#endif

/// float64 elements, in double-double; Rounding::fast is the same where operations are not fused.
template <class Bounds>
struct TurnFloat64 {
  static constexpr Dtype dtype = Dtype::float64;
  using Element = std::uint64_t;
  using From = Element;
  using DE = hn::Rebind<Element, Doubles>;
  using DX = DE;
  using Pair = PairOf<hn::Vec<DE>>;
  using Row = Float64Row<Bounds>;

  template <Pairing in, Pairing out>
  static void Fill(const RowSource& source, std::int64_t token, std::size_t first_pair, std::size_t count, Row& row) {
    FillEntries(source, token, first_pair, count, row);
#if HWY_TARGET != HWY_SCALAR && HWY_NATIVE_FMA
    if (source.rounding == Rounding::fast) {
      FillNearest<in, out>(row, count, row.nearest);
    } else if constexpr (side_by_side<in, out>) {
      FillApart(count, row);
    }
#endif
  }

  static void FillEntries(const RowSource& source, std::int64_t token, std::size_t first_pair, std::size_t count,
                          Row& row) {
    const std::int64_t before = row.position;
    const std::int64_t token_before = row.token;
    BeginRow(source, token, first_pair, row);
    const PairTurns& turns = source.turns;
    if constexpr (Bounds::of_pairs) {
      FillPreciseRow(source, first_pair, count, row);
      FillPairBounds(count, row);
    } else {
      row.quick = IsOrdinary(turns.factor);
      row.bounds.bound = 0x1p-98 * (row.quick ? turns.factor.high : HUGE_VAL);
      if (has_four_operations && source.rounding == Rounding::fast)
        return FillPreciseRow(source, first_pair, count, row);
      if (turns.axes != nullptr) return FillPreciseRowOfAxes(source, token_before, first_pair, count, row);
      const bool turned = row.quick && before != Row::none && TurnsRows<Row>(source) &&
                          FillFromRowBefore(source, row.position - before, count, row);
      if (!turned) FillPreciseRow(source, first_pair, count, row);
    }
  }

  template <Rounding rounding>
  static HWY_INLINE Pair Turn(const Row& row, std::size_t i, const Pair& x) {
    const Doubles d;
    const DE du;
    const auto x0 = hn::BitCast(d, x.first);
    const auto x1 = hn::BitCast(d, x.second);
    if constexpr (rounding == Rounding::fast && has_four_operations) {
      const auto y = Turned(x0, x1, hn::Load(d, row.cos + i), hn::Load(d, row.sin + i));
      return {hn::BitCast(du, y.first), hn::BitCast(du, y.second)};
    }
    const DoubleDouble<DoubleVector> c{hn::Load(d, row.cos + i), hn::Load(d, row.cos_low + i)};
    const DoubleDouble<DoubleVector> s{hn::Load(d, row.sin + i), hn::Load(d, row.sin_low + i)};
    const auto size = hn::Add(hn::Abs(x0), hn::Abs(x1));
    const auto bound = hn::Mul(size, row.bounds.InDouble(d, i));
    const auto first = Float64::Certify(d, Add(Multiply(c, x0), Negate(Multiply(s, x1))), bound);
    const auto second = Float64::Certify(d, Add(Multiply(s, x0), Multiply(c, x1)), bound);
    const auto inside =
        hn::And(hn::Ge(size, hn::Set(d, Bounds::least_size)), hn::Le(size, hn::Set(d, Bounds::largest_size)));
    const auto open = hn::Or(hn::Or(first.undecided, second.undecided), hn::RebindMask(du, hn::Not(inside)));
    if (HWY_UNLIKELY(!hn::AllFalse(du, open))) {
      return SettleMasked<dtype, dtype>(du, row, i, open, x, {first.bits, second.bits}, std::uint64_t{0x7FF} << 52,
                                        std::uint64_t{0xFFF} << 51);
    }
    return {first.bits, second.bits};
  }

  /// Writes a cos and a sin of a vector of pairs, where both are certain (docs/proofs/rope.md, step 25).
  static HWY_INLINE bool PutEntries(const Row& row, std::size_t i, Element* cos, Element* sin) {
    const Doubles d;
    const DE de;
    const DoubleVector four_bounds = hn::Mul(row.bounds.InDouble(d, i), hn::Set(d, 4.0));
    const auto stands = [&](DoubleVector high, DoubleVector low) HWY_ATTR {
      return hn::Eq(hn::Add(high, hn::Add(low, hn::CopySignToAbs(four_bounds, low))), high);
    };
    const Rotation z = LoadRotation(i, row.cos, row.sin);
    const Rotation low = LoadRotation(i, row.cos_low, row.sin_low);
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::And(stands(z.cos, low.cos), stands(z.sin, low.sin))))) return false;
    hn::StoreU(hn::BitCast(de, z.cos), de, cos);
    hn::StoreU(hn::BitCast(de, z.sin), de, sin);
    return true;
  }
};

#if HWY_TARGET != HWY_SCALAR && HWY_NATIVE_FMA

/// float64 elements, a vector of pairs at a time (docs/proofs/rope.md, step 21).
struct QuickFloat64 {
  using Element = std::uint64_t;
  using From = Element;
  using DE = hn::Rebind<Element, Doubles>;
  using Mask = hn::Mask<Doubles>;
  static constexpr bool defers = false;
  struct Begun {
    PairOf<DoubleVector> nearest;
    PairOf<DoubleVector> moved;  // what is left of y beside the nearest double, and four bounds more
    Mask inside;
  };

  template <class Bounds>
  explicit HWY_INLINE QuickFloat64(const Float64Row<Bounds>&) {}

  // x c less than the double nearest to it, c in double-double: that double's error and what the low part adds.
  static HWY_INLINE DoubleVector Rest(DoubleVector x, DoubleVector c, DoubleVector c_low, DoubleVector product) {
    return hn::MulAdd(x, c_low, hn::MulSub(x, c, product));
  }

  // `rest` is of the numbers that p and q are nearest to. Where the last sum is not exact, the certificate fails.
  static HWY_INLINE void Put(DoubleVector p, DoubleVector q, DoubleVector rest, DoubleVector four_bounds,
                             DoubleVector& nearest, DoubleVector& moved) {
#if HWY_TARGET <= HWY_AVX3
    // The larger first, five operations in place of six. Beside a NaN they are of the other alone: `rest` has it.
    const DoubleDouble<DoubleVector> sum =
        FastTwoSum(DoubleVector{_mm512_range_pd(p.raw, q.raw, 7)}, DoubleVector{_mm512_range_pd(p.raw, q.raw, 6)});
#else
    const DoubleDouble<DoubleVector> sum = TwoSum(p, q);
#endif
    const DoubleVector low = hn::Add(rest, sum.low);
    nearest = hn::Add(sum.high, low);
    const DoubleVector left = hn::Sub(low, hn::Sub(nearest, sum.high));
    moved = hn::Add(left, hn::CopySignToAbs(four_bounds, left));
  }

  // Pairs that lie side by side are taken apart block by block of 16 bytes, and put together again so.
  template <Pairing in, Pairing out>
  static HWY_INLINE PairOf<DoubleVector> Loaded(const Element* first, const Element* second) {
    const Doubles d;
    const DE de;
    if constexpr (side_by_side<in, out>) {
      const DoubleVector earlier = hn::BitCast(d, hn::LoadU(de, first));
      const DoubleVector later = hn::BitCast(d, hn::LoadU(de, first + hn::Lanes(de)));
      return {hn::InterleaveLower(d, earlier, later), hn::InterleaveUpper(d, earlier, later)};
    }
    const auto x = LoadPairs<in>(de, first, second);
    return {hn::BitCast(d, x.first), hn::BitCast(d, x.second)};
  }

  template <Rounding, Pairing in, Pairing out, class Bounds>
  HWY_INLINE Begun Begin(const Float64Row<Bounds>& row, std::size_t i, const Element* first,
                         const Element* second) const {
    const Doubles d;
    constexpr bool apart = side_by_side<in, out>;
    const auto [x0, x1] = Loaded<in, out>(first, second);
    const DoubleVector c = hn::Load(d, (apart ? row.cos_apart : row.cos) + i);
    const DoubleVector s = hn::Load(d, (apart ? row.sin_apart : row.sin) + i);
    const DoubleVector c_low = hn::Load(d, (apart ? row.cos_low_apart : row.cos_low) + i);
    const DoubleVector s_low = hn::Load(d, (apart ? row.sin_low_apart : row.sin_low) + i);
    const DoubleVector size = hn::Add(hn::Abs(x0), hn::Abs(x1));
    const DoubleVector bound =
        apart && Bounds::of_pairs ? hn::Load(d, row.bounds_apart + i) : row.bounds.InDouble(d, i);
    const DoubleVector four_bounds = hn::Mul(size, hn::Mul(bound, hn::Set(d, 4.0)));
    const DoubleVector minus_x1 = hn::Neg(x1);
    // Not by the default constructor: GCC compiles it without NEON's attribute, and refuses to inline that of vectors.
    const DoubleVector zero = hn::Zero(d);
    Begun y{{zero, zero}, {zero, zero}, hn::Ge(size, hn::Set(d, Bounds::least_size))};
    const auto put = [&](DoubleVector own, DoubleVector other, DoubleVector& nearest, DoubleVector& moved) HWY_ATTR {
      const DoubleVector p = hn::Mul(own, c);
      const DoubleVector q = hn::Mul(other, s);
      const DoubleVector rest = hn::Add(Rest(own, c, c_low, p), Rest(other, s, s_low, q));
      Put(p, q, rest, four_bounds, nearest, moved);
    };
    put(x0, minus_x1, y.nearest.first, y.moved.first);
    put(x1, x0, y.nearest.second, y.moved.second);
    return y;
  }

  template <Rounding, Pairing in, Pairing out, Caching caching>
  HWY_INLINE bool End(const Begun& y, Element* y0, Element* y1) const {
    const Doubles d;
    const DE de;
    const Mask first = hn::Eq(hn::Add(y.nearest.first, y.moved.first), y.nearest.first);
    const Mask second = hn::Eq(hn::Add(y.nearest.second, y.moved.second), y.nearest.second);
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::And(y.inside, hn::And(first, second))))) return false;
    if constexpr (side_by_side<in, out>) {
      PutVector<caching>(hn::BitCast(de, hn::InterleaveLower(d, y.nearest.first, y.nearest.second)), y0);
      PutVector<caching>(hn::BitCast(de, hn::InterleaveUpper(d, y.nearest.first, y.nearest.second)),
                         y0 + hn::Lanes(de));
    } else {
      StorePairs<out, caching>(
          de, PairOf<hn::Vec<DE>>{hn::BitCast(de, y.nearest.first), hn::BitCast(de, y.nearest.second)}, y0, y1);
    }
    return true;
  }
};

template <class Bounds>
struct QuickTier<TurnFloat64<Bounds>> {
  static constexpr bool exists = true;
  using Quick = QuickFloat64;
};

template <class Bounds>
struct FastTier<TurnFloat64<Bounds>> {
  static constexpr bool exists = true;
  using Quick = FourOperations<double>;
};

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
