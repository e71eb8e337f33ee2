#include "properties/gen/values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "properties/gen/floats.hpp"

namespace sextant::gen {
namespace {

// Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators": the SplitMix64 finaliser.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Of the word that belongs to an element.
double value_of(std::uint64_t bits) {
  constexpr std::array scales{0x1p-4, 0x1p-3, 0x1p-2, 0x1p-1, 0x1p0, 0x1p1, 0x1p2, 0x1p3, 0x1p4};
  return (static_cast<double>(bits >> 11) * 0x1p-52 - 1) * scales[bits % scales.size()];
}

// Those of all elements of a tensor of float or double, which the language rounds to.
template <class Element>
void fill_with(Tensor& tensor, std::uint64_t start) {
  std::byte* to = tensor.data.data();
  for (std::size_t i = 0; i < tensor.data.size() / sizeof(Element); ++i, to += sizeof(Element)) {
    const auto element = static_cast<Element>(value_of(mix(start + i)));
    std::memcpy(to, &element, sizeof(Element));
  }
}

// Of values whose pair is small beside it and still rounds as normal numbers do, where a format has the room.
int least_exponent(Dtype dtype) {
  const Format format = format_of(dtype);
  return std::min(format.min_exponent + format.precision + 10, format.max_exponent - 6);
}

}  // namespace

std::uint64_t word(std::int64_t fill, std::int64_t index) {
  return mix(mix(static_cast<std::uint64_t>(fill)) + static_cast<std::uint64_t>(index));
}

double value(std::int64_t fill, std::int64_t index) { return value_of(word(fill, index)); }

Tensor values(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  const std::uint64_t start = mix(static_cast<std::uint64_t>(fill));
  switch (dtype) {
    case Dtype::float32: fill_with<float>(tensor, start); break;
    case Dtype::float64: fill_with<double>(tensor, start); break;
    default:
      for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value(fill, i));
  }
  return tensor;
}

Tensor values_of_every_magnitude(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill, double most) {
  constexpr std::array classes{FloatClass::zero, FloatClass::huge, FloatClass::normal, FloatClass::beside_power_of_two};
  const double least = std::ldexp(1.0, least_exponent(dtype));
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const std::uint64_t which = word(fill, i);
    const double drawn = from_bits(dtype, float_in(dtype, classes[which % classes.size()], word(fill + 1, i)));
    tensor.set(i, drawn == 0 ? drawn : std::copysign(std::clamp(std::fabs(drawn), least, most), drawn));
  }
  return tensor;
}

Tensor rows_of_every_magnitude(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill, double most) {
  const std::int64_t rows = shape[0] * shape[1];
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  const std::int64_t columns = rows > 0 ? tensor.elements() / rows : 0;
  const int least = least_exponent(dtype);
  const std::int64_t exponents = std::ilogb(most) - least;  // below that of `most`, which a mantissa would exceed
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const std::int64_t row = i / columns;
    const auto exponent = least + static_cast<int>(rows > 1 ? row * (exponents - 1) / (rows - 1) : 0);
    const std::uint64_t bits = word(fill, i);
    const double mantissa = 1 + static_cast<double>(bits >> 12) * 0x1p-52;
    tensor.set(i, std::ldexp(bits % 2 == 0 ? mantissa : -mantissa, exponent));
  }
  return tensor;
}

}  // namespace sextant::gen
