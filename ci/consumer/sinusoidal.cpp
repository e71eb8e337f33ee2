// A table into a model's own memory, which may have gaps between its rows.

#include <sextant/sinusoidal.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  sextant::Sinusoidal encoding;
  encoding.dim = 4;
  const sextant::SinusoidalEncoder encoder(encoding);
  constexpr std::int64_t rows = 3;
  constexpr std::int64_t stride = 6;
  std::vector<float> table(rows * stride, -7);
  encoder.encode(sextant::PositionRange{.first = 0, .count = rows, .step = 1},
                 {sextant::Dtype::float32, reinterpret_cast<std::byte*>(table.data()), rows, encoder.dim(), stride});
  expect(table[0] == 0 && table[1] == 1, "sin 0 and cos 0");
  expect(table[stride] == 0.8414709848F && table[stride + 1] == 0.5403023059F, "sin 1 and cos 1, correctly rounded");
  expect(table[4] == -7 && table[5] == -7, "the gap is untouched");
  return failures();
}
