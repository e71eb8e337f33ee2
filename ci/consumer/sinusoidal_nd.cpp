// The code of a place in a film: frame, row, column.

#include <sextant/sinusoidal_nd.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  sextant::SinusoidalNd encoding;
  encoding.dim = 16;
  encoding.extents = {8, 14, 14};
  encoding.channels = {8, 4, 4};
  const std::vector<std::int64_t> by_axes{1, 0, 0, 1, 0, 0};  // places (1, 0, 0) and (0, 1, 0)
  const sextant::Tensor code =
      sextant::SinusoidalNdEncoder(encoding).encode(by_axes, sextant::Dtype::float32);  // [2, 16]
  expect(code.at(0) == 0.8414709848F && code.at(16) == 0, "the first eight channels are the frame's code");
  expect(code.at(8) == 0 && code.at(24) == 0.8414709848F, "the next four are the row's");
  return failures();
}
