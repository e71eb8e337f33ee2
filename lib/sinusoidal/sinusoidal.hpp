#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/numeric/turns.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The sinusoidal encoding of Vaswani et al. 2017, section 3.5, as spec.hpp states it.
///
/// Frequencies are computed once, as fixed-point turns, so that every phase is exact to 2^-130 turn and the accuracy
/// does not depend on the position. Values are const: one encoder may serve any number of threads.
class SinusoidalEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain.
  explicit SinusoidalEncoder(const Sinusoidal& encoding);

  /// The rows of `positions`: shape [positions.size(), dim], row-major, of `dtype`.
  /// Accuracy: within 2 ULP for float64; faithful for the narrower dtypes (a float64 value within 2 ULP, rounded).
  /// Domain: |position + position_offset| < 2^63.
  /// @throws std::invalid_argument if dtype is int64.
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype) const;

 private:
  Sinusoidal encoding_;
  std::vector<Turns> frequencies_;
};

}  // namespace sextant
