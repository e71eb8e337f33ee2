#include "reference/fast_rotations.hpp"

#include <algorithm>

// Target-independent, so declared before the file is taken once per target.
#ifndef SEXTANT_REFERENCE_REDUCED_PHASES
#define SEXTANT_REFERENCE_REDUCED_PHASES
namespace sextant::reference {

// Phases as k/512 + r turns, r in three pieces: multiples of 2^-56, 2^-88 and 2^-120 turn. The index k is that of the table.
struct ReducedPhases {
  std::vector<double> piece2;
  std::vector<double> piece1;
  std::vector<double> piece0;
  std::vector<std::int64_t> index;
};

}  // namespace sextant::reference
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/fast_rotations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "reference/double_double-inl.h"

// The proof, in units of u^2 = 2^-106 where no other is named.
//
// 1. Phase. The frequency is within 2^-192 turn, so for |p| <= 2^54 the product, exact modulo one turn, is within
//    2^-138 turn; that of a given angle is within 2^-138 turn too (fixed_turns.hpp). Split exactly: phase = k/512 + r,
//    |r| <= 1/1024 turn.
// 2. r as a double-double: three exact pieces of 47, 32 and 32 bits, the rest below 2^-120 turn dropped; the one
//    rounding that is not exact (of a low part below 2^-62 turn) costs 2^-115. In radians, with step 1: below 2^-112.
// 3. a = 2 pi r. 2 pi is held within u^2 of itself, the product errs by 8: 9 u^2 |a|, |a| <= 2 pi/1024 < 2^-7.34.
//    Together with step 2 below 2^-110 + 2^-112 < 2^-109.6.
// 4. sin a = a + a^3 (-1/6 + a^2 (1/120 + t)), t = a^2 (-1/5040 + a^2/362880) in double. The series' next term is
//    |a|^11/39916800 < 2^-105.9. t, at most 2^-26.9, errs by 4 u relatively: 2^-77.9, times |a|^5 < 2^-36.7: nothing.
//    The products' relative errors touch only a^3/6 < 2^-24.6: below 40 u^2 2^-24.6. The last addition: 3 u^2 (|a| +
//    2^-24) < 2^-111.7. With step 3, sin a errs by less than 2^-105.9 + 2^-109.6 + 2^-111.6 < 2^-105.7.
// 5. cos a - 1 = a^2 (-1/2 + a^2 (1/24 + t)), t = a^2 (-1/720 + a^2 (1/40320 - a^2/3628800)) in double. The next term
//    is below 2^-116. t errs by 6 u relatively (coefficients, high part of a^2 alone, five operations that halve in
//    weight), which is |a|^6/720 6 u < 2^-53.5 - 50.4 = 2^-103.9. The rest: relative errors of 30 u^2 of a^2/2 <
//    2^-15.6: nothing. So cos a - 1 errs by less than 2^-103.8.
// 6. The table entry (S, C) of k/512 turn is within 1.01 (MPFR, rounded to a double-double).
//    sin = S + (S (cos a - 1) + C sin a), cos = C + (C (cos a - 1) - S sin a). With |S|, |C| <= 1:
//      table       1.01 (1 + |cos a - 1| + |sin a|)             < 1.02
//      steps 4, 5  2^-105.7 + 2^-103.8                          < 1.24 + 4.60
//      products    8 (2^-15.6 + 2^-7.34)                        < 0.06
//      additions   3 (2^-15.6 + 2^-7.34) + 3 (1 + 2^-7.3)       < 3.05
//    in all below 10, so that 16 u^2 = 2^-102 holds with every second-order term (each factor 1 + 2^-50 or less). This is `at`.
// 7. A sweep turns the row at a block's first position by the row of e^{i w j}, both from `at`: s' = s C + c S, c' = c
//    C - s S. Their errors e = 16 each: e (|C| + |S|) + e (|c| + |s|) <= 2 sqrt(2) 16 < 45.3; products and addition 8 +
//    3 times |s C| + |c S| <= 1 (Cauchy): 11. In all below 56.4, so that 64 u^2 = 2^-100 holds.

