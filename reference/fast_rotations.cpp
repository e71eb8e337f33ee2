#include "reference/fast_rotations.hpp"

#include <algorithm>
#include <array>

#include "reference/work_limit.hpp"

// Target-independent, so declared before the file is taken once per target.
#ifndef SEXTANT_REFERENCE_PHASES_FROM_KNOTS
#define SEXTANT_REFERENCE_PHASES_FROM_KNOTS
namespace sextant::reference {

// Phases as the nearest of 2048 knots around the circle, whose sin and cos are held, and what is left: leading +
// trailing turn, at most 1/4096.
struct PhasesFromKnots {
  static constexpr std::size_t capacity = 64;  // a multiple of 8

  std::array<double, capacity> sin_high;
  std::array<double, capacity> sin_low;
  std::array<double, capacity> cos_high;
  std::array<double, capacity> cos_low;
  std::array<double, capacity> leading;
  std::array<double, capacity> trailing;
};

}  // namespace sextant::reference
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/fast_rotations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "reference/double_word-inl.h"

// The bounds are proved in docs/proofs/fast-rotations.md, in units of u^2 = 2^-106: 8 for `at` (step 11), 32 for a
// sweep (step 13). Nothing here is taken from the encoders that this judges: neither table nor polynomials nor
// reduction.

HWY_BEFORE_NAMESPACE();
namespace sextant::reference::HWY_NAMESPACE {

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;

template <class Doubles>
HWY_INLINE DoubleWord<V> Load(const Doubles& high, const Doubles& low, std::size_t i) {
  const D d;
  return {hn::LoadU(d, &high[i]), hn::LoadU(d, &low[i])};
}

HWY_INLINE void Store(const DoubleWord<V>& value, std::vector<double>& high, std::vector<double>& low, std::size_t i) {
  const D d;
  hn::StoreU(value.high, d, &high[i]);
  hn::StoreU(value.low, d, &low[i]);
}

HWY_INLINE DoubleWord<V> Constant(double high, double low) {
  const D d;
  return {hn::Set(d, high), hn::Set(d, low)};
}

// sin and cos - 1 of a small angle.
struct SmallRotation {
  DoubleWord<V> sine;
  DoubleWord<V> cosine_less_one;
};

// Steps 7 and 8: of r turns, |r| <= 2^-12. The polynomials are in turns, so that 2 pi is no factor of its own.
HWY_INLINE SmallRotation RotationBy(const DoubleWord<V>& r) {
  const D d;
  const DoubleWord<V> square = Multiply(r, r);

  // ci/constants: pair pair double double = near_minimax(sine_of_turns, 1/2**24, 3)
  const DoubleWord<V> sine_0 = Constant(0x1.921fb54442d18p+2, 0x1.1a62633145bb3p-52);
  const DoubleWord<V> sine_1 = Constant(-0x1.4abbce625be53p+5, 0x1.0551316fcaa43p-49);
  const V sine_2 = hn::Set(d, 0x1.466bc6775aad5p+6);
  const V sine_3 = hn::Set(d, -0x1.32d2cb95b3a48p+6);
  const V sine_tail = hn::Mul(square.high, hn::MulAdd(square.high, sine_3, sine_2));
  const DoubleWord<V> sine = Multiply(r, Add(sine_0, Multiply(square, AddSmaller(sine_1, sine_tail))));

  // ci/constants: pair pair double double = near_minimax(cosine_of_turns_less_one, 1/2**24, 3)
  const DoubleWord<V> cosine_0 = Constant(-0x1.3bd3cc9be45dep+4, -0x1.692b71366cbf7p-50);
  const DoubleWord<V> cosine_1 = Constant(0x1.03c1f081b5ac4p+6, -0x1.32b3462343dafp-48);
  const V cosine_2 = hn::Set(d, -0x1.55d3c7e3cbff2p+6);
  const V cosine_3 = hn::Set(d, 0x1.e1f504e249b9cp+5);
  const V cosine_tail = hn::Mul(square.high, hn::MulAdd(square.high, cosine_3, cosine_2));
  return {sine, Multiply(square, Add(cosine_0, Multiply(square, AddSmaller(cosine_1, cosine_tail))))};
}

// Steps 6 to 11 for `count` pairs, a multiple of 8, whose entries of `out` begin at `first`.
void RotateFromKnots(std::size_t first, std::size_t count, const PhasesFromKnots& phases, RotationRow& out) {
  const D d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const SmallRotation by = RotationBy(Fast2Sum(hn::LoadU(d, &phases.leading[i]), hn::LoadU(d, &phases.trailing[i])));
    const DoubleWord<V> s = Load(phases.sin_high, phases.sin_low, i);
    const DoubleWord<V> c = Load(phases.cos_high, phases.cos_low, i);
    Store(Add(s, Add(Multiply(c, by.sine), Multiply(s, by.cosine_less_one))), out.sin_high, out.sin_low, first + i);
    Store(Add(c, Subtract(Multiply(c, by.cosine_less_one), Multiply(s, by.sine))), out.cos_high, out.cos_low,
          first + i);
  }
}

