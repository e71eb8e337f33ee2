// A tile of features turned round to rows, compiled once per Highway target.
//
//   1. Blocks of 16 bytes, of four channels at four points or two of doubles at two, are turned round within the
//      blocks, as many blocks of further channels at a time as a vector has: what leaves is a vector of one point's
//      channels.
//   2. For 16 bits two of them are rounded to one of elements.
//   3. The last vector of a row runs over into the next row, or beyond the last one. So the last vectors of all rows
//      are written first, and of rows within one vector the earlier ones: what ran over is written again.
//
// Elements are rounded from floats that are exact in the dtype or no ties (docs/proofs/fourier-tiles.md, step 10).

#include "lib/fourier/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/fourier/tile_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

template <class Type>
void WriteTileOf(const FourierTile& tile, std::int64_t width, std::byte* rows) {
  const hn::Sisd<float> df;
  for (std::size_t point = 0; point < FourierTile::points; ++point) {
    for (std::int64_t channel = 0; channel < width; ++channel, rows += sizeof(typename Type::Element)) {
      const auto value = hn::Set(df, tile.channel(channel)[point]);
      const auto bits = Type::dtype == Dtype::bfloat16  ? BFloat16Bits(df, value)
                        : Type::dtype == Dtype::float16 ? Float16Bits(df, value)
                                                        : hn::BitCast(Bits32<decltype(df)>(), value);
      const auto element = static_cast<typename Type::Element>(hn::GetLane(bits));
      std::memcpy(rows, &element, sizeof element);
    }
  }
}

void WriteWideTile(const WideFourierTile& tile, std::int64_t width, std::byte* rows) {
  for (std::size_t point = 0; point < WideFourierTile::points; ++point) {
    for (std::int64_t channel = 0; channel < width; ++channel, rows += sizeof(double))
      std::memcpy(rows, tile.channel(channel) + point, sizeof(double));
  }
}

#else

using TileFloats = hn::Repartition<float, Doubles>;
using TileVector = hn::Vec<TileFloats>;

/// Block b, of as many points as its channels are apart, b = 0, 1, ...: `from` is the first one's.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const hn::TFromD<D>* from) {
  if constexpr (sizeof(hn::TFromD<D>) * hn::MaxLanes(d) == 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadBlocks(half, from + hn::MaxLanes(half) * FourierTile::points), LoadBlocks(half, from));
  }
}

/// Step 1: of the channels whose first one at the first of four points is at `from`.
HWY_INLINE std::array<TileVector, 4> TurnedRound(const float* from) {
  const TileFloats d;
  const hn::Repartition<double, TileFloats> pairs;
  // Given its elements at once: the constructor that std::array has without any is compiled for no target.
  const std::array<TileVector, 4> v{LoadBlocks(d, from), LoadBlocks(d, from + FourierTile::points),
                                    LoadBlocks(d, from + 2 * FourierTile::points),
                                    LoadBlocks(d, from + 3 * FourierTile::points)};
  const auto low_01 = hn::BitCast(pairs, hn::InterleaveLower(d, v[0], v[1]));
  const auto low_23 = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
  const auto high_01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[0], v[1]));
  const auto high_23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
  return {hn::BitCast(d, hn::InterleaveLower(pairs, low_01, low_23)),
          hn::BitCast(d, hn::InterleaveUpper(pairs, low_01, low_23)),
          hn::BitCast(d, hn::InterleaveLower(pairs, high_01, high_23)),
          hn::BitCast(d, hn::InterleaveUpper(pairs, high_01, high_23))};
}

/// The same as elements, of as many channels as fill a vector of them.
template <class Type>
HWY_INLINE auto ElementsTurnedRound(const float* from) {
  const hn::RebindToUnsigned<TileFloats> du;
  const auto first = TurnedRound(from);
  if constexpr (sizeof(typename Type::Element) == 4) {
    return std::array{hn::BitCast(du, first[0]), hn::BitCast(du, first[1]), hn::BitCast(du, first[2]),
                      hn::BitCast(du, first[3])};
  } else {
    const auto second = TurnedRound(from + hn::Lanes(du) * FourierTile::points);
    const auto rounded = [&](std::size_t i) HWY_ATTR {
      return RoundFloatsAgain(Type(), hn::BitCast(du, first[i]), hn::BitCast(du, second[i]));
    };
    return std::array{rounded(0), rounded(1), rounded(2), rounded(3)};
  }
}

template <class Type>
void WriteTileOf(const FourierTile& tile, std::int64_t width, std::byte* rows) {
  using Element = typename Type::Element;
  const hn::Repartition<Element, Doubles> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto* const elements = reinterpret_cast<Element*>(rows);
  for (std::int64_t channel = (width - 1) / lanes * lanes; channel >= 0; channel -= lanes) {
    for (std::size_t point = 0; point < FourierTile::points; point += 4) {
      const auto vectors = ElementsTurnedRound<Type>(tile.channel(channel) + point);
      for (std::size_t i = 0; i < 4; ++i)
        hn::StoreU(vectors[i], d, elements + static_cast<std::int64_t>(point + i) * width + channel);
    }
  }
}

void WriteWideTile(const WideFourierTile& tile, std::int64_t width, std::byte* rows) {
  const Doubles d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto* const elements = reinterpret_cast<double*>(rows);
  for (std::int64_t channel = (width - 1) / lanes * lanes; channel >= 0; channel -= lanes) {
    for (std::size_t point = 0; point < WideFourierTile::points; point += 2) {
      const double* const from = tile.channel(channel) + point;
      const DoubleVector even = LoadBlocks(d, from);
      const DoubleVector odd = LoadBlocks(d, from + WideFourierTile::points);
      double* const to = elements + static_cast<std::int64_t>(point) * width + channel;
      hn::StoreU(hn::InterleaveLower(d, even, odd), d, to);
      hn::StoreU(hn::InterleaveUpper(d, even, odd), d, to + width);
    }
  }
}

#endif

void WriteTile(const FourierTile& tile, std::int64_t width, Dtype dtype, std::byte* rows) {
  switch (dtype) {
    case Dtype::float16: return WriteTileOf<Float16>(tile, width, rows);
    case Dtype::bfloat16: return WriteTileOf<BFloat16>(tile, width, rows);
    default: return WriteTileOf<Float32>(tile, width, rows);
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(WriteTile);
HWY_EXPORT(WriteWideTile);

}  // namespace

void write_tile(const FourierTile& tile, std::int64_t width, Dtype dtype, std::byte* rows) {
  HWY_DYNAMIC_DISPATCH(WriteTile)(tile, width, dtype, rows);
}

void write_tile(const WideFourierTile& tile, std::int64_t width, Dtype, std::byte* rows) {
  HWY_DYNAMIC_DISPATCH(WriteWideTile)(tile, width, rows);
}

}  // namespace sextant
#endif
