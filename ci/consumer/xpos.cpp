// Queries decay as keys grow, so that scores depend on the distance alone.

#include <sextant/xpos.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  sextant::Xpos encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 2;
  sextant::Tensor x = sextant::Tensor::zeros(sextant::Dtype::float64, {1, 1, 1, 2});
  x.set(0, 1);
  const std::vector<std::int64_t> position{512};
  const sextant::Tensor query = sextant::XposEncoder(encoding).rotate(x, position);
  encoding.role = sextant::Role::key;
  const sextant::Tensor key = sextant::XposEncoder(encoding).rotate(x, position);
  const double score = query.at(0) * key.at(0) + query.at(1) * key.at(1);
  expect(score > 1 - 1e-15 && score < 1 + 1e-15, "at one position the score is that without positions");
  return failures();
}
