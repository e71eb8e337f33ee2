// Normalizes and turns a query of two heads and a key of one.

#include <sextant/qk_norm_rope.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  sextant::QkNormRope encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 2;
  encoding.epsilon = 0.25;
  encoding.weight_offset = 1;
  sextant::Tensor q = sextant::Tensor::zeros(sextant::Dtype::float32, {1, 1, 2, 2});
  sextant::Tensor k = sextant::Tensor::zeros(sextant::Dtype::float32, {1, 1, 1, 2});
  q.set(0, 2);
  q.set(1, 0);
  q.set(2, 0);
  q.set(3, 2);
  k.set(0, 2);
  const sextant::Tensor weight = sextant::Tensor::zeros(sextant::Dtype::float32, {2});
  const std::vector<std::int64_t> positions{0};
  const sextant::QkNormRopeEncoder encoder(encoding);
  const auto turned = encoder.apply({.q = q, .k = k, .q_weight = weight, .k_weight = weight, .positions = positions});
  // The mean of 4 and 0 is 2, and 2 + 1/4 has the root 3/2.
  expect(turned.q.at(0) == 1.333333333F && turned.q.at(3) == 1.333333333F, "each head has a norm of its own");
  expect(turned.k.at(0) == 1.333333333F && turned.k.at(1) == 0, "so have keys");
  return failures();
}
