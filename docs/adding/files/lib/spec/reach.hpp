#pragma once

#include <cstdint>

#include "lib/spec/entry.hpp"

namespace sextant {

/// A distance that each head sees as far as its reach: the score of query position q and key position k gains
/// b_h = -min(|q - k|, 2^h), h = 0 .. num_heads-1. With at most 8 heads every dtype holds every value.
struct Reach {
  std::int64_t num_heads = 0;

  static const EncodingEntry<Reach> entry;
};

}  // namespace sextant
