#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/numeric/turns.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The rotary encoding of Su et al. 2021, section 3.2.2, as spec.hpp states it.
///
/// Frequencies are computed once, as fixed-point turns; phases are exact, so the accuracy does not depend on the
/// position. Values are const: one encoder may serve any number of threads.
class RopeEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, or has a scaling rule.
  explicit RopeEncoder(const Rope& encoding);

  /// Turns every vector of `x`, shape [batch, n, heads, head_dim] (row-major), by its position, `positions` being
  /// [batch, n]. The result has the shape and dtype of x; channels that no frequency turns are copied bit for bit.
  /// Accuracy: within 4 ULP of the pair's norm for float64; faithful norm-wise for the narrower dtypes (the pair is
  /// turned in float64, then rounded). NaN and infinity stay in their pair.
  /// @throws std::invalid_argument if the shapes do not fit each other or the spec, or x is int64.
  Tensor rotate(const Tensor& x, std::span<const std::int64_t> positions) const;

 private:
  Rope encoding_;
  std::vector<Turns> frequencies_;
};

}  // namespace sextant
