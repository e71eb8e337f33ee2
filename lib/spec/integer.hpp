#pragma once

#include <cstdint>

#include "lib/spec/entry.hpp"

namespace sextant {

/// The plain number of the position, the same in each of dim channels: c(p) = p, or p / (max_position - 1) where
/// normalised, max_position being the spec's, so that the claim's last position has the code 1. Gehring et al. 2017 and
/// Vaswani et al. 2017, section 3.5, start from it.
struct Integer {
  std::int64_t dim = 1;
  bool normalize = false;

  static const EncodingEntry<Integer> entry;
};

}  // namespace sextant
