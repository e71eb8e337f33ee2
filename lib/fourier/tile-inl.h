// What tiles of 16 points share, those of ladders that double and of others, for one Highway target: included inside
// HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. Positions become counts, 2 p + addend or p + addend, whole numbers that doubles hold exactly up to 2^53; the
//      last of a tile's points is repeated where there are fewer. Beyond `greatest` nothing of the tile is promised.
//   2. Between the bands of a tile some vectors of the tile before, whose lines are whole, go past the caches: stores
//      then happen while the next values are computed.
//
// docs/proofs/fourier-tiles.md has what is computed of the counts.

#if defined(SEXTANT_LIB_FOURIER_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_FOURIER_TILE_INL_H_
#undef SEXTANT_LIB_FOURIER_TILE_INL_H_
#else
#define SEXTANT_LIB_FOURIER_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/fourier/tile.hpp"
#include "lib/kernels/rotations-inl.h"
#include "lib/numeric/index.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// The counts at `positions`; whether none is greater than `greatest`.
HWY_INLINE bool FillCounts(const FourierAxis& axis, double greatest, const std::int64_t* positions, double* counts) {
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  DoubleVector most = hn::Zero(d);
  for (std::size_t point = 0; point < FourierTile::points; point += hn::Lanes(d)) {
    auto count = hn::LoadU(di, positions + point);
    if (axis.factor == 2) count = hn::Add(count, count);
    const DoubleVector exact = hn::ConvertTo(d, hn::Add(count, hn::Set(di, axis.addend)));
    most = hn::Max(most, hn::Abs(exact));
    hn::StoreU(exact, d, counts + point);
  }
  return hn::AllTrue(d, hn::Le(most, hn::Set(d, greatest)));
}

/// The same of a tile's points, the last of them repeated.
HWY_INLINE bool FillCounts(const FourierLadder& ladder, std::size_t axis, double greatest, const TilePoints& at,
                           double* counts) {
  const std::size_t rows = at.positions.size() / ladder.axes.size();
  const std::span<const std::int64_t> own = at.positions.subspan(axis * rows + index(at.first), index(at.filled));
  if (own.size() == FourierTile::points) return FillCounts(ladder.axes[axis], greatest, own.data(), counts);
  std::array<std::int64_t, FourierTile::points> padded;
  padded.fill(own.back());
  std::ranges::copy(own, padded.begin());
  return FillCounts(ladder.axes[axis], greatest, padded.data(), counts);
}

/// Streams as many vectors of lines that wait, if there are so many.
template <std::size_t vectors>
HWY_INLINE void StreamWaiting(WaitingLines& waiting) {
#if HWY_TARGET == HWY_SCALAR
  (void)waiting;
#else
  const hn::Repartition<std::uint8_t, Doubles> d;
  const std::size_t bytes = vectors * hn::Lanes(d);
  if (vectors == 0 || waiting.left < bytes) return;
  for (std::size_t i = 0; i < bytes; i += hn::Lanes(d)) {
    hn::Stream(hn::Load(d, reinterpret_cast<const std::uint8_t*>(waiting.from) + i), d,
               reinterpret_cast<std::uint8_t*>(waiting.to) + i);
  }
  waiting = {waiting.from + bytes, waiting.to + bytes, waiting.left - bytes};
#endif
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
