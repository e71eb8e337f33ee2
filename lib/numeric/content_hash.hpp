#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace sextant {

/// FNV-1a with 64 bits (Fowler, Noll, Vo): each unit is xored in, then the state is multiplied by 2^40 + 0x1b3. The
/// same on every platform. Tells contents apart that differ by accident, not those made to deceive.
class ContentHash {
 public:
  constexpr void add(std::uint64_t unit) { state_ = (state_ ^ unit) * 0x100000001B3U; }
  constexpr void add(std::string_view text) {
    for (const char letter : text) add(static_cast<unsigned char>(letter));
  }
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) add(std::to_integer<std::uint64_t>(byte));
  }
  /// In units of 64 bits in the machine's order; what is left over at the end is not taken in.
  void add_words(std::span<const std::byte> bytes) {
    for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), sizeof word);
      add(word);
    }
  }

  constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325U;
};

}  // namespace sextant
