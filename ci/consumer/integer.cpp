// The number of a position, over that of the last one.

#include <sextant/integer.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  const sextant::IntegerEncoder encoder({.dim = 2, .normalize = true}, /*max_position=*/5);
  const std::vector<std::int64_t> positions{0, 2, 4};
  const sextant::Tensor code = encoder.encode(positions, sextant::Dtype::float32);  // [3, 2]
  expect(code.at(0) == 0 && code.at(2) == 0.5 && code.at(5) == 1, "positions are 0, 1/2 and 1");
  return failures();
}
