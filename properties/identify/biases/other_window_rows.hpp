#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/spec/window_bias.hpp"

namespace sextant::identify {

/// Another numbering of a window's differences than the claimed one.
struct OtherWindowRows {
  std::string words;
  /// The weight's row of a query and a key, positions of the claim; one below 0 or beyond the weight wraps round, as an
  /// index of Python's does.
  std::function<std::int64_t(std::int64_t query, std::int64_t key)> row;
};

/// Those that are tried, likeliest first.
std::vector<OtherWindowRows> other_window_rows(const WindowBias& claimed);

}  // namespace sextant::identify
