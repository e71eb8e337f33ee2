#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The code of a grid position, He et al. 2021 (MAE), as lib/spec/sinusoidal_2d.hpp states it: with w_i =
/// base^(-4i/dim), i = 0 .. dim/4-1, sin(w_i c) and cos(w_i c) of each coordinate c in its half of the channels. Const:
/// one encoder may serve any number of threads.
class Sinusoidal2dEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit Sinusoidal2dEncoder(const Sinusoidal2d& encoding);

  /// Row r of `out` becomes the code of the r-th of n positions: out.rows = n, out.width = dim, any row_stride >= dim,
  /// any alignment, any floating dtype; bytes between the rows are untouched. `positions` is [2, n], row-major: the n
  /// rows, then the n columns; any coordinate, on the grid or not. Each value is the nearest of the dtype to the real
  /// number, ties to even. Each coordinate is computed once however many positions share it, in memory for as many half
  /// rows.
  /// @throws std::invalid_argument naming what does not fit, or for an odd number of coordinates; std::out_of_range for
  /// a coordinate beyond +-2^53; both before anything is written.
  void encode(std::span<const std::int64_t> positions, const Rows& out) const;

  /// The same into dense rows, [n, dim] of `dtype`. @throws std::invalid_argument for int64 or an `out` of another
  /// size.
  void encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

 private:
  Sinusoidal2d encoding_;
  SinusoidalEncoder half_;  // the code of one coordinate
};

}  // namespace sextant
