#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant::vectors {

/// A rotation as programs have it that are given the cosines and sines: a call with real ones, of positions that break
/// things, and its answer. All extents differ.
struct RotationCase {
  std::string name;
  std::string comment;
  Pairing pairing;
  std::vector<std::int64_t> positions;  ///< [batch, tokens]
  Tensor x;                             ///< [batch, tokens, heads, head_dim]
  Tensor cos;                           ///< [batch, tokens, rotary_dim / 2], correctly rounded
  Tensor sin;
  Tensor y;  ///< x turned by these cosines and sines: the exact value, rounded to float64 and then to the dtype
};

std::vector<RotationCase> rotation_cases();

}  // namespace sextant::vectors
