// Causal attention with rotated queries and keys.

#include <sextant/attention.hpp>

#include <cstdint>
#include <variant>
#include <vector>

#include "expect.hpp"

int main() {
  const sextant::Spec spec = sextant::parse_spec(
      R"({"encoding": "attention", "num_heads": 1, "head_dim": 2, "causal": true,
          "position": {"encoding": "rope", "head_dim": 2}})");
  const sextant::DotProductAttention attention(std::get<sextant::Attention>(spec.encoding));
  sextant::Tensor x = sextant::Tensor::zeros(sextant::Dtype::float32, {1, 1, 2, 2});  // [batch, heads, n, head_dim]
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, 1);
  const std::vector<std::int64_t> positions{0, 1};
  const sextant::Tensor out = attention.attend({x, x, x, positions, nullptr});
  expect(out.at(0) == 1 && out.at(3) == 1, "equal values have themselves as their mean");
  return failures();
}
