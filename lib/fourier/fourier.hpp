#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/fourier/angles.hpp"
#include "lib/fourier/rotations.hpp"
#include "lib/fourier/tile.hpp"
#include "lib/kernels/frequency_pieces.hpp"
#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// Fourier features of a position of one to four coordinates, as lib/spec/fourier.hpp states them. Const: one encoder
/// may serve any number of threads.
class FourierEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit FourierEncoder(const Fourier& encoding);

  /// Row r of `out` becomes the features of the r-th of n positions: out.rows = n, out.width = width(encoding), any
  /// row_stride >= that, any alignment, any floating dtype; bytes between the rows are untouched. `positions` is
  /// [axes, n], row-major, in counts of the encoding's steps: the n coordinates of the first axis, then those of the
  /// next. Each value is the nearest of the dtype to the real number, ties to even; an exact zero is +0.
  /// @throws std::invalid_argument naming what does not fit, where the frequencies are a weight, or for a number of
  /// coordinates that is no multiple of the axes'; std::out_of_range for one beyond +-2^53, or of centres and ends
  /// outside of the grid; all before anything is written.
  void encode(std::span<const std::int64_t> positions, const Rows& out) const;

  /// The same into dense rows, [n, width] of `dtype`. @throws std::invalid_argument for int64 or an `out` of another
  /// size.
  void encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

  /// The same three where the frequencies are a weight, [axes, bands] of finite numbers, taken exactly, whose dtype is
  /// that of `out`; `weight` and `out` do not overlap. @throws likewise, std::invalid_argument where they are none.
  void encode(std::span<const std::int64_t> positions, const Tensor& weight, const Rows& out) const;
  void encode(std::span<const std::int64_t> positions, const Tensor& weight, std::span<std::byte> out) const;
  Tensor encode(std::span<const std::int64_t> positions, const Tensor& weight) const;

 private:
  /// The frequencies of each axis, of one call where they are a weight.
  struct Ladders {
    const Tensor* weight = nullptr;
    std::vector<FrequencyPieces> axes;
    std::vector<std::vector<FrequencyPieces>>
        of_bands;  // of each axis, of every band alone, where float64 is asked for
  };
  /// `counted` of each axis.
  using Counts = std::array<std::int64_t, 4>;
  /// A value as the sum of two float64.
  struct Parts {
    double high;
    double low;
  };

  Ladders ladders_of(const Tensor* weight) const;
  std::int64_t rows_of(const char* function, std::span<const std::int64_t> positions) const;
  void check_weight(const char* function, const Tensor& weight) const;
  void encode_with(const char* function, const Ladders& ladders, std::span<const std::int64_t> positions,
                   const Rows& out) const;
  Counts counts_at(std::span<const std::int64_t> positions, std::int64_t rows, std::int64_t row) const;
  template <class Value>
  void encode_tiles(const Ladders& ladders, std::span<const std::int64_t> positions, const Rows& out) const;
  std::vector<FourierAxis> axes_of(const Ladders& ladders) const;
  template <class Value>
  void settle_tile(const Ladders& ladders, const TilePoints& at, Dtype dtype, FourierTileOf<Value>& tile) const;
  double value_at(const Ladders& ladders, std::int64_t list, std::int64_t band, const Counts& counts,
                  FourierFunction function, Dtype dtype) const;
  void put_row(const Ladders& ladders, const Counts& counts, Dtype dtype, std::byte* place) const;
  void put_list(const Ladders& ladders, std::int64_t list, std::span<const std::int64_t> counts,
                const PreciseRotations& rotations, Dtype dtype, std::byte* place) const;
  std::optional<double> at_quarters(std::int64_t list, std::int64_t band, std::span<const std::int64_t> counts,
                                    FourierFunction function) const;
  double settled(const FourierValue& value, FourierFunction function, const Parts& parts, Dtype dtype) const;

  Fourier encoding_;
  Ladders own_;                                      // where the frequencies are no weight
  std::vector<std::optional<int>> whole_exponents_;  // of the bands
  std::vector<Channels> channels_;                   // of each list's bands
  std::vector<FourierRun> runs_;
  std::vector<FourierRun> narrow_runs_;  // of elements of 16 bits
};

}  // namespace sextant
