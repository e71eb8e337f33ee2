#include "lib/numeric/hex_text.hpp"

#include <array>
#include <cstdio>

namespace sextant {

std::string hex_text(double value) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%a", value);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace sextant
