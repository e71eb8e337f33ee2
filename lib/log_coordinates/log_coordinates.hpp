#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

template <class Bits>
class KeptElements;

/// Swin v2's log-spaced coordinates, Liu et al. 2022, section 3.3, as lib/spec/log_coordinates.hpp states them. Those
/// of offsets within the window are computed once. Const: one encoder may serve any number of threads.
class LogCoordinatesEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit LogCoordinatesEncoder(const LogCoordinates& encoding);

  /// Row r of `out` becomes the code of offset r, whose coordinates are offsets[axis * rows + r]: offsets.size() = axes
  /// * out.rows, out.width = axes, any row_stride >= axes, any alignment, any floating dtype; bytes between the rows
  /// are untouched. Each value is the nearest of the dtype to the real number, ties to even, and +0 at offset 0.
  /// @throws std::invalid_argument naming what does not fit, std::out_of_range for |offset| > 2^53, both before
  /// anything is written.
  void encode(std::span<const std::int64_t> offsets, const Rows& out) const;

  /// The same into dense rows, [offsets.size() / axes, axes] of `dtype`. @throws std::invalid_argument for int64 or an
  /// `out` of another size.
  void encode(std::span<const std::int64_t> offsets, Dtype dtype, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> offsets, Dtype dtype) const;

 private:
  /// The two float64 whose sum is within 2^-105 of a value's size: the nearest, and the nearest to what is left.
  struct Value {
    double high;
    double low;
  };

  template <class Bits>
  KeptElements<Bits> elements_of(std::int64_t axis, Dtype dtype) const;
  template <class Bits>
  void encode_as(std::span<const std::int64_t> offsets, const Rows& out) const;
  std::int64_t rows_of(const char* function, std::span<const std::int64_t> offsets) const;
  double value(std::int64_t axis, std::int64_t offset, Dtype dtype) const;

  LogCoordinates encoding_;
  std::vector<std::vector<Value>> near_;  // of each axis, of offsets from 0 on
};

}  // namespace sextant
