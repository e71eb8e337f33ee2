#include "reference/rope_nd.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant::reference {

RopeNdReference::RopeNdReference(const RopeNd& encoding)
    : encoding_(encoding), axis_of_pairs_(axis_of_pairs(encoding)), rope_(along_diagonal(encoding)) {}

const Rotation& RopeNdReference::rotation(std::span<const std::int64_t> position, std::int64_t pair,
                                          Precision precision) {
  if (std::ssize(position) != axes(encoding_)) {
    throw std::invalid_argument(fmt::format("rope_nd: {} coordinates, expected {}", position.size(), axes(encoding_)));
  }
  const std::int64_t axis = axis_of_pairs_.at(static_cast<std::size_t>(pair));
  return rope_.rotation(position[static_cast<std::size_t>(axis)], pair, precision);
}

}  // namespace sextant::reference
