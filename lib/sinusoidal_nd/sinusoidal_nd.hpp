#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The sinusoidal code of a position of several coordinates, as lib/spec/sinusoidal_nd.hpp states it: sin(w_k c) and
/// cos(w_k c) of each coordinate c in its axis' channels. Const: one encoder may serve any number of threads.
class SinusoidalNdEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit SinusoidalNdEncoder(const SinusoidalNd& encoding);

  /// Row r of `out` becomes the code of the r-th of n positions: out.rows = n, out.width = dim, any row_stride >= dim,
  /// any alignment, any floating dtype; bytes between the rows are untouched. `positions` is [axes, n], row-major: the
  /// n coordinates of the first axis, then those of the next; any coordinate, on the grid or not. Each value is the
  /// nearest of the dtype to the real number, ties to even, a zero +0. Each coordinate of an axis is computed once
  /// however many positions share it, in memory for as many of its parts of a row.
  /// @throws std::invalid_argument naming what does not fit, or for a number of coordinates that is no multiple of the
  /// axes'; std::out_of_range for a coordinate beyond +-2^53; both before anything is written.
  void encode(std::span<const std::int64_t> positions, const Rows& out) const;

  /// The same into dense rows, [n, dim] of `dtype`. @throws std::invalid_argument for int64 or an `out` of another
  /// size.
  void encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

 private:
  /// Elements of an axis' own code that are copied together, to where they lie in the row.
  struct Run {
    std::size_t axis;
    std::int64_t from;
    std::int64_t to;
    std::int64_t count;
  };

  static std::vector<Run> runs_of(const SinusoidalNd& encoding, std::int64_t axis);

  SinusoidalNd encoding_;
  std::int64_t filled_;  // channels before those that are 0
  std::vector<SinusoidalEncoder> axes_;
  std::vector<Run> runs_;       // of all axes, as they come in the row
  bool has_long_runs_ = false;  // and no others
};

}  // namespace sextant
