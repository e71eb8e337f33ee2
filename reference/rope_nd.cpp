#include "reference/rope_nd.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant::reference {

RopeNdReference::RopeNdReference(const RopeNd& encoding)
    : encoding_(encoding), axis_of_pairs_(axis_of_pairs(encoding)) {
  const Ladders ladders = ladders_of(encoding);
  places_ = ladders.places;
  for (const Rope& ladder : ladders.ladders) ladders_.emplace_back(ladder);
}

RopeFrequencies& RopeNdReference::ladder_of(std::int64_t pair) {
  return ladders_[static_cast<std::size_t>(places_.at(static_cast<std::size_t>(pair)).ladder)];
}

const Rotation& RopeNdReference::rotation(std::span<const std::int64_t> position, std::int64_t pair,
                                          std::int64_t sequence_length, Precision precision) {
  if (std::ssize(position) != axes(encoding_)) {
    throw std::invalid_argument(fmt::format("rope_nd: {} coordinates, expected {}", position.size(), axes(encoding_)));
  }
  const auto i = static_cast<std::size_t>(pair);
  const std::int64_t coordinate = position[static_cast<std::size_t>(axis_of_pairs_.at(i))];
  return ladder_of(pair).rotation(encoding_.rope.direction == Direction::clockwise ? -coordinate : coordinate,
                                  places_[i].index, sequence_length, precision);
}

const Rotation& RopeNdReference::rotation(std::span<const std::int64_t> position, std::int64_t pair,
                                          Precision precision) {
  if (length_limit(encoding_.rope.rope_scaling))
    throw std::logic_error("RopeNdReference::rotation: the frequencies depend on the length of the call");
  return rotation(position, pair, 0, precision);
}

const Enclosure& RopeNdReference::radians(std::int64_t pair, std::int64_t sequence_length, Precision precision) {
  return ladder_of(pair).radians(places_[static_cast<std::size_t>(pair)].index, sequence_length, precision);
}

}  // namespace sextant::reference
