// Rows of a trained table, and the gradient that trains it.

#include <sextant/learned.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  const sextant::LearnedEncoder encoder({.dim = 2, .max_positions = 3});
  sextant::Tensor weight = sextant::Tensor::zeros(sextant::Dtype::float32, {3, 2});
  for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, static_cast<double>(i));
  const std::vector<std::int64_t> positions{2, 0, 2};
  const sextant::Tensor code = encoder.encode(positions, weight);  // [3, 2]
  expect(code.at(0) == 4 && code.at(3) == 1, "rows 2 and 0");
  const sextant::Tensor gradient = encoder.grad_weight(positions, code);  // [3, 2]
  expect(gradient.at(4) == 8 && gradient.at(2) == 0, "row 2 stands twice, row 1 nowhere");
  return failures();
}
