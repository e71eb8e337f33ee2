#pragma once

#include <cstdint>
#include <span>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The bias of lib/spec/reach.hpp. Const: one encoder may serve any number of threads.
class ReachEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain.
  explicit ReachEncoder(const Reach& encoding);

  /// b_h(q, k), [num_heads, queries, keys], exactly, of a floating dtype.
  /// @throws std::invalid_argument for int64.
  Tensor bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
              Dtype dtype) const;

 private:
  Reach encoding_;
};

}  // namespace sextant
