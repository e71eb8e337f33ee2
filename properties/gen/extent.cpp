#include "properties/gen/extent.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "properties/gen/draw.hpp"

namespace sextant::gen {
namespace {

constexpr std::int64_t usual[] = {6,   10,  12,  14,  20,  24,  28,  40,  48,  56,   77,   80,   96,   100,  112, 196,
                                  197, 257, 300, 384, 448, 576, 577, 729, 768, 1000, 1500, 2000, 3000, 5000, 6000};

// From 1 to `most`, by 64 bits: a third each beside a power of two, one that is usual, and log-uniform.
std::int64_t large(std::int64_t most, std::uint64_t bits) {
  const auto powers = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(most)));
  const auto known = static_cast<std::uint64_t>(std::ranges::upper_bound(usual, most) - std::begin(usual));
  if (bits % 3 == 0) {
    const auto nudge = static_cast<std::int64_t>(bits / 3 % 3) - 1;
    return std::clamp<std::int64_t>((std::int64_t{1} << (bits / 9 % powers)) + nudge, 1, most);
  }
  if (bits % 3 == 1 && known > 0) return usual[bits / 3 % known];
  const double fraction = std::ldexp(static_cast<double>(bits >> 11), -53);
  return std::clamp(static_cast<std::int64_t>(std::exp2(fraction * std::log2(static_cast<double>(most) + 1))),
                    std::int64_t{1}, most);
}

std::int64_t small(std::uint64_t bits) {
  constexpr std::int64_t sizes[] = {1, 2, 3, 5};
  return sizes[bits % std::size(sizes)];
}

}  // namespace

std::span<const std::int64_t> usual_extents() { return usual; }

rc::Gen<Extents> extents(const LargestCall& largest) {
  const auto word = rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
  return gen::map(
      rc::gen::container<std::array<std::uint64_t, 4>>(word), [largest](const std::array<std::uint64_t, 4>& words) {
        std::int64_t left = largest.vectors;
        // Bit i of the choice: extent i is large. A third have two.
        constexpr std::uint64_t choices[] = {1, 2, 4, 1, 2, 4, 3, 5, 6};
        const std::uint64_t choice = choices[words[3] % std::size(choices)];
        const auto extent = [&](std::uint64_t which, std::int64_t most) {
          const std::int64_t drawn = (choice >> which & 1U) != 0 ? large(most, words[which]) : small(words[which]);
          const std::int64_t size = std::clamp<std::int64_t>(drawn, 1, std::min(most, left));
          left /= size;
          return size;
        };
        const std::int64_t heads = extent(0, largest.extents.heads);
        const std::int64_t batch = extent(1, largest.extents.batch);
        const std::int64_t tokens = extent(2, largest.extents.tokens);
        return Extents{.batch = batch, .tokens = tokens, .heads = heads};
      });
}

}  // namespace sextant::gen
