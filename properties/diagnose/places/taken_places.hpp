#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/diagnose/places/asked_places.hpp"

namespace sextant::identify {

/// Another position than a token's own, which its values may be the right ones of.
struct TakenPlace {
  std::string of_many;  ///< "have the position of the token before"
  std::string of_one;   ///< "has the position of the token before"
  std::function<std::optional<Place>(const AskedPlaces& asked, std::int64_t batch, std::int64_t token)> at;
  std::size_t fewest_positions = 1;  ///< that must be wrong, so that it is told from others
  std::size_t fewest_moves = 1;      ///< by how many different numbers they must be off
};

/// Those that are told, the most special first. A place may be one that the claim has not.
const std::vector<TakenPlace>& taken_places();

/// A set of them, by their numbers.
using PlaceSet = std::bitset<256>;

}  // namespace sextant::identify
