#pragma once

#include <cstdint>

#include "lib/spec/entry.hpp"

namespace sextant {

/// A triangle wave in each channel, of period 2^(i+1): t_i(p) = |(p mod 2^(i+1)) / 2^i - 1|, i = 0 .. dim-1, which
/// falls from 1 at p = 0 to 0 at p = 2^i and rises again. With dim at most 8 every dtype holds every value.
struct Tent {
  std::int64_t dim = 0;

  static const EncodingEntry<Tent> entry;
};

}  // namespace sextant
