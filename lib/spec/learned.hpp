#pragma once

#include <cstdint>

#include "lib/spec/entry.hpp"

namespace sextant {

/// A table that training fills (Gehring et al. 2017, section 3.1; Devlin et al. 2018): the code of position p is row p
/// of `weight`, [max_positions, dim]. It has the positions 0 .. max_positions - 1 and no other.
struct Learned {
  std::int64_t dim = 0;
  std::int64_t max_positions = 0;

  static const EncodingEntry<Learned> entry;
};

/// max_positions.
std::int64_t position_count(const Learned& encoding);

}  // namespace sextant
