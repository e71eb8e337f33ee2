#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/numeric/geometric_rotations.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The code of a grid position, He et al. 2021 (MAE), as lib/spec/sinusoidal_2d.hpp states it: with w_i = base^(-4i/dim), i = 0 .. dim/4-1,
/// sin(w_i c) and cos(w_i c) of each coordinate c in its half of the channels. Const: one encoder may serve any number of threads.
class Sinusoidal2dEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain.
  explicit Sinusoidal2dEncoder(const Sinusoidal2d& encoding);

  /// The rows of n positions into `out`, [n, dim], row-major and dense, of a floating `dtype`, at any alignment. `positions` is
  /// [2, n], row-major: the n rows, then the n columns; any coordinate, on the grid or not. Each value is the nearest of the dtype to the
  /// real number, ties to even. Each coordinate is computed once however many positions share it, in memory for as many half rows.
  /// @throws std::invalid_argument for int64, an odd number of coordinates or an `out` of another size, std::out_of_range for a coordinate beyond
  /// +-2^53.
  void encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

 private:
  Sinusoidal2d encoding_;
  GeometricRotations rotations_;
};

}  // namespace sextant
