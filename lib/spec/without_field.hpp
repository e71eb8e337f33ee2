#pragma once

#include <string>
#include <vector>

#include "lib/spec/spec.hpp"

namespace sextant {

/// A claim that differs from another in one field, of this name.
struct ChangedClaim {
  std::string field;
  Spec spec;
};

/// A valid claim with each of its fields at the default in turn, where that makes another valid claim.
std::vector<ChangedClaim> without_each_field(const Spec& spec);

}  // namespace sextant
