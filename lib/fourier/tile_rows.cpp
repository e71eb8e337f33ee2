// A tile of features turned round to rows, compiled once per Highway target.
//
//   1. Blocks of 16 bytes, of four channels at four points, eight of 16 bits at eight or two of doubles at two, are
//      turned round within the blocks, as many blocks of further channels at a time as a vector has: what leaves is a
//      vector of one point's channels.
//   2. The last vector of a row runs over into the next row, or beyond the last one. So the last vectors of all rows
//      are written first, and of rows within one vector the earlier ones: what ran over is written again.
//
// Bits are moved, not computed: there is nothing to prove.

#include "lib/fourier/tile.hpp"

#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/fourier/tile_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

template <class Value>
void WriteTileOf(const FourierTileOf<Value>& tile, std::int64_t width, std::byte* rows) {
  for (std::size_t point = 0; point < tile_points; ++point) {
    for (std::int64_t channel = 0; channel < width; ++channel, rows += sizeof(Value))
      std::memcpy(rows, tile.channel(channel) + point, sizeof(Value));
  }
}

#else

/// Block b, of as many points as its channels are apart, b = 0, 1, ...: `from` is the first one's.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const hn::TFromD<D>* from) {
  if constexpr (sizeof(hn::TFromD<D>) * hn::MaxLanes(d) == 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadBlocks(half, from + hn::MaxLanes(half) * tile_points), LoadBlocks(half, from));
  }
}

/// Elements of a block, and the points that are turned round together.
template <class D>
inline constexpr std::size_t block_of = 16 / sizeof(hn::TFromD<D>);

/// Step 1: as many points' vectors as a block has elements, of the channels whose first one at the first of the points
/// is at `from`. Each round puts the elements of the earlier half of the vectors and those of the later half in turns.
template <class D>
HWY_INLINE void TurnRound(D d, const hn::TFromD<D>* from, hn::Vec<D> (&v)[block_of<D>]) {
  constexpr std::size_t block = block_of<D>;
  for (std::size_t i = 0; i < block; ++i) v[i] = LoadBlocks(d, from + i * tile_points);
  for (std::size_t done = 1; done < block; done *= 2) {
    hn::Vec<D> before[block];
    for (std::size_t i = 0; i < block; ++i) before[i] = v[i];
    for (std::size_t i = 0; i < block / 2; ++i) {
      v[2 * i] = hn::InterleaveLower(d, before[i], before[i + block / 2]);
      v[2 * i + 1] = hn::InterleaveUpper(d, before[i], before[i + block / 2]);
    }
  }
}

template <class Value>
void WriteTileOf(const FourierTileOf<Value>& tile, std::int64_t width, std::byte* rows) {
  const hn::Repartition<Value, Doubles> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr std::size_t block = block_of<decltype(d)>;
  auto* const elements = reinterpret_cast<Value*>(rows);
  for (std::int64_t channel = (width - 1) / lanes * lanes; channel >= 0; channel -= lanes) {
    for (std::size_t point = 0; point < tile_points; point += block) {
      hn::Vec<decltype(d)> vectors[block];
      TurnRound(d, tile.channel(channel) + point, vectors);
      for (std::size_t i = 0; i < block; ++i)
        hn::StoreU(vectors[i], d, elements + static_cast<std::int64_t>(point + i) * width + channel);
    }
  }
}

#endif

void WriteTile(const FourierTile& tile, std::int64_t width, std::byte* rows) { WriteTileOf(tile, width, rows); }
void WriteNarrowTile(const NarrowFourierTile& tile, std::int64_t width, std::byte* rows) {
  WriteTileOf(tile, width, rows);
}
void WriteWideTile(const WideFourierTile& tile, std::int64_t width, std::byte* rows) { WriteTileOf(tile, width, rows); }

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(WriteTile);
HWY_EXPORT(WriteNarrowTile);
HWY_EXPORT(WriteWideTile);

}  // namespace

void write_tile(const FourierTile& tile, std::int64_t width, std::byte* rows) {
  HWY_DYNAMIC_DISPATCH(WriteTile)(tile, width, rows);
}

void write_tile(const NarrowFourierTile& tile, std::int64_t width, std::byte* rows) {
  HWY_DYNAMIC_DISPATCH(WriteNarrowTile)(tile, width, rows);
}

void write_tile(const WideFourierTile& tile, std::int64_t width, std::byte* rows) {
  HWY_DYNAMIC_DISPATCH(WriteWideTile)(tile, width, rows);
}

}  // namespace sextant
#endif