// Step 13 for `count` pairs, a multiple of 8: the rows that the step turns the centre to, ahead of it and behind it,
// which have their four products in common.
void TurnBothWays(std::size_t count, const RotationRow& centre, const RotationRow& step, RotationRow& ahead,
                  RotationRow& behind) {
  const D d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const DoubleWord<V> s = Load(centre.sin_high, centre.sin_low, i);
    const DoubleWord<V> c = Load(centre.cos_high, centre.cos_low, i);
    const DoubleWord<V> step_s = Load(step.sin_high, step.sin_low, i);
    const DoubleWord<V> step_c = Load(step.cos_high, step.cos_low, i);
    const DoubleWord<V> sc = Multiply(s, step_c);
    const DoubleWord<V> cs = Multiply(c, step_s);
    const DoubleWord<V> cc = Multiply(c, step_c);
    const DoubleWord<V> ss = Multiply(s, step_s);
    Store(Add(sc, cs), ahead.sin_high, ahead.sin_low, i);
    Store(Subtract(cc, ss), ahead.cos_high, ahead.cos_low, i);
    Store(Subtract(sc, cs), behind.sin_high, behind.sin_low, i);
    Store(Add(cc, ss), behind.cos_high, behind.cos_low, i);
  }
}

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace sextant::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::reference {
namespace {

HWY_EXPORT(RotateFromKnots);
HWY_EXPORT(TurnBothWays);
HWY_EXPORT(TargetName);

constexpr std::size_t padding = 8;
// Positions that a sweep reaches on each side of a centre: its cost is shared by so many rows, and as many steps must
// stay in the cache.
constexpr std::int64_t reach = 24;

std::size_t padded(std::size_t pairs) { return (pairs + padding - 1) / padding * padding; }

RotationRow row_of(std::size_t entries) {
  return {std::vector<double>(entries), std::vector<double>(entries), std::vector<double>(entries),
          std::vector<double>(entries)};
}

struct Knot {
  struct Split {
    double high;
    double low;
  };
  std::array<Split, 2> sin_cos;
};

// x as a double word, from an enclosure much narrower than that can hold.
Knot::Split split(const Enclosure& x) {
  const double high = mpfr_get_d(x.lower_end(), MPFR_RNDN);
  return {high, mpfr_get_d((x - Enclosure(high, x.precision())).lower_end(), MPFR_RNDN)};
}

// sin and cos of k/2048 turn, k = 0 .. 256, the first eighth of the circle: step 9.
using Knots = std::array<Knot, 257>;
const Knots& knots() {
  static const auto entries = [] {
    const WithoutWorkLimit whoever_asks_first;
    constexpr Precision precision{192};
    Knots all{};
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Enclosure angle = Enclosure::pi(precision) * Enclosure(static_cast<double>(k) / 1024, precision);
      all[k].sin_cos = {split(sin(angle)), split(cos(angle))};
    }
    return all;
  }();
  return entries;
}

// How sin and cos of a phase in an octant follow from those of its distance from the nearest multiple of 1/4 turn:
// whether they have changed places, and their signs.
struct Octant {
  std::size_t sin_from;  // 0 the distance's sin, 1 its cos
  double sin_sign;
  double cos_sign;
  double side;  // -1 where the phase lies before that multiple
};
constexpr std::array<Octant, 8> octants{{{0, 1, 1, 1},
                                         {1, 1, 1, -1},
                                         {1, 1, -1, 1},
                                         {0, 1, -1, -1},
                                         {0, -1, -1, 1},
                                         {1, -1, -1, -1},
                                         {1, -1, 1, 1},
                                         {0, -1, 1, -1}}};

// Step 6. Odd octants are measured back from their end: the complement of what is held is that distance, less one unit
// of 2^-128 turn.
void fold(Phase phase, const Knots& table, std::size_t i, PhasesFromKnots& out) {
  constexpr std::uint64_t within_octant = (std::uint64_t{1} << 61) - 1;
  const auto upper = static_cast<std::uint64_t>(phase >> 64);
  const std::uint64_t index = upper >> 61;
  const std::uint64_t reflect = std::uint64_t{0} - (index & 1);
  const std::uint64_t high = (upper ^ reflect) & within_octant;
  const std::uint64_t low = static_cast<std::uint64_t>(phase) ^ reflect;
  const std::uint64_t nearest = (high + (std::uint64_t{1} << 52)) >> 53;

  const Octant& octant = octants[index];
  const Knot& knot = table[nearest];
  const Knot::Split& sine = knot.sin_cos[octant.sin_from];
  const Knot::Split& cosine = knot.sin_cos[1 - octant.sin_from];
  out.sin_high[i] = octant.sin_sign * sine.high;
  out.sin_low[i] = octant.sin_sign * sine.low;
  out.cos_high[i] = octant.cos_sign * cosine.high;
  out.cos_low[i] = octant.cos_sign * cosine.low;
  // The lower word is taken as signed, and what that borrows is given to the upper one.
  const auto leading = static_cast<std::int64_t>(high - (nearest << 53) + (low >> 63));
  out.leading[i] = octant.side * 0x1p-64 * static_cast<double>(leading);
  out.trailing[i] = octant.side * 0x1p-128 * static_cast<double>(static_cast<std::int64_t>(low));
}

// Steps 6 to 11 for the phases that `phase_at(i)` gives.
template <class PhaseAt>
void rotate(std::size_t count, PhaseAt phase_at, RotationRow& row) {
  PhasesFromKnots phases;
  const Knots& table = knots();
  for (std::size_t first = 0; first < count; first += PhasesFromKnots::capacity) {
    const std::size_t pairs = std::min(PhasesFromKnots::capacity, count - first);
    for (std::size_t i = 0; i < pairs; ++i) fold(phase_at(first + i), table, i, phases);
    for (std::size_t i = pairs; i < padded(pairs); ++i) fold({}, table, i, phases);
    HWY_DYNAMIC_DISPATCH(RotateFromKnots)(first, padded(pairs), phases, row);
  }
}

}  // namespace

