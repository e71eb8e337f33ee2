#pragma once

#include <cstddef>

namespace sextant {

/// Whole lines to be streamed, one after the other: `left` bytes at `from` that belong at `to`.
struct WaitingLines {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t left = 0;
};

}  // namespace sextant
