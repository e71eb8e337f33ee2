#include "properties/gen/values.hpp"

#include <cmath>
#include <utility>

namespace sextant::gen {
namespace {

// Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators": the SplitMix64 finaliser.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t word(std::int64_t fill, std::int64_t index) {
  return mix(mix(static_cast<std::uint64_t>(fill)) + static_cast<std::uint64_t>(index));
}

double value(std::int64_t fill, std::int64_t index) {
  const std::uint64_t bits = word(fill, index);
  const double fraction = std::ldexp(static_cast<double>(bits >> 11), -52) - 1;
  return std::ldexp(fraction, static_cast<int>(bits % 9) - 4);
}

Tensor values(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value(fill, i));
  return tensor;
}

}  // namespace sextant::gen
