// Rotates queries in place, in memory of [tokens, heads, head_dim], as inference does.

#include <sextant/rope.hpp>

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "expect.hpp"

int main() {
  const sextant::Spec spec = sextant::parse_spec(R"({"encoding": "rope", "head_dim": 4, "pairing": "interleaved"})");
  const sextant::RopeEncoder encoder(std::get<sextant::Rope>(spec.encoding));
  constexpr std::int64_t tokens = 2;
  constexpr std::int64_t heads = 1;
  constexpr std::int64_t head_dim = 4;
  std::vector<float> queries{1, 0, 1, 0, 1, 0, 1, 0};
  const sextant::Heads view{sextant::Dtype::float32,
                            reinterpret_cast<std::byte*>(queries.data()),
                            /*batch=*/1,
                            tokens,
                            heads,
                            head_dim,
                            /*batch_stride=*/0,
                            /*token_stride=*/heads * head_dim,
                            /*head_stride=*/head_dim};
  const std::vector<std::int64_t> positions{0, 1};
  encoder.apply(view, positions);
  expect(queries[0] == 1 && queries[1] == 0, "position 0 turns nothing");
  expect(queries[4] == 0.5403023059F && queries[5] == 0.8414709848F, "position 1 turns the first pair by one radian");
  return failures();
}
