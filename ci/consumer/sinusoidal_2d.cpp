// The code of a patch at (row, column) of a grid.

#include <sextant/sinusoidal_2d.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  sextant::Sinusoidal2d encoding;
  encoding.dim = 8;
  encoding.height = encoding.width = 14;
  const std::vector<std::int64_t> rows_then_columns{0, 1, 0, 0};  // patches (0, 0) and (1, 0)
  const sextant::Tensor code =
      sextant::Sinusoidal2dEncoder(encoding).encode(rows_then_columns, sextant::Dtype::float32);  // [2, 8]
  expect(code.at(0) == 0 && code.at(8) == 0.8414709848F, "the first half is the row's code");
  expect(code.at(4) == 0 && code.at(12) == 0, "the second half is the column's");
  return failures();
}
