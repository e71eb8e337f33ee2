#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/numeric/position_range.hpp"

namespace sextant {

/// The range that two or more positions are, its step of any sign or 0; nothing where their distances differ, or for
/// fewer. Positions of which the distance is beyond 64 bits have one that wraps round; no encoder takes such.
std::optional<PositionRange> equally_spaced(std::span<const std::int64_t> positions);

}  // namespace sextant
