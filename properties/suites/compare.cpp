#include "properties/suites/compare.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "properties/gen/values.hpp"

namespace sextant::suites {
namespace {

bool is_same_form(const Tensor& got, const Tensor& expected) {
  return got.dtype == expected.dtype && got.shape == expected.shape;
}

// By the sum of the differences' sizes over that of the expected values.
template <class Size>
Outcome close_in_sum(const Tensor& got, const Tensor& expected, double most, std::string_view what, Size size) {
  if (!is_same_form(got, expected)) return {false, "another shape or dtype"};
  double off = 0;
  double all = 0;
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    off += size(got.at(i) - expected.at(i));
    all += size(expected.at(i));
  }
  if (off <= most * all) return {};
  return {false, fmt::format("{} of {:.1e}", what, off / all)};
}

}  // namespace

Outcome close(const Tensor& got, const Tensor& expected, const Tolerance& tolerance) {
  if (!is_same_form(got, expected)) return {false, "another shape or dtype"};
  std::int64_t outside = 0;
  double worst = 0;
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const double value = expected.at(i);
    const double off = std::fabs(got.at(i) - value);
    if (off <= tolerance.absolute + tolerance.relative * std::fabs(value)) continue;
    ++outside;
    worst = std::max(worst, off);
  }
  if (outside == 0) return {};
  return {false, fmt::format("{:.2g} % of the values are outside, the worst by {:.1e}",
                             100.0 * static_cast<double>(outside) / static_cast<double>(got.elements()), worst)};
}

Tolerance default_tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16: return {1e-3, 1e-5};
    case Dtype::bfloat16: return {1.6e-2, 1e-5};
    case Dtype::float32: return {1.3e-6, 1e-5};
    default: return {1e-7, 1e-7};
  }
}

Outcome close_in_squares(const Tensor& got, const Tensor& expected, double most) {
  return close_in_sum(got, expected, most, "an NMSE", [](double value) { return std::pow(value, 2); });
}

Outcome close_in_mean(const Tensor& got, const Tensor& expected, double most) {
  return close_in_sum(got, expected, most, "a mean difference", [](double value) { return std::fabs(value); });
}

Outcome close_in_direction(const Tensor& got, const Tensor& expected, double least) {
  if (!is_same_form(got, expected)) return {false, "another shape or dtype"};
  double product = 0;
  double a = 0;
  double b = 0;
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    product += got.at(i) * expected.at(i);
    a += std::pow(got.at(i), 2);
    b += std::pow(expected.at(i), 2);
  }
  const double cosine = product / std::sqrt(a * b);
  if (cosine > least) return {};
  return {false, fmt::format("a cosine of {:.6f}", cosine)};
}

Tensor normal_values(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    double sum = -6;
    for (std::int64_t part = 0; part < 3; ++part) {
      const std::uint64_t word = gen::word(fill, 3 * i + part);
      for (int shift = 0; shift < 64; shift += 16) sum += static_cast<double>(word >> shift & 0xffff) * 0x1p-16;
    }
    tensor.set(i, sum);
  }
  return tensor;
}

Outcome all_of(std::initializer_list<Outcome> outcomes) {
  for (const Outcome& outcome : outcomes) {
    if (!outcome.passes) return outcome;
  }
  return {};
}

}  // namespace sextant::suites
