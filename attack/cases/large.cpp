#include <algorithm>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"

namespace sextant::attack {

// More than 2 MiB, which is written past the caches: whole lines or not, on one thread or several.
std::vector<Case> large_sinusoidal(Random& random, Dtype dtype) {
  Sinusoidal encoding = draw_sinusoidal(random, Taste::usual, 256);
  if (random.once_in(2)) encoding.dim = random.of({8, 16, 32, 64, 96, 128, 1024, 1040});
  encoding.position_offset = 0;
  const std::int64_t bytes_of_row = encoding.dim * (element_format(dtype).width / 8);
  std::int64_t rows = (std::int64_t{1} << 21) / bytes_of_row + random.between(-1, 300);
  // Where strips of rows become longer: sinusoidal.cpp.
  if (random.once_in(3)) {
    encoding.dim = random.of({2, 8, 16});
    rows = random.of({16384, 65536}) + random.between(-1, 300);
  }
  keep_in_domain(encoding);
  Case example =
      range_case(random, encoding, dtype,
                 {draw_position(random, furthest / 2), std::max<std::int64_t>(rows, 1), random.of({1, 1, 1, 2, -1})});
  if (random.once_in(2)) example.offset = example.gap = 0;
  example.threads = static_cast<int>(random.between(1, 4));
  if (!random.once_in(3)) return {example};
  example.positions = positions_of(example);
  example.operation = Operation::encode_list;
  return {example};
}

// Work for several threads, positions in sequence as a prompt has them, rows turned from each other.
std::vector<Case> large_rope(Random& random, Dtype dtype) {
  Rope rope = draw_rope(random, Taste::usual, 256);
  // A head that changes its pairing in place is set aside: on the stack up to 8 KiB, kernels.cpp.
  if (random.once_in(4)) {
    rope = draw_plain_rope(random, Taste::usual, 64);
    rope.rotary_layout = RotaryLayout::prefix;
    rope.head_dim = 8192 / (element_format(dtype).width / 8) + 2 * random.between(-1, 2);
    rope.rotary_dim = random.once_in(2) ? rope.head_dim : rope.rotary_dim;
    rope.output_pairing = rope.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
  }
  const std::int64_t heads = random.of({1, 4, 8, 32});
  const std::int64_t tokens =
      std::max<std::int64_t>(1, (std::int64_t{1} << 17) / (heads * rope.head_dim) + random.between(-1, 1));
  std::vector<std::int64_t> positions;
  const std::int64_t first = draw_position(random, furthest / 2);
  const std::int64_t step = random.of({1, 1, 1, -1, 2, 100});
  for (std::int64_t i = 0; i < tokens; ++i) positions.push_back(first + i * step);
  Case example = rotation_case(random, rope, dtype, positions, heads);
  example.threads = static_cast<int>(random.between(1, 4));
  example.elements.resize(static_cast<std::size_t>(elements_of_rotation(example, rope.head_dim)));
  const ElementFormat format = element_format(dtype);
  for (Bits& bits : example.elements) bits = draw_element(random, format, Kind::normal);
  return {example};
}

}  // namespace sextant::attack
