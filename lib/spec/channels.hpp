#pragma once

#include <cstdint>

namespace sextant {

/// The two channels that one frequency turns.
struct Channels {
  std::int64_t first;
  std::int64_t second;
};

}  // namespace sextant
