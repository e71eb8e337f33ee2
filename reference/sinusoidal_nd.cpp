#include "reference/sinusoidal_nd.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "lib/numeric/index.hpp"
#include "reference/parts_of_turn.hpp"

namespace sextant::reference {
namespace {

// w_k = base^(-2k/n) of an axis: n is its channels, or two less where 1 is taken from half of them.
std::int64_t width_of(const SinusoidalNd& encoding, std::int64_t axis) {
  return encoding.channels[index(axis)] - (encoding.denominator == Denominator::dim ? 0 : 2);
}

}  // namespace

SinusoidalNdReference::SinusoidalNdReference(const SinusoidalNd& encoding) : encoding_(encoding) {
  for (std::int64_t axis = 0; axis < axes(encoding); ++axis)
    frequencies_.emplace_back(encoding.base, 2, width_of(encoding, axis), encoding.channels[index(axis)] / 2);
}

Enclosure SinusoidalNdReference::divisor(std::int64_t axis, Precision precision) const {
  if (normalized()) {
    return Enclosure(encoding_.extents[index(axis)] - 1, precision) + Enclosure(encoding_.position_offset, precision) +
           Enclosure(encoding_.epsilon, precision);
  }
  return {encoding_.scales.empty() ? 1.0 : encoding_.scales[index(axis)], precision};
}

Enclosure SinusoidalNdReference::radians(std::int64_t axis, std::int64_t pair, Precision precision) {
  Enclosure w = frequencies_.at(index(axis)).radians(pair, precision) / divisor(axis, precision);
  return normalized() ? w * Enclosure(2.0, precision) * Enclosure::pi(precision) : w;
}

Enclosure SinusoidalNdReference::angle(std::int64_t position, std::int64_t axis, std::int64_t pair,
                                       Precision precision) {
  return Enclosure(position + encoding_.position_offset, precision) * radians(axis, pair, precision);
}

const Rotation& SinusoidalNdReference::rotation(std::int64_t position, std::int64_t axis, std::int64_t pair,
                                                Precision precision) {
  Enclosure turn = angle(position, axis, pair, precision);
  if (normalized()) {
    const PartOfTurn part{.q = position + encoding_.position_offset,
                          .extent = encoding_.extents[index(axis)] - 1 + encoding_.position_offset,
                          .theta = encoding_.base,
                          .i = pair,
                          .n = pair == 0 ? 2 : width_of(encoding_, axis),
                          .beyond = encoding_.epsilon};
    if (const auto j = twenty_fourths(part)) return kept_.emplace(rotation_of_24ths(*j, std::move(turn)));
  }
  Enclosure sine = sin(turn);
  Enclosure cosine = cos(turn);
  return kept_.emplace(Rotation{std::move(turn), std::move(sine), std::move(cosine)});
}

Enclosure SinusoidalNdReference::code(std::span<const std::int64_t> position, std::int64_t channel,
                                      Precision precision) {
  if (channel < 0 || channel >= encoding_.dim)
    throw std::out_of_range(fmt::format("sinusoidal_nd: no channel {}", channel));
  for (std::int64_t axis = 0; axis < axes(encoding_); ++axis) {
    for (std::int64_t pair = 0; pair < pairs(encoding_, axis); ++pair) {
      const Channels channels = channels_of_pair(encoding_, axis, pair);
      if (channel != channels.first && channel != channels.second) continue;
      const Rotation& rotation = this->rotation(position[index(axis)], axis, pair, precision);
      return channel == channels.first ? rotation.sin : rotation.cos;
    }
  }
  return {0.0, precision};
}

FastRotations SinusoidalNdReference::fast(std::int64_t axis) {
  return FastRotations::of([&](std::int64_t pair, Precision precision) { return radians(axis, pair, precision); },
                           pairs(encoding_, axis));
}

const GeometricFrequencies& SinusoidalNdReference::frequencies(std::int64_t axis) const {
  return frequencies_.at(index(axis));
}

}  // namespace sextant::reference
