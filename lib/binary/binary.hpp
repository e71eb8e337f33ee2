#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The binary code of lib/spec/binary.hpp: c_i(p) = floor(p / 2^i) mod 2, i = 0 .. dim-1, or 2 c_i(p) - 1 where
/// normalised. A plain value, const: one encoder may serve any number of threads.
class BinaryEncoder {
 public:
  /// @throws SpecError if the encoding is outside its domain, TargetError if SEXTANT_FORCE_TARGET is wrong.
  explicit BinaryEncoder(const Binary& encoding);

  /// Row r of `out` becomes the code of positions[r], exactly: out.rows = positions.size(), out.width = dim, any
  /// row_stride >= dim, any alignment, any floating dtype; bytes between the rows are untouched.
  /// @throws std::invalid_argument naming what does not fit, std::out_of_range unless 0 <= position < 2^dim, both
  /// before anything is written.
  void encode(std::span<const std::int64_t> positions, const Rows& out) const;

  /// The same into dense rows, [positions.size(), dim] of `dtype`. @throws std::invalid_argument for int64 or an `out`
  /// of another size.
  void encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

 private:
  Binary encoding_;
};

}  // namespace sextant
