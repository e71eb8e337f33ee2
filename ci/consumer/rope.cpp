// Rotates queries in place, in memory of [tokens, heads, head_dim], and keys into the slots of a cache in bfloat16, as
// inference does.

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

  // Slots 3 and 4 of a cache of eight.
  const std::vector<float> keys{1, 0, 1, 0, 1, 0, 1, 0};
  std::vector<std::uint16_t> cache(8 * heads * head_dim, 0xFFFF);
  const sextant::ConstHeads new_keys{sextant::Dtype::float32,
                                     reinterpret_cast<const std::byte*>(keys.data()),
                                     /*batch=*/1,
                                     tokens,
                                     heads,
                                     head_dim,
                                     /*batch_stride=*/0,
                                     /*token_stride=*/heads * head_dim,
                                     /*head_stride=*/head_dim};
  sextant::Heads slots = view;
  slots.dtype = sextant::Dtype::bfloat16;
  slots.data = reinterpret_cast<std::byte*>(cache.data() + 3 * heads * head_dim);
  encoder.apply(new_keys, positions, slots);
  expect(cache[12] == 0x3F80 && cache[13] == 0, "position 0 turns nothing here either");
  expect(cache[16] == 0x3F0A && cache[17] == 0x3F57, "cos 1 and sin 1 in bfloat16");
  expect(cache[11] == 0xFFFF && cache[20] == 0xFFFF, "other slots are as they were");
  return failures();
}
