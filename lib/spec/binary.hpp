#pragma once

#include <cstdint>

#include "lib/spec/entry.hpp"

namespace sextant {

/// The position's binary digits, least significant first: c_i(p) = floor(p / 2^i) mod 2, i = 0 .. dim-1, or 2 c_i(p) -
/// 1 where normalised, so that 0 and 1 become -1 and 1. It has the positions 0 .. 2^dim - 1 and no other.
struct Binary {
  std::int64_t dim = 0;
  bool normalize = false;

  static const EncodingEntry<Binary> entry;
};

/// 2^dim, or 2^53, beyond which no position lies, if that is less.
std::int64_t position_count(const Binary& encoding);

}  // namespace sextant
