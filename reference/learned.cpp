#include "reference/learned.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant::reference {

Enclosure code(const Learned& encoding, const Tensor& weight, std::int64_t position, std::int64_t channel,
               Precision precision) {
  if (weight.shape != std::vector<std::int64_t>{encoding.max_positions, encoding.dim}) {
    throw std::invalid_argument(fmt::format("learned: weight has shape {}, expected [{}, {}]", shape_text(weight.shape),
                                            encoding.max_positions, encoding.dim));
  }
  if (position < 0 || position >= encoding.max_positions)
    throw std::out_of_range(fmt::format("learned: no position {}", position));
  if (channel < 0 || channel >= encoding.dim) throw std::out_of_range(fmt::format("learned: no channel {}", channel));
  return {weight.at(position * encoding.dim + channel), precision};
}

}  // namespace sextant::reference
