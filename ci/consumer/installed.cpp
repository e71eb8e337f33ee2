// The headers as they lie in the source, installed: an encoding from its JSON, a table, a rotation, attention.

#include <cstdint>
#include <cstdio>
#include <variant>
#include <vector>

#include "lib/attention/attention.hpp"
#include "lib/rope/rope.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"

int main() {
  using namespace sextant;
  const std::vector<std::int64_t> positions{0, 1, 2};
  const Spec table = parse_spec(R"({"encoding": "sinusoidal", "dim": 4})");
  const Tensor encoding = SinusoidalEncoder(std::get<Sinusoidal>(table.encoding)).encode(positions, table.dtype);

  const Spec rotary = parse_spec(R"({"encoding": "rope", "head_dim": 4})");
  Tensor x = Tensor::zeros(Dtype::float32, {1, 3, 1, 4});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, 1);
  const Tensor turned = RopeEncoder(std::get<Rope>(rotary.encoding)).rotate(x, positions);

  const Spec spec = parse_spec(R"({"encoding": "attention", "num_heads": 1, "head_dim": 4, "causal": true})");
  x.shape = {1, 1, 3, 4};
  const Tensor out = DotProductAttention(std::get<Attention>(spec.encoding)).attend({x, x, x, {}, nullptr});

  // sin 0 and cos 0; position 0 turns nothing; equal values have themselves as their mean.
  const bool good =
      encoding.at(0) == 0 && encoding.at(1) == 1 && turned.at(0) == 1 && turned.at(4) != 1 && out.at(11) == 1;
  std::puts(good ? "good" : "wrong");
  return good ? 0 : 1;
}
