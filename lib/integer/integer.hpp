#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The integer code of lib/spec/integer.hpp: c(p) = p, or p / (max_position - 1) where normalised, in each of dim channels.
/// A plain value, const: one encoder may serve any number of threads.
class IntegerEncoder {
 public:
  /// `max_position` is the spec's. @throws SpecError if the encoding is outside its domain.
  IntegerEncoder(const Integer& encoding, std::int64_t max_position);

  /// The rows of `positions` into `out`: [positions.size(), dim], row-major and dense, of a floating `dtype`, at any alignment. Each value
  /// is the nearest of the dtype, ties to even: infinity beyond the dtype's range.
  /// @throws std::invalid_argument for int64 or an `out` of another size, std::out_of_range for |position| > 2^53.
  void encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

 private:
  Integer encoding_;
  std::int64_t max_position_;
};

}  // namespace sextant
