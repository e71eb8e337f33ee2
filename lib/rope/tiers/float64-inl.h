// float64 elements, for one Highway target. Included inside HWY_NAMESPACE by a file that is compiled once per target.
// docs/proofs/rope.md, steps 5 and 7, has the bounds.

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
#include "lib/rope/kernels/pair_bounds-inl.h"
#include "lib/rope/kernels/precise_row-inl.h"
#include "lib/rope/kernels/settle-inl.h"
#include "lib/rope/kernels/units-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// A row in double-double.
template <class Bounds>
struct Float64Row : RowOf<Bounds> {
  alignas(64) double cos_low[row_entries];
  alignas(64) double sin_low[row_entries];
};

/// float64 elements, in double-double; Rounding::fast is the same.
template <class Bounds>
struct TurnFloat64 {
  static constexpr Dtype dtype = Dtype::float64;
  using Element = std::uint64_t;
  using DE = hn::Rebind<Element, Doubles>;
  using Pair = PairOf<hn::Vec<DE>>;
  using Row = Float64Row<Bounds>;

  template <Pairing in, Pairing out>
  static void Fill(const RowSource& source, std::int64_t token, std::size_t first_pair, std::size_t count, Row& row) {
    BeginRow(source, token, first_pair, row);
    const PairTurns& turns = source.turns;
    if constexpr (Bounds::of_pairs) {
      FillPreciseRow(source, first_pair, count, row);
      FillPairBounds<dtype>(count, row);
    } else {
      row.bounds.bound = 0x1p-98 * (IsOrdinary(turns.factor) ? turns.factor.high : HUGE_VAL);
      turns.axes != nullptr ? FillPreciseRowOfAxes(source, first_pair, count, row)
                            : FillPreciseRow(source, first_pair, count, row);
    }
  }

  template <Rounding>
  static HWY_INLINE Pair Turn(const Row& row, std::size_t i, const Pair& x) {
    const Doubles d;
    const DE du;
    const auto x0 = hn::BitCast(d, x.first);
    const auto x1 = hn::BitCast(d, x.second);
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
      return SettleMasked<dtype>(du, row, i, open, x, {first.bits, second.bits}, std::uint64_t{0x7FF} << 52,
                                 std::uint64_t{0xFFF} << 51);
    }
    return {first.bits, second.bits};
  }
};

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
