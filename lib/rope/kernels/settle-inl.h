// What a kernel leaves open goes to settle.hpp lane by lane, for one Highway target. Included inside HWY_NAMESPACE by a
// file that is compiled once per target.
//
//   1. Masks settle pairs of zeros, which turn into zeros, and pairs with a NaN, which become two canonical NaNs.
//   2. Each other lane is given its rotation in double-double, from the exact phase, and settle() decides it
//      (docs/proofs/rope.md, step 5; with more bits where that is not enough).
//   3. Pairs with powers go to those powers' settle(); their zeros keep the sign that the formula gives them.

#if defined(SEXTANT_LIB_ROPE_KERNELS_SETTLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_SETTLE_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_SETTLE_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_SETTLE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "lib/kernels/rotations-inl.h"
#include "lib/rope/kernels/pair_bounds-inl.h"
#include "lib/rope/kernels/pairs-inl.h"
#include "lib/rope/kernels/row-inl.h"
#include "lib/rope/settle.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// A zero has the sign that the formula gives it, from a row whose bound says that the signs of its entries are known.
template <Dtype dtype, class Row>
SettledPair SettlePowered(const Row& row, std::size_t entry, std::size_t pair, double first, double second) {
  const double c = row.cos[entry];
  const double s = row.sin[entry];
  alignas(64) double bounds[FrequencyPieces::lanes];
  hn::Store(BoundAt<dtype>(row, entry), Doubles(), bounds);
  if (first == 0 && second == 0 && bounds[0] < HUGE_VAL) return {first * c - second * s, first * s + second * c};
  return row.source->turns.powers->settle(static_cast<std::int64_t>(pair), row.position, first, second);
}

/// Settles the lanes of `open` one by one: pair row.first_pair + i + lane, elements x0[lane], x1[lane], results, of
/// dtype to, to the low bytes of y0[lane], y1[lane].
template <Dtype from, Dtype to, class Row, class Element>
HWY_NOINLINE void SettleLanes(const Row& row, std::size_t i, std::uint32_t open, const Element* x0, const Element* x1,
                              Element* y0, Element* y1) {
  const Doubles d;
  const PairTurns& turns = row.source->turns;
  const auto bytes = [](auto* elements, std::size_t lane) {
    return reinterpret_cast<const std::byte*>(elements + lane);
  };
  for (std::size_t lane = 0; open != 0; ++lane, open >>= 1) {
    if ((open & 1) == 0) continue;
    // Lanes beyond the last pair repeat it.
    const std::size_t pair = std::min(row.first_pair + i + lane, turns.frequencies->pairs() - 1);
    const double first = load(from, bytes(x0, lane));
    const double second = load(from, bytes(x1, lane));
    const auto put = [&](const SettledPair& y) {
      store(to, y.first, reinterpret_cast<std::byte*>(y0 + lane));
      store(to, y.second, reinterpret_cast<std::byte*>(y1 + lane));
    };
    if constexpr (Row::Bounds::of_pairs) {
      put(SettlePowered<from>(row, i + lane, pair, first, second));
      continue;
    }
    const std::int64_t position = PositionOf(row, pair);
    const std::size_t in_vector = pair % hn::Lanes(d);
    const PreciseRotation turn =
        PreciseRotationAt(*turns.frequencies, pair - in_vector, split_position(position), unit_circle());
    alignas(64) double parts[4][FrequencyPieces::lanes];
    StorePrecise(turn, 0, parts[2], parts[0], parts[3], parts[1]);
    put(settle({turns.plan,
                to,
                static_cast<std::int64_t>(pair),
                position,
                first,
                second,
                {parts[0][in_vector], parts[1][in_vector]},
                {parts[2][in_vector], parts[3][in_vector]}}));
  }
}

/// Settles the lanes of a mask that are neither pairs of zeros, which turn into zeros, nor hold a NaN, which make NaN
/// of both. Under powers of pairs, zeros keep the sign that the formula gives them. Lanes are those of x's elements;
/// `quiet_nan` is that of y's dtype, whose values fill the low bytes of theirs. (Targets are little-endian.)
template <Dtype from, Dtype to, class Row, class DU, class M>
HWY_INLINE PairOf<hn::Vec<DU>> SettleMasked(DU du, const Row& row, std::size_t i, M open, const PairOf<hn::Vec<DU>>& x,
                                            PairOf<hn::Vec<DU>> y, hn::TFromD<DU> infinity, hn::TFromD<DU> quiet_nan) {
  using Element = hn::TFromD<DU>;
  // Unsigned comparison is by the sign bit's removal and a signed one: every target has that.
  const hn::RebindToSigned<DU> di;
  const auto magnitude = hn::Set(du, static_cast<Element>(~(Element{1} << (8 * sizeof(Element) - 1))));
  const auto first = hn::And(x.first, magnitude);
  const auto second = hn::And(x.second, magnitude);
  auto zero = hn::Eq(hn::Or(first, second), hn::Zero(du));
  if constexpr (Row::Bounds::of_pairs) zero = hn::AndNot(zero, zero);
  const auto limit = hn::BitCast(di, hn::Set(du, infinity));
  const auto nan =
      hn::RebindMask(du, hn::Or(hn::Gt(hn::BitCast(di, first), limit), hn::Gt(hn::BitCast(di, second), limit)));
  y.first = hn::IfThenElse(nan, hn::Set(du, quiet_nan), hn::IfThenZeroElse(zero, y.first));
  y.second = hn::IfThenElse(nan, hn::Set(du, quiet_nan), hn::IfThenZeroElse(zero, y.second));
  const auto rest = hn::AndNot(hn::Or(zero, nan), open);
  if (hn::AllFalse(du, rest)) return y;
  alignas(64) Element in[2][HWY_MAX_BYTES / sizeof(Element)];
  alignas(64) Element out[2][HWY_MAX_BYTES / sizeof(Element)];
  hn::Store(x.first, du, in[0]);
  hn::Store(x.second, du, in[1]);
  hn::Store(y.first, du, out[0]);
  hn::Store(y.second, du, out[1]);
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(du, rest, bits);
  const std::uint32_t lanes = (std::uint32_t{1} << hn::Lanes(du)) - 1;
  SettleLanes<from, to>(row, i, (std::uint32_t{bits[0]} | std::uint32_t{bits[1]} << 8) & lanes, in[0], in[1], out[0],
                        out[1]);
  return {hn::Load(du, out[0]), hn::Load(du, out[1])};
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
