#include "properties/gen/vectors.hpp"

#include <cmath>

namespace sextant::gen {
namespace {

// Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators": the SplitMix64 finaliser.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

double component(std::int64_t fill, std::int64_t index) {
  const std::uint64_t bits = mix(mix(static_cast<std::uint64_t>(fill)) + static_cast<std::uint64_t>(index));
  const double fraction = std::ldexp(static_cast<double>(bits >> 11), -52) - 1;
  return std::ldexp(fraction, static_cast<int>(bits % 9) - 4);
}

}  // namespace

Tensor vectors(const Rope& encoding, Dtype dtype, const Extents& extents, std::int64_t fill) {
  Tensor x = Tensor::zeros(dtype, {extents.batch, extents.tokens, extents.heads, encoding.head_dim});
  if (fill != 0) {
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, component(fill, i));
    return x;
  }
  const std::vector<Passthrough> untouched = passthrough_channels(encoding);
  for (std::int64_t start = 0; start < x.elements(); start += encoding.head_dim) {
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      x.set(start + channels_of_pair(encoding, encoding.pairing, pair).first, 1);
    }
    for (const Passthrough& channel : untouched) x.set(start + channel.input, 1);
  }
  return x;
}

std::vector<std::int64_t> positions(const PositionRange& range, std::int64_t first, const Extents& extents) {
  const std::int64_t width = range.last - range.first;
  std::vector<std::int64_t> values;
  for (std::int64_t row = 0; row < extents.batch; ++row) {
    for (std::int64_t token = 0; token < extents.tokens; ++token) {
      values.push_back(range.first + (first - range.first + token + 7 * row) % width);
    }
  }
  return values;
}

}  // namespace sextant::gen
