#include "properties/vectors/vector.hpp"

#include "properties/gen/values.hpp"

namespace sextant::vectors {

// Values of eight significant bits, which every dtype has, so that one drawing serves all.
std::vector<double> pattern() {
  constexpr std::int64_t drawing = 2026;
  const Tensor drawn = gen::values(Dtype::bfloat16, {pattern_length}, drawing);
  std::vector<double> values;
  for (std::int64_t i = 0; i < pattern_length; ++i) {
    // float16 has no exponents below -14; the drawing has none below -20.
    const double value = drawn.at(i);
    values.push_back(value > -0x1p-6 && value < 0x1p-6 ? 0.0625 : value);
  }
  return values;
}

Tensor patterned(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t from, double factor) {
  const std::vector<double> values = pattern();
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    tensor.set(i, factor * values[static_cast<std::size_t>((from + i) % pattern_length)]);
  return tensor;
}

}  // namespace sextant::vectors
