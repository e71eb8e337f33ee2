#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/fourier/angles.hpp"
#include "lib/fourier/waiting_lines.hpp"
#include "lib/kernels/frequency_pieces.hpp"
#include "lib/numeric/dtype.hpp"
#include "lib/spec/channels.hpp"

// The features of a few points at a time: points side by side in the vectors, then turned round to rows.

namespace sextant {

/// Bands of a list whose frequencies each double the one before: the first is computed, the others follow from it.
struct FourierRun {
  std::int64_t list = 0;
  std::int64_t first_band = 0;
  std::int64_t bands = 1;
};

/// The longest run: docs/proofs/fourier-tiles.md, steps 7 and 8, has what doublings leave of a value's certificate. Of
/// 16 bits, which are far from most ties, more are left than of float32.
inline constexpr std::int64_t longest_fourier_run = 5;
inline constexpr std::int64_t longest_narrow_fourier_run = 10;

/// Whether an angle is that of one axis or of all.
enum class AngleSum { none, of_axes };

/// A value of the tile that its certificate left open.
struct OpenFeature {
  std::int32_t list;
  std::int32_t band;
  std::int32_t point;
  FourierFunction function;
};

/// The counts of a tile's points on each axis, whole numbers.
inline constexpr std::size_t tile_points = 16;
using TileCounts = std::array<std::array<double, tile_points>, 4>;

/// Values are elements: float, double, or those of 16 bits as words.
template <class Value>
class FourierTileOf {
 public:
  static constexpr std::size_t points = tile_points;

  explicit FourierTileOf(std::int64_t width) : channels_((static_cast<std::size_t>(width) + line - 1) / line * line) {}

  /// The values of a channel, `points` of them; those of the next lie behind.
  Value* channel(std::int64_t index) { return channels_.front().data() + static_cast<std::size_t>(index) * points; }
  const Value* channel(std::int64_t index) const {
    return channels_.front().data() + static_cast<std::size_t>(index) * points;
  }

  alignas(64) TileCounts counts{};

  /// What fill_tile left open.
  std::vector<OpenFeature> open;

  /// Channels are read in groups of as many, to which each tile is padded.
  static constexpr std::size_t line = 32;

 private:
  // Aligned, since each is stored whole: parts of two lines would take two stores.
  struct alignas(sizeof(Value) * points) Channel : std::array<Value, points> {};
  std::vector<Channel> channels_;
};

using FourierTile = FourierTileOf<float>;
using NarrowFourierTile = FourierTileOf<std::uint16_t>;
using WideFourierTile = FourierTileOf<double>;

/// What an axis' coordinates are: factor * position + addend steps over the axis' divisor. One such count turns the
/// bands by `frequencies`.
struct FourierAxis {
  const FrequencyPieces* frequencies = nullptr;
  /// For float64 those of each band alone, in every lane.
  std::span<const FrequencyPieces> of_bands = {};
  std::int64_t factor = 1;
  std::int64_t addend = 0;
  /// The greatest count that a tile takes: greatest_quick_count.
  double greatest = 0;
  /// Of a divisor of 1 the tile has the coordinate itself, count * step, in this channel; less than 0 for none.
  std::int64_t coordinate_channel = -1;
};

/// What a tile's features are made of. `channels` has those of each list's bands in turn. Of a weight, which has one
/// list, the angles of all axes are added.
struct FourierLadder {
  std::span<const FourierRun> runs;
  std::span<const Channels> channels;
  std::span<const FourierAxis> axes;
  std::int64_t bands = 0;
  double step = 1;
  AngleSum sum = AngleSum::none;
};

/// The greatest |count| whose quick angle docs/proofs/fourier-tiles.md, step 1, bounds.
double greatest_quick_count(const FrequencyPieces& frequencies);

/// The points of a tile: `filled` of them from `first` on of each axis' positions, as many for one axis as for another.
struct TilePoints {
  std::span<const std::int64_t> positions;
  std::int64_t first;
  std::int64_t filled;
};

/// Fills a tile with the features of the points; what it has room for besides becomes the last of them again. False
/// where a count is too great, nothing then being promised. Values that are not in tile.open are those of `dtype`
/// nearest to the real number. Meanwhile lines that are waiting are streamed,
/// about as many as the tile has. Under StandardArithmetic; target_in_use (targets.hpp) has been asked before.
bool fill_tile(const FourierLadder& ladder, const TilePoints& at, Dtype dtype, FourierTile& tile,
               WaitingLines& waiting);
bool fill_tile(const FourierLadder& ladder, const TilePoints& at, Dtype dtype, NarrowFourierTile& tile,
               WaitingLines& waiting);

/// The same for float64. Counts are within 2^52, whatever is the greatest of an axis.
bool fill_tile(const FourierLadder& ladder, const TilePoints& at, Dtype dtype, WideFourierTile& tile,
               WaitingLines& waiting);

/// Writes the tile's points as rows of `width` elements side by side. `rows` has room for FourierTile::line elements
/// more. Likewise.
void write_tile(const FourierTile& tile, std::int64_t width, std::byte* rows);
void write_tile(const NarrowFourierTile& tile, std::int64_t width, std::byte* rows);
void write_tile(const WideFourierTile& tile, std::int64_t width, std::byte* rows);

}  // namespace sextant
