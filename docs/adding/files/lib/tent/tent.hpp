#pragma once

#include <cstdint>
#include <span>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The triangle waves of lib/spec/tent.hpp. A plain value, const: one encoder may serve any number of threads.
class TentEncoder {
 public:
  /// @throws SpecError if the encoding is outside its domain.
  explicit TentEncoder(const Tent& encoding);

  /// [positions.size(), dim] of a floating `dtype`: row r is the code of positions[r], exactly.
  /// @throws std::invalid_argument for int64.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

 private:
  Tent encoding_;
};

}  // namespace sextant
