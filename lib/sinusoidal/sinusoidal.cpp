#include "lib/sinusoidal/sinusoidal.hpp"

#include <stdexcept>

namespace sextant {
namespace {

std::vector<Turns> frequencies_of(const Sinusoidal& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  const std::int64_t count = pairs(encoding);
  return encoding.denominator == Denominator::dim ? geometric_turns(encoding.base, 2, encoding.dim, count)
                                                  : geometric_turns(encoding.base, 1, count - 1, count);
}

}  // namespace

SinusoidalEncoder::SinusoidalEncoder(const Sinusoidal& encoding)
    : encoding_(encoding), frequencies_(frequencies_of(encoding)) {}

Tensor SinusoidalEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  if (dtype == Dtype::int64) throw std::invalid_argument("SinusoidalEncoder::encode: dtype int64");
  const auto rows = static_cast<std::int64_t>(positions.size());
  Tensor table = Tensor::zeros(dtype, {rows, encoding_.dim});
  const std::int64_t pair_count = pairs(encoding_);
#pragma omp parallel for schedule(static) if (rows * pair_count > 4096)
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t position = positions[static_cast<std::size_t>(row)] + encoding_.position_offset;
    for (std::int64_t pair = 0; pair < pair_count; ++pair) {
      const SinCos value = sin_cos(phase_at(frequencies_[static_cast<std::size_t>(pair)], position));
      const Channels channels = channels_of_pair(encoding_, pair);
      table.set(row * encoding_.dim + channels.first, encoding_.scale * value.sin);
      table.set(row * encoding_.dim + channels.second, encoding_.scale * value.cos);
    }
  }
  return table;
}

}  // namespace sextant