FastRotations::FastRotations(std::span<const FixedTurns> frequencies)
    : frequencies_(frequencies.begin(), frequencies.end()) {
  for (std::int64_t j = 1; j <= reach; ++j) {
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
  // Rows of a stretch; its centre is in the middle of them.
  const std::int64_t sides = std::clamp(count / 2, std::int64_t{0}, reach);
  std::vector<RotationRow> rows;
  for (std::int64_t i = 0; i < 2 * sides + 1; ++i) rows.push_back(make_row());
  const auto row = [&](std::int64_t from_centre) -> RotationRow& {
    return rows[static_cast<std::size_t>(sides + from_centre)];
  };
  for (std::int64_t start = 0; start < count; start += 2 * sides + 1) {
    const std::int64_t visited = std::min(2 * sides + 1, count - start);
    const std::int64_t behind = (visited - 1) / 2;
    const std::int64_t centre = first + start + behind;
    at(centre, row(0));
    for (std::int64_t j = 1; j <= visited / 2; ++j) {
      HWY_DYNAMIC_DISPATCH(TurnBothWays)
      (row(0).sin_high.size(), row(0), steps_[static_cast<std::size_t>(j - 1)], row(j), row(-j));
    }
    for (std::int64_t j = -behind; j < visited - behind; ++j) visit(centre + j, row(j));
  }
}

}  // namespace sextant::reference
#endif
