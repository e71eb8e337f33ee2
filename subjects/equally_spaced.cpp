#include "subjects/equally_spaced.hpp"

namespace sextant {

std::optional<PositionRange> equally_spaced(std::span<const std::int64_t> positions) {
  if (positions.size() < 2) return std::nullopt;
  // As words, whose difference may wrap round without harm.
  const auto difference = [&](std::size_t i) {
    return static_cast<std::uint64_t>(positions[i]) - static_cast<std::uint64_t>(positions[i - 1]);
  };
  for (std::size_t i = 2; i < positions.size(); ++i) {
    if (difference(i) != difference(1)) return std::nullopt;
  }
  return PositionRange{positions[0], std::ssize(positions), static_cast<std::int64_t>(difference(1))};
}

}  // namespace sextant
