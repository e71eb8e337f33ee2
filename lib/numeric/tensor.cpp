#include "lib/numeric/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace sextant {

std::int64_t elements_of(std::span<const std::int64_t> shape) {
  constexpr std::int64_t limit = std::int64_t{1} << 59;
  std::int64_t product = 1;
  // An extent of zero makes the product zero whatever stands beside it, so the limit applies to the other extents.
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw std::invalid_argument(fmt::format("shape {}: negative extent", shape_text(shape)));
    if (extent > 0 && product > limit / extent) {
      throw std::invalid_argument(fmt::format("shape {}: too many elements", shape_text(shape)));
    }
    if (extent > 0) product *= extent;
  }
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
  }
  return product;
}

std::string shape_text(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Tensor Tensor::zeros(Dtype dtype, std::vector<std::int64_t> shape) {
  const auto bytes = static_cast<std::size_t>(elements_of(shape)) * size_of(dtype);
  return {dtype, std::move(shape), std::vector<std::byte>(bytes)};
}

Tensor Tensor::of_integers(std::vector<std::int64_t> shape, std::span<const std::int64_t> values) {
  Tensor tensor = zeros(Dtype::int64, std::move(shape));
  if (tensor.data.size() != values.size_bytes()) {
    throw std::invalid_argument(
        fmt::format("shape {} does not hold {} values", shape_text(tensor.shape), values.size()));
  }
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), values.size_bytes());
  return tensor;
}

std::int64_t Tensor::elements() const { return static_cast<std::int64_t>(data.size() / size_of(dtype)); }

double Tensor::at(std::int64_t index) const {
  return load(dtype, data.data() + static_cast<std::size_t>(index) * size_of(dtype));
}

void Tensor::read(std::int64_t first, std::span<double> values) const {
  const std::byte* source = data.data() + static_cast<std::size_t>(first) * size_of(dtype);
  const auto read_as = [&]<class Element>(Element element) {
    for (double& value : values) {
      std::memcpy(&element, source, sizeof(Element));
      value = static_cast<double>(element);
      source += sizeof(Element);
    }
  };
  if (dtype == Dtype::float32) return read_as(float{});
  if (dtype == Dtype::float64) return read_as(double{});
  for (double& value : values) {
    value = load(dtype, source);
    source += size_of(dtype);
  }
}

void Tensor::set(std::int64_t index, double value) {
  store(dtype, value, data.data() + static_cast<std::size_t>(index) * size_of(dtype));
}

std::vector<std::int64_t> Tensor::integers() const {
  if (dtype != Dtype::int64) throw std::invalid_argument("Tensor::integers: the dtype is not int64");
  std::vector<std::int64_t> values(data.size() / sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(values.data(), data.data(), data.size());
  return values;
}

}  // namespace sextant
