#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The binary code of lib/spec/binary.hpp: c_i(p) = floor(p / 2^i) mod 2, i = 0 .. dim-1, or 2 c_i(p) - 1 where normalised.
/// A plain value, const: one encoder may serve any number of threads.
class BinaryEncoder {
 public:
  /// @throws SpecError if the encoding is outside its domain.
  explicit BinaryEncoder(const Binary& encoding);

  /// The rows of `positions` into `out`: [positions.size(), dim], row-major and dense, of a floating `dtype`, at any alignment; exact.
  /// @throws std::invalid_argument for int64 or an `out` of another size, std::out_of_range unless 0 <= position < 2^dim.
  void encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

 private:
  Binary encoding_;
};

}  // namespace sextant
