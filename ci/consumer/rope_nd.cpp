// Rotates a patch's vectors by its time, row and column.

#include <sextant/rope_nd.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  sextant::RopeNd encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 6;
  encoding.sections = {1, 1, 1};
  encoding.rope.pairing = encoding.rope.output_pairing = sextant::Pairing::interleaved;
  sextant::Tensor x = sextant::Tensor::zeros(sextant::Dtype::float32, {1, 1, 1, 6});
  for (std::int64_t i = 0; i < 6; i += 2) x.set(i, 1);
  const std::vector<std::int64_t> time_row_column{1, 0, 0};
  sextant::RopeNdEncoder(encoding).apply(sextant::heads_of(x), time_row_column);
  expect(x.at(0) == 0.5403023059F && x.at(1) == 0.8414709848F, "the first pair turns with time");
  expect(x.at(2) == 1 && x.at(4) == 1, "the others stand");
  return failures();
}
