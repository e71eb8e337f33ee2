// A trained bias for each bucket of distances.

#include <sextant/relative_bias.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  const sextant::RelativeBiasEncoder encoder({.num_buckets = 8, .max_distance = 16, .bidirectional = false});
  sextant::Tensor weight = sextant::Tensor::zeros(sextant::Dtype::float32, {8, 1});
  for (std::int64_t i = 0; i < 8; ++i) weight.set(i, static_cast<double>(i));
  const std::vector<std::int64_t> queries{3};
  const std::vector<std::int64_t> keys{0, 3, 5};
  const sextant::Tensor bias = encoder.bias(queries, keys, weight);  // [1, 1, 3]
  expect(encoder.bucket(-3) == 3, "near distances have buckets of their own");
  expect(bias.at(0) == 3 && bias.at(1) == 0 && bias.at(2) == 0, "a key after the query counts as none");
  return failures();
}
