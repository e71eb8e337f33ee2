#include "attack/truth/truths.hpp"

#include <stdexcept>
#include <type_traits>

#include "lib/spec/of.hpp"

namespace sextant::attack {

std::int64_t answer_size(const Case& example) {
  const std::int64_t rows =
      example.operation == Operation::encode_range ? example.range.count : std::ssize(example.positions);
  const std::int64_t keys = std::ssize(example.keys);
  const auto size = [&](const auto& encoding) -> std::int64_t {
    using Encoding = std::remove_cvref_t<decltype(encoding)>;
    if constexpr (std::is_same_v<Encoding, Sinusoidal2d>) return rows / 2 * encoding.dim;
    if constexpr (std::is_same_v<Encoding, Sinusoidal> || std::is_same_v<Encoding, Integer> ||
                  std::is_same_v<Encoding, Binary>)
      return rows * encoding.dim;
    if constexpr (std::is_same_v<Encoding, Learned>)
      return (example.operation == Operation::grad_weight ? encoding.max_positions : rows) * encoding.dim;
    if constexpr (std::is_same_v<Encoding, Rope>) {
      if (example.operation == Operation::tables) return 2 * rows * (encoding.rotary_dim / 2);
      return std::ssize(example.elements);
    }
    if constexpr (std::is_same_v<Encoding, RopeNd> || std::is_same_v<Encoding, Xpos>)
      return std::ssize(example.elements);
    if constexpr (std::is_same_v<Encoding, Alibi>) {
      return example.operation == Operation::slope ? encoding.num_heads : encoding.num_heads * rows * keys;
    }
    if constexpr (std::is_same_v<Encoding, RelativeBias>) {
      if (example.operation == Operation::bucket) return rows;
      return example.operation == Operation::grad_weight ? encoding.num_buckets * example.heads
                                                         : example.heads * rows * keys;
    }
    if constexpr (std::is_same_v<Encoding, Attention>)
      return example.batch * encoding.num_heads * example.tokens * encoding.head_dim;
    throw std::logic_error("no attack is written for this encoding");
  };
  return of_each(example.spec, size);
}

void judge(const Case& example, Checker& checker) {
  const auto judged = [&](const auto& encoding) {
    if constexpr (requires { judge_encoding(encoding, example, checker); }) {
      judge_encoding(encoding, example, checker);
    } else {
      throw std::logic_error("no attack is written for this encoding");
    }
  };
  of_each(example.spec, judged);
}

}  // namespace sextant::attack
