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
  for (const auto& [rope, extent, stretch] : ladders.ladders)
    ladders_.push_back({RopeFrequencies(rope), extent, stretch});
}

RopeNdReference::LadderFrequencies& RopeNdReference::ladder_of(std::int64_t pair) {
  return ladders_[static_cast<std::size_t>(places_.at(static_cast<std::size_t>(pair)).ladder)];
}

// With the sign of the direction.
std::int64_t RopeNdReference::turned_count(std::span<const std::int64_t> position, std::int64_t pair) const {
  if (std::ssize(position) != axes(encoding_)) {
    throw std::invalid_argument(fmt::format("rope_nd: {} coordinates, expected {}", position.size(), axes(encoding_)));
  }
  const std::int64_t axis = axis_of(pair);
  const std::int64_t count = counted(encoding_, axis, position[static_cast<std::size_t>(axis)]);
  return encoding_.rope.direction == Direction::clockwise ? -count : count;
}

Enclosure RopeNdReference::angle(std::span<const std::int64_t> position, std::int64_t pair,
                                 std::int64_t sequence_length, Precision precision) {
  return radians(pair, sequence_length, precision) * Enclosure(turned_count(position, pair), precision);
}

const Rotation& RopeNdReference::rotation(std::span<const std::int64_t> position, std::int64_t pair,
                                          std::int64_t sequence_length, Precision precision) {
  const std::int64_t count = turned_count(position, pair);
  const std::int64_t index = places_[static_cast<std::size_t>(pair)].index;
  auto& [frequencies, extent, stretch] = ladder_of(pair);
  if (extent == 0) return frequencies.rotation(count, index, sequence_length, precision);
  Enclosure turn = angle(position, pair, sequence_length, precision);
  const Rope& rope = frequencies.encoding();
  if (const auto j = twenty_fourths({count, extent, rope.rope_theta, index, rotary_width(rope), 0, stretch}))
    return normalized_.emplace(rotation_of_24ths(*j, std::move(turn)));
  Enclosure sine = sin(turn);
  Enclosure cosine = cos(turn);
  return normalized_.emplace(Rotation{std::move(turn), std::move(sine), std::move(cosine)});
}

const Rotation& RopeNdReference::rotation(std::span<const std::int64_t> position, std::int64_t pair,
                                          Precision precision) {
  if (length_limit(encoding_.rope.rope_scaling))
    throw std::logic_error("RopeNdReference::rotation: the frequencies depend on the length of the call");
  return rotation(position, pair, 0, precision);
}

Enclosure RopeNdReference::radians(std::int64_t pair, std::int64_t sequence_length, Precision precision) {
  auto& [frequencies, extent, stretch] = ladder_of(pair);
  const Enclosure& w = frequencies.radians(places_[static_cast<std::size_t>(pair)].index, sequence_length, precision);
  if (extent == 0) return w;
  return w * Enclosure(2.0, precision) * Enclosure::pi(precision) * Enclosure(stretch, precision) /
         Enclosure(extent, precision);
}

}  // namespace sextant::reference
