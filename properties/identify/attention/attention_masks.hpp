#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lib/spec/attention.hpp"

namespace sextant::identify {

/// Which keys the queries of a call are seen to see.
struct SeenMask {
  std::int64_t heads;
  std::int64_t tokens;
  std::function<bool(std::int64_t head, std::int64_t query, std::int64_t key)> sees;
};

/// What the mask is where no spec says it: "a query does not see itself"; empty where it is causal or open, with a
/// window or without. Heads that differ are told by their numbers.
std::string mask_words(const SeenMask& mask, const Attention& claimed);

/// "tokens see those of their own block of 256 alone".
std::string block_words(std::int64_t block);

}  // namespace sextant::identify
