// A trained bias for each offset of two tokens of a window.

#include <sextant/window_bias.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  const sextant::WindowBiasEncoder encoder({.window = {2, 3}});
  sextant::Tensor weight = sextant::Tensor::zeros(sextant::Dtype::float32, {15, 1});
  for (std::int64_t i = 0; i < 15; ++i) weight.set(i, static_cast<double>(i));
  const std::vector<std::int64_t> tokens{0, 1, 2, 3, 4, 5};
  const sextant::Tensor bias = encoder.bias(tokens, tokens, weight);  // [1, 6, 6]
  expect(encoder.index(4, 4) == 7, "a token's offset to itself is in the middle of the table");
  expect(bias.at(0) == 7 && bias.at(5) == 0 && bias.at(30) == 14, "opposite corners have the first row and the last");
  return failures();
}
