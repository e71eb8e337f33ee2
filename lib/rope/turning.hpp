#pragma once

#include <memory>

#include "lib/kernels/attention_part.hpp"
#include "lib/rope/rope.hpp"

namespace sextant {

/// Attention with rope turns queries and keys alike.
/// @throws what the constructor of RopeEncoder does.
inline std::unique_ptr<const Turning> turning_of(const Rope& encoding) {
  return std::make_unique<TurnedBy<RopeEncoder>>(RopeEncoder(encoding));
}

}  // namespace sextant