HWY_BEFORE_NAMESPACE();
namespace sextant::reference::HWY_NAMESPACE {

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;

HWY_INLINE DoubleDouble<V> Load(const std::vector<double>& high, const std::vector<double>& low, std::size_t i) {
  const D d;
  return {hn::LoadU(d, &high[i]), hn::LoadU(d, &low[i])};
}

HWY_INLINE void Store(const DoubleDouble<V>& value, std::vector<double>& high, std::vector<double>& low,
                      std::size_t i) {
  const D d;
  hn::StoreU(value.high, d, &high[i]);
  hn::StoreU(value.low, d, &low[i]);
}

HWY_INLINE DoubleDouble<V> Constant(double high, double low) {
  const D d;
  return {hn::Set(d, high), hn::Set(d, low)};
}

// Steps 2 to 6 for `count` pairs, a multiple of 8.
void RotateFromTable(std::size_t count, const ReducedPhases& phases, const RotationRow& table, RotationRow& out) {
  const D d;
  const hn::RebindToSigned<D> di;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const DoubleDouble<V> leading = FastTwoSum(hn::LoadU(d, &phases.piece2[i]), hn::LoadU(d, &phases.piece1[i]));
    const DoubleDouble<V> r = FastTwoSum(leading.high, hn::Add(leading.low, hn::LoadU(d, &phases.piece0[i])));
    const DoubleDouble<V> a = Multiply(r, Constant(0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52));
    const DoubleDouble<V> square = Multiply(a, a);

    const V sine_tail =
        hn::Mul(square.high, hn::Add(hn::Set(d, -1.0 / 5040), hn::Mul(square.high, hn::Set(d, 1.0 / 362880))));
    const DoubleDouble<V> one_120th = Constant(0x1.1111111111111p-7, 0x1.1111111111111p-63);
    const DoubleDouble<V> sine_inner = FastTwoSum(one_120th.high, hn::Add(one_120th.low, sine_tail));
    const DoubleDouble<V> sine_factor =
        Add(Constant(-0x1.5555555555555p-3, -0x1.5555555555555p-57), Multiply(square, sine_inner));
    const DoubleDouble<V> sine = Add(a, Multiply(Multiply(a, square), sine_factor));

    const V cosine_tail =
        hn::Mul(square.high, hn::Add(hn::Set(d, -1.0 / 720),
                                     hn::Mul(square.high, hn::Add(hn::Set(d, 1.0 / 40320),
                                                                  hn::Mul(square.high, hn::Set(d, -1.0 / 3628800))))));
    const DoubleDouble<V> one_24th = Constant(0x1.5555555555555p-5, 0x1.5555555555555p-59);
    const DoubleDouble<V> cosine_inner = FastTwoSum(one_24th.high, hn::Add(one_24th.low, cosine_tail));
    const DoubleDouble<V> cosine_less_one = Multiply(square, Add(Constant(-0.5, 0), Multiply(square, cosine_inner)));

    const auto k = hn::LoadU(di, &phases.index[i]);
    const DoubleDouble<V> s{hn::GatherIndex(d, table.sin_high.data(), k), hn::GatherIndex(d, table.sin_low.data(), k)};
    const DoubleDouble<V> c{hn::GatherIndex(d, table.cos_high.data(), k), hn::GatherIndex(d, table.cos_low.data(), k)};
    Store(Add(s, Add(Multiply(c, sine), Multiply(s, cosine_less_one))), out.sin_high, out.sin_low, i);
    Store(Add(c, Add(Negate(Multiply(s, sine)), Multiply(c, cosine_less_one))), out.cos_high, out.cos_low, i);
  }
}

