#pragma once

#include <memory>

#include "lib/kernels/attention_part.hpp"
#include "lib/xpos/xpos.hpp"

namespace sextant {

/// Attention with xpos turns queries as queries and keys as keys, whatever role the spec names.
/// @throws what the constructor of XposEncoder does.
inline std::unique_ptr<const Turning> turning_of(const Xpos& encoding) {
  const auto in_role = [&](Role role) {
    Xpos turned = encoding;
    turned.role = role;
    return XposEncoder(turned);
  };
  return std::make_unique<TurnedBy<XposEncoder>>(in_role(Role::query), in_role(Role::key));
}

}  // namespace sextant
