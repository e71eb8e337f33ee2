// What the pairs of one token are turned with, for one Highway target. Included inside HWY_NAMESPACE by a file that is
// compiled once per target. Each dtype's tier derives its own row from these, with the arrays that it reads.
//
//   1. A row has a cos and a sin of each pair of a tile at one token, the attention factor or the pair's power in them,
//      and the bound of what is lost: one for all pairs, or one for each.
//   2. It is kept from token to token, with what the next one is made of: an anchor, or the row itself and the rotation
//      by which they differ.
//   3. Its arrays have room for full vectors read from any pair of a tile.
//
// docs/proofs/rope.md, steps 1 to 8, has the bounds.

#if defined(SEXTANT_LIB_ROPE_KERNELS_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_ROW_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_ROW_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/rotations-inl.h"
#include "lib/rope/job.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Entries of an array that full vectors may be read from at any pair of a tile.
inline constexpr std::size_t row_entries = rope_tile_pairs + 16;

/// Bounds that all pairs of a row share.
struct SharedBounds {
  static constexpr bool of_pairs = false;
  double bound;

  template <class D>
  HWY_INLINE hn::Vec<D> InDouble(D d, std::size_t) const {
    return hn::Set(d, bound);
  }
  /// |x0| + |x1| for double-double: within these ends no product overflows, not even when it is split, and what
  /// underflows is below 2^-1072, the bound above 2^-1018.
  static constexpr double least_size = 0x1p-900;
  static constexpr double largest_size = 0x1p900;
};

/// Bounds that each pair has of its own, as under powers of pairs: those of float64. Other dtypes ask for few, which
/// are made of the row's entries (pair_bounds-inl.h).
struct PairBounds {
  static constexpr bool of_pairs = true;
  alignas(64) double bounds[row_entries];

  template <class D>
  HWY_INLINE hn::Vec<D> InDouble(D d, std::size_t i) const {
    return hn::LoadU(d, bounds + i);
  }
  /// With powers within 2^+-500 products are within 2^+-900, and bounds above 2^-996.
  static constexpr double least_size = 0x1p-400;
  static constexpr double largest_size = 0x1p400;
};

/// a cos and a sin of a tile of frequencies at one token's position.
template <class BoundsType>
struct RowOf {
  using Bounds = BoundsType;
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

  alignas(64) double cos[row_entries];
  alignas(64) double sin[row_entries];
  Bounds bounds;
  const RowSource* source;
  std::int64_t token = none;
  std::size_t first_pair;
  std::int64_t position = none;  // negated where the direction is clockwise; not under axes
  bool quick = false;            // whether the quick tier's conditions on a hold for all pairs
};

/// A row that may be turned from the one before (next_row-inl.h).
template <class Bounds>
struct NextRow : RowOf<Bounds> {
  alignas(64) double step_cos[rope_tile_pairs];  // the rotation by step_distance
  alignas(64) double step_sin[rope_tile_pairs];
  std::int64_t step_distance = RowOf<Bounds>::none;
  std::int64_t distance = RowOf<Bounds>::none;  // from the position of the row before
  int turns = 0;  // how many rows were turned from each other since one was filled by itself
};

/// A row in double, made of an anchor, which neighbouring tokens share, and a step, or of the row before.
template <class Bounds>
struct AnchoredRow : NextRow<Bounds> {
  // a times the rotations at anchor_position (under axes, at those of the pairs' own positions), of the whole encoding
  // where that is one tile.
  alignas(64) double anchor_cos[rope_tile_pairs];
  alignas(64) double anchor_sin[rope_tile_pairs];
  std::int64_t anchor_position = RowOf<Bounds>::none;
};

/// Whether the attention factor is in the range of the bounds' derivation; else nothing is certified, and every pair
/// goes to settle.
HWY_INLINE bool IsOrdinary(const AttentionFactor& factor) { return factor.high >= 0x1p-20 && factor.high <= 0x1p20; }

/// The position as pairs turn by it.
HWY_INLINE std::int64_t SignedPosition(const RowSource& source, std::int64_t position) {
  return source.direction == Direction::clockwise ? -position : position;
}

/// The position that a pair turns by.
template <class Row>
std::int64_t PositionOf(const Row& row, std::size_t pair) {
  const RowSource& source = *row.source;
  const PairAxes* const axes = source.turns.axes;
  if (axes == nullptr) return row.position;
  std::int64_t axis = 0;
  while (axes->masks[static_cast<std::size_t>(axis) * source.turns.frequencies->padded() + pair] == 0) ++axis;
  return SignedPosition(source, source.positions[axis * source.tokens + row.token]);
}

/// Makes the row that of a token.
template <class Row>
void BeginRow(const RowSource& source, std::int64_t token, std::size_t first_pair, Row& row) {
  row.source = &source;
  row.first_pair = first_pair;
  row.token = token;
  row.position = SignedPosition(source, source.positions[token]);
}

#if HWY_TARGET != HWY_SCALAR
/// The floats nearest to two vectors of doubles.
HWY_INLINE hn::Vec<hn::Repartition<float, Doubles>> Joined(DoubleVector later, DoubleVector earlier) {
  const Doubles d;
  return hn::Combine(hn::Repartition<float, Doubles>(), NearestFloat(d, later), NearestFloat(d, earlier));
}
#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