// Step 7 for `count` pairs, a multiple of 8.
void Turn(std::size_t count, const RotationRow& row, const RotationRow& step, RotationRow& out) {
  const D d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const DoubleDouble<V> s = Load(row.sin_high, row.sin_low, i);
    const DoubleDouble<V> c = Load(row.cos_high, row.cos_low, i);
    const DoubleDouble<V> step_s = Load(step.sin_high, step.sin_low, i);
    const DoubleDouble<V> step_c = Load(step.cos_high, step.cos_low, i);
    Store(Add(Multiply(s, step_c), Multiply(c, step_s)), out.sin_high, out.sin_low, i);
    Store(Add(Multiply(c, step_c), Negate(Multiply(s, step_s))), out.cos_high, out.cos_low, i);
  }
}

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace sextant::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::reference {
namespace {

HWY_EXPORT(RotateFromTable);
HWY_EXPORT(Turn);
HWY_EXPORT(TargetName);

constexpr std::size_t padding = 8;
// Positions per block of a sweep: the anchor's cost is shared by this many rows, and as many rows of steps must stay in
// the cache.
constexpr std::int64_t block = 32;
constexpr std::int64_t table_size = 512;

std::size_t padded(std::size_t pairs) { return (pairs + padding - 1) / padding * padding; }

RotationRow row_of(std::size_t entries) {
  return {std::vector<double>(entries), std::vector<double>(entries), std::vector<double>(entries),
          std::vector<double>(entries)};
}

// x as a double-double within u^2 |x|, from an enclosure much narrower than that.
void split(const Enclosure& x, double& high, double& low) {
  high = mpfr_get_d(x.lower_end(), MPFR_RNDN);
  low = mpfr_get_d((x - Enclosure(high, x.precision())).lower_end(), MPFR_RNDN);
}

// sin and cos of k/512 turn.
const RotationRow& table() {
  static const RotationRow entries = [] {
    constexpr Precision precision{192};
    RotationRow row = row_of(table_size);
    for (std::size_t k = 0; k < table_size; ++k) {
      const Enclosure angle = Enclosure::pi(precision) * Enclosure(static_cast<double>(2 * k) / table_size, precision);
      split(sin(angle), row.sin_high[k], row.sin_low[k]);
      split(cos(angle), row.cos_high[k], row.cos_low[k]);
    }
    return row;
  }();
  return entries;
}

// Step 1 of the proof and the exact half of step 2.
void reduce(const FixedTurns& phase, std::size_t i, ReducedPhases& out) {
  const std::uint64_t top = phase.limb[2];
  const std::uint64_t k = (top + (std::uint64_t{1} << 54)) >> 55;  // wraps to 0 just below a whole turn
  const auto rest = static_cast<std::int64_t>(top - (k << 55));
  const std::uint64_t middle = static_cast<std::uint64_t>(rest) << 56 | phase.limb[1] >> 8;
  out.index[i] = static_cast<std::int64_t>(k);
  out.piece2[i] = static_cast<double>(rest >> 8) * 0x1p-56;
  out.piece1[i] = static_cast<double>(middle >> 32) * 0x1p-88;
  out.piece0[i] = static_cast<double>(middle & 0xFFFFFFFFU) * 0x1p-120;
}

// Steps 2 to 6 for the phases that `phase_at(i)` gives.
template <class PhaseAt>
void rotate(std::size_t count, PhaseAt phase_at, RotationRow& row) {
  const std::size_t entries = padded(count);
  ReducedPhases phases{std::vector<double>(entries), std::vector<double>(entries), std::vector<double>(entries),
                       std::vector<std::int64_t>(entries)};
  for (std::size_t i = 0; i < count; ++i) reduce(phase_at(i), i, phases);
  HWY_DYNAMIC_DISPATCH(RotateFromTable)(entries, phases, table(), row);
}

}  // namespace

FastRotations::FastRotations(std::span<const FixedTurns> frequencies)
    : frequencies_(frequencies.begin(), frequencies.end()) {
  for (std::int64_t j = 0; j < block; ++j) {
    steps_.push_back(make_row());
    at(j, steps_.back());
  }
}

std::string FastRotations::target() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

RotationRow FastRotations::make_row() const { return row_of(padded(pairs())); }

void FastRotations::at(std::int64_t position, RotationRow& row) const {
  rotate(
      pairs(), [&](std::size_t i) { return phase_of(frequencies_[i], position); }, row);
}

void FastRotations::at_angles(std::span<const double> angles, RotationRow& row) {
  if (row.sin_high.size() != padded(angles.size())) row = row_of(padded(angles.size()));
  rotate(
      angles.size(), [&](std::size_t i) { return turns_of_angle(angles[i]); }, row);
}

void FastRotations::sweep(std::int64_t first, std::int64_t count,
                          const std::function<void(std::int64_t position, const RotationRow& row)>& visit) const {
  RotationRow anchor = make_row();
  RotationRow row = make_row();
  for (std::int64_t start = 0; start < count; start += block) {
    at(first + start, anchor);
    for (std::int64_t j = 0; j < std::min(block, count - start); ++j) {
      HWY_DYNAMIC_DISPATCH(Turn)(anchor.sin_high.size(), anchor, steps_[static_cast<std::size_t>(j)], row);
      visit(first + start + j, row);
    }
  }
}

}  // namespace sextant::reference
#endif
