#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sextant {

/// SHA-256 of FIPS 180-4, section 6.2, of bytes that are given piece by piece.
class Sha256 {
 public:
  Sha256();

  void add(std::span<const std::byte> bytes);
  void add(const std::string& text) { add(std::as_bytes(std::span(text))); }

  /// Of all that was added, as 64 hexadecimal digits; nothing may be added after that.
  std::string digest();

 private:
  void take_block();

  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> block_{};
  std::uint64_t length_ = 0;
};

}  // namespace sextant
