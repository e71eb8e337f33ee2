// What a score gains for the distance of its key.

#include <sextant/alibi.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  const sextant::AlibiEncoder encoder({.num_heads = 8});
  const std::vector<std::int64_t> positions{0, 1, 2};
  const sextant::Tensor bias = encoder.bias(positions, positions, sextant::Dtype::float32);  // [8, 3, 3]
  expect(encoder.slope(0, sextant::Dtype::float32) == 0.5, "the first of eight slopes is 1/2");
  expect(bias.at(6) == -1 && bias.at(8) == 0, "two positions back and none");
  return failures();
}
