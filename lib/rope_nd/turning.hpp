#pragma once

#include <memory>

#include "lib/kernels/attention_part.hpp"
#include "lib/rope_nd/rope_nd.hpp"

namespace sextant {

/// Attention with rope_nd turns queries and keys alike.
/// @throws what the constructor of RopeNdEncoder does.
inline std::unique_ptr<const Turning> turning_of(const RopeNd& encoding) {
  return std::make_unique<TurnedBy<RopeNdEncoder>>(RopeNdEncoder(encoding));
}

}  // namespace sextant
