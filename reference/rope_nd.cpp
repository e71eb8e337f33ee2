#include "reference/rope_nd.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "reference/parts_of_turn.hpp"

namespace sextant::reference {

RopeNdReference::RopeNdReference(const RopeNd& encoding)
    : encoding_(encoding), axis_of_pairs_(axis_of_pairs(encoding)) {
  const Ladders ladders = ladders_of(encoding);
  places_ = ladders.places;
  for (const auto& [rope, extent] : ladders.ladders) ladders_.push_back({RopeFrequencies(rope), extent});
}

RopeNdReference::LadderFrequencies& RopeNdReference::ladder_of(std::int64_t pair) {
  return ladders_[static_cast<std::size_t>(places_.at(static_cast<std::size_t>(pair)).ladder)];
}

const Rotation& RopeNdReference::rotation(std::span<const std::int64_t> position, std::int64_t pair,
                                          std::int64_t sequence_length, Precision precision) {
  if (std::ssize(position) != axes(encoding_)) {
    throw std::invalid_argument(fmt::format("rope_nd: {} coordinates, expected {}", position.size(), axes(encoding_)));
  }
  const auto i = static_cast<std::size_t>(pair);
  const std::int64_t axis = axis_of(pair);
  const std::int64_t count = counted(encoding_, axis, position[static_cast<std::size_t>(axis)]);
  const std::int64_t turned = encoding_.rope.direction == Direction::clockwise ? -count : count;
  if (encoding_.coordinates == Coordinates::index)
    return ladder_of(pair).frequencies.rotation(turned, places_[i].index, sequence_length, precision);
  Enclosure angle = radians(pair, sequence_length, precision) * Enclosure(turned, precision);
  const auto& [frequencies, extent] = ladder_of(pair);
  const Rope& rope = frequencies.encoding();
  if (const auto j = twenty_fourths({turned, extent, rope.rope_theta, places_[i].index, rotary_width(rope)}))
    return normalized_.emplace(rotation_of_24ths(*j, std::move(angle)));
  Enclosure sine = sin(angle);
  Enclosure cosine = cos(angle);
  return normalized_.emplace(Rotation{std::move(angle), std::move(sine), std::move(cosine)});
}

const Rotation& RopeNdReference::rotation(std::span<const std::int64_t> position, std::int64_t pair,
                                          Precision precision) {
  if (length_limit(encoding_.rope.rope_scaling))
    throw std::logic_error("RopeNdReference::rotation: the frequencies depend on the length of the call");
  return rotation(position, pair, 0, precision);
}

Enclosure RopeNdReference::radians(std::int64_t pair, std::int64_t sequence_length, Precision precision) {
  auto& [frequencies, extent] = ladder_of(pair);
  const Enclosure& w = frequencies.radians(places_[static_cast<std::size_t>(pair)].index, sequence_length, precision);
  if (extent == 0) return w;
  return w * Enclosure(2.0, precision) * Enclosure::pi(precision) / Enclosure(extent, precision);
}

}  // namespace sextant::reference
