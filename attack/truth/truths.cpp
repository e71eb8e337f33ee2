#include "attack/truth/truths.hpp"

#include <stdexcept>

#include "lib/spec/of.hpp"

namespace sextant::attack {
namespace {

std::int64_t rows_of(const Case& example) {
  return example.operation == Operation::encode_range ? example.range.count : std::ssize(example.positions);
}
std::int64_t keys_of(const Case& example) { return std::ssize(example.keys); }

std::int64_t size_for(const Sinusoidal& encoding, const Case& example) { return rows_of(example) * encoding.dim; }
std::int64_t size_for(const Sinusoidal2d& encoding, const Case& example) { return rows_of(example) / 2 * encoding.dim; }
std::int64_t size_for(const SinusoidalNd& encoding, const Case& example) {
  return rows_of(example) / std::ssize(encoding.extents) * encoding.dim;
}
std::int64_t size_for(const Fourier& encoding, const Case& example) {
  return rows_of(example) / encoding.axes * row_width(encoding);
}
std::int64_t size_for(const Integer& encoding, const Case& example) { return rows_of(example) * encoding.dim; }
std::int64_t size_for(const Binary& encoding, const Case& example) { return rows_of(example) * encoding.dim; }
std::int64_t size_for(const Learned& encoding, const Case& example) {
  return (example.operation == Operation::grad_weight ? encoding.max_positions : rows_of(example)) * encoding.dim;
}
std::int64_t size_for(const Rope& encoding, const Case& example) {
  if (example.operation == Operation::tables) return 2 * rows_of(example) * (encoding.rotary_dim / 2);
  return std::ssize(example.elements);
}
std::int64_t size_for(const RotaryTable& encoding, const Case& example) {
  return 2 * rows_of(example) * pairs(encoding);
}
std::int64_t size_for(const QkNormRope& encoding, const Case& example) {
  return std::ssize(example.elements) - 2 * encoding.rope.head_dim;
}
std::int64_t size_for(const RopeNd&, const Case& example) { return std::ssize(example.elements); }
std::int64_t size_for(const Xpos&, const Case& example) { return std::ssize(example.elements); }
std::int64_t size_for(const Alibi& encoding, const Case& example) {
  if (example.operation == Operation::slope) return encoding.num_heads;
  return encoding.num_heads * rows_of(example) * keys_of(example);
}
std::int64_t size_for(const RelativeBias& encoding, const Case& example) {
  if (example.operation == Operation::bucket) return rows_of(example);
  if (example.operation == Operation::grad_weight) return encoding.num_buckets * example.heads;
  return example.heads * rows_of(example) * keys_of(example);
}
std::int64_t size_for(const WindowBias& encoding, const Case& example) {
  if (example.operation == Operation::grad_weight) return weight_rows(encoding) * example.heads;
  return example.heads * rows_of(example) * keys_of(example);
}
std::int64_t size_for(const LogCoordinates&, const Case& example) { return rows_of(example); }
std::int64_t size_for(const Attention& encoding, const Case& example) {
  return example.batch * encoding.num_heads * example.tokens * encoding.head_dim;
}

[[noreturn]] void refuse(const Case& example) {
  throw std::logic_error("no attack is written for " + std::string(encoding_name(example.spec)));
}

}  // namespace

std::int64_t answer_size(const Case& example) {
  return of_each(example.spec, [&](const auto& encoding) -> std::int64_t {
    if constexpr (requires { size_for(encoding, example); }) return size_for(encoding, example);
    refuse(example);
  });
}

void judge(const Case& example, Checker& checker) {
  of_each(example.spec, [&](const auto& encoding) {
    if constexpr (requires { judge_encoding(encoding, example, checker); }) {
      judge_encoding(encoding, example, checker);
    } else {
      refuse(example);
    }
  });
}

}  // namespace sextant::attack
