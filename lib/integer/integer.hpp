#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The integer code of lib/spec/integer.hpp: c(p) = p, or p / (max_position - 1) where normalised, in each of dim
/// channels. A plain value, const: one encoder may serve any number of threads.
class IntegerEncoder {
 public:
  /// `max_position` is the spec's. @throws SpecError if the encoding is outside its domain, TargetError if
  /// SEXTANT_FORCE_TARGET is wrong.
  IntegerEncoder(const Integer& encoding, std::int64_t max_position);

  /// Row r of `out` becomes the code of positions[r]: out.rows = positions.size(), out.width = dim, any row_stride >=
  /// dim, any alignment, any floating dtype; bytes between the rows are untouched. Each value is the nearest of the
  /// dtype, ties to even: infinity beyond the dtype's range.
  /// @throws std::invalid_argument naming what does not fit, std::out_of_range for |position| > 2^53, both before
  /// anything is written.
  void encode(std::span<const std::int64_t> positions, const Rows& out) const;

  /// The same into dense rows, [positions.size(), dim] of `dtype`. @throws std::invalid_argument for int64 or an `out`
  /// of another size.
  void encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

 private:
  Integer encoding_;
  std::int64_t max_position_;
};

}  // namespace sextant
