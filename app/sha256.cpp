#include "app/sha256.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

namespace sextant {
namespace {

__extension__ using Wide = unsigned __int128;

// The first 32 bits of the fractional part of the root of this degree of a number below 2^9: of floor(root * 2^32), by
// bisection.
constexpr std::uint32_t root_bits(std::uint32_t number, int degree) {
  const Wide scaled = Wide{number} << (32 * degree);
  std::uint64_t low = 0;
  std::uint64_t high = std::uint64_t{1} << 37;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    Wide power = 1;
    for (int i = 0; i < degree; ++i) power *= middle;
    (power <= scaled ? low : high) = middle;
  }
  return static_cast<std::uint32_t>(low);
}

// Those of the first primes.
template <std::size_t count>
constexpr std::array<std::uint32_t, count> root_bits_of_primes(int degree) {
  std::array<std::uint32_t, count> bits{};
  std::size_t found = 0;
  for (std::uint32_t number = 2; found < count; ++number) {
    std::uint32_t divisor = 2;
    while (divisor * divisor <= number && number % divisor != 0) ++divisor;
    if (divisor * divisor > number) bits[found++] = root_bits(number, degree);
  }
  return bits;
}

// FIPS 180-4, section 4.2.2: of cube roots.
constexpr auto constants = root_bits_of_primes<64>(3);

}  // namespace

// Section 5.3.3: of square roots.
Sha256::Sha256() : state_(root_bits_of_primes<8>(2)) {}

void Sha256::take_block() {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t k = 0; k < 4; ++k) words[i] = words[i] << 8 | block_[4 * i + k];
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(words[i - 15], 7) ^ std::rotr(words[i - 15], 18) ^ words[i - 15] >> 3;
    const std::uint32_t s1 = std::rotr(words[i - 2], 17) ^ std::rotr(words[i - 2], 19) ^ words[i - 2] >> 10;
    words[i] = words[i - 16] + s0 + words[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t first = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + words[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t second = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < added.size(); ++i) state_[i] += added[i];
}

void Sha256::add(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    block_[length_++ % block_.size()] = std::to_integer<std::uint8_t>(byte);
    if (length_ % block_.size() == 0) take_block();
  }
}

std::string Sha256::digest() {
  const std::uint64_t bits = 8 * length_;
  const std::byte one{0x80};
  add(std::span(&one, 1));
  const std::byte zero{0};
  while (length_ % block_.size() != 56) add(std::span(&zero, 1));
  for (int shift = 56; shift >= 0; shift -= 8) {
    const auto byte = static_cast<std::byte>(bits >> shift & 0xFF);
    add(std::span(&byte, 1));
  }
  std::string text;
  for (const std::uint32_t word : state_) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace sextant
