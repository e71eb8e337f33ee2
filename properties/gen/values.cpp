#include "properties/gen/values.hpp"

#include <array>
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
  constexpr std::array scales{0x1p-4, 0x1p-3, 0x1p-2, 0x1p-1, 0x1p0, 0x1p1, 0x1p2, 0x1p3, 0x1p4};
  return (static_cast<double>(bits >> 11) * 0x1p-52 - 1) * scales[bits % scales.size()];
}

Tensor values(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value(fill, i));
  return tensor;
}

}  // namespace sextant::gen
