#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "properties/identify/asked_places.hpp"

namespace sextant::identify {

/// Another position than a token's own, which its values may be the right ones of.
struct TakenPlace {
  const char* of_many;  ///< "have the position of the token before"
  const char* of_one;   ///< "has the position of the token before"
  std::optional<Place> (*at)(const AskedPlaces& asked, std::int64_t batch, std::int64_t token);
  std::size_t fewest_positions = 1;  ///< that must be wrong, so that it is told from others
  std::size_t fewest_moves = 1;      ///< by how many different numbers they must be off
};

/// Those of claims of so many axes that are told, at most 64. A place may be one that the claim has not.
const std::vector<TakenPlace>& taken_places();

}  // namespace sextant::identify
