// Binary digits as -1 and 1, least significant first.

#include <sextant/binary.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  const sextant::BinaryEncoder encoder({.dim = 3, .normalize = true});
  const std::vector<std::int64_t> positions{6};
  const sextant::Tensor code = encoder.encode(positions, sextant::Dtype::float16);
  expect(code.at(0) == -1 && code.at(1) == 1 && code.at(2) == 1, "6 is 110");
  return failures();
}
