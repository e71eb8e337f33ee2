#include "properties/gen/extent.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sextant::gen {
namespace {

// From 1 to `most`, by 64 bits: beside a power of two as often as log-uniform.
std::int64_t large(std::int64_t most, std::uint64_t bits) {
  const auto powers = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(most)));
  if (bits % 2 == 0) {
    const auto nudge = static_cast<std::int64_t>(bits / 2 % 3) - 1;
    return std::clamp<std::int64_t>((std::int64_t{1} << (bits / 6 % powers)) + nudge, 1, most);
  }
  const double fraction = std::ldexp(static_cast<double>(bits >> 11), -53);
  return std::clamp(static_cast<std::int64_t>(std::exp2(fraction * std::log2(static_cast<double>(most) + 1))),
                    std::int64_t{1}, most);
}

std::int64_t small(std::uint64_t bits) {
  constexpr std::int64_t sizes[] = {1, 2, 3, 5};
  return sizes[bits % std::size(sizes)];
}

}  // namespace

rc::Gen<Extents> extents(const LargestCall& largest) {
  const auto word = rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
  return rc::gen::map(
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
