#include "subjects/preview.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sextant {

std::string preview(std::span<const std::byte> bytes) {
  constexpr std::size_t length = 24;
  std::string text;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), length))) {
    const auto letter = std::to_integer<unsigned char>(byte);
    text +=
        letter >= 0x20 && letter < 0x7F ? std::string(1, static_cast<char>(letter)) : fmt::format("\\x{:02x}", letter);
  }
  return text;
}

std::string preview(std::string_view name) { return preview(std::as_bytes(std::span(name))); }

}  // namespace sextant
