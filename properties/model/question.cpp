#include "properties/model/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "properties/engine/judgement.hpp"
#include "properties/gen/values.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// [axes, batch, tokens]: each batch row starts 7 further on, each axis 3.
std::vector<std::int64_t> positions_of(const Spec& spec, const Question& question, std::int64_t batch) {
  const std::int64_t first = spec.min_position;
  const std::int64_t width = last_position_of(spec) - first;
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axes_of(spec.encoding); ++axis) {
    for (std::int64_t row = 0; row < batch; ++row) {
      for (std::int64_t token = 0; token < question.tokens; ++token) {
        positions.push_back(first + (question.position - first + token + 7 * row + 3 * axis) % width);
      }
    }
  }
  return positions;
}

struct Asker {
  Session& session;
  const Spec& spec;
  const Question& question;

  Tensor drawn(std::vector<std::int64_t> shape, std::int64_t which = 0) const {
    return gen::values(spec.dtype, std::move(shape), question.fill + 1 + which);
  }

  Tensor turned(std::int64_t head_dim) const {
    const Tensor x = drawn({question.batch, question.tokens, question.heads, head_dim});
    return rotate(session, spec, x, positions_of(spec, question, question.batch));
  }

  template <class Code>
  Tensor operator()(const Code&) const {
    return encode(session, spec, positions_of(spec, question, 1));
  }
  Tensor operator()(const Learned& learned) const {
    return encode(session, spec, positions_of(spec, question, 1), drawn({learned.max_positions, learned.dim}));
  }
  Tensor operator()(const Rope& rope) const { return turned(rope.head_dim); }
  Tensor operator()(const RopeNd& rope) const { return turned(rope.head_dim); }
  Tensor operator()(const Xpos& xpos) const { return turned(xpos.rope.head_dim); }
  Tensor operator()(const Alibi&) const {
    const std::vector<std::int64_t> positions = positions_of(spec, question, 1);
    return bias(session, spec, positions, positions);
  }
  Tensor operator()(const RelativeBias& relative) const {
    const std::vector<std::int64_t> positions = positions_of(spec, question, 1);
    return bias(session, spec, positions, positions, drawn({relative.num_buckets, question.heads}));
  }
  Tensor operator()(const Attention& attention) const {
    const Tensor q = drawn({question.batch, attention.num_heads, question.tokens, attention.head_dim});
    const Tensor k = drawn({question.batch, attention.num_kv_heads, question.tokens, attention.head_dim}, 1);
    const Tensor v = drawn({question.batch, attention.num_kv_heads, question.tokens, attention.head_dim}, 2);
    std::optional<Tensor> weight;
    if (attention.position) {
      if (const auto* relative = std::get_if<RelativeBias>(&*attention.position))
        weight = drawn({relative->num_buckets, attention.num_heads}, 3);
    }
    return attend(session, spec, {q, k, v, positions_of(spec, question, question.batch), weight ? &*weight : nullptr});
  }
};

}  // namespace

Tensor ask(Session& session, const Spec& spec, const Question& question) {
  return std::visit(Asker{session, spec, question}, spec.encoding);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.data == b.data;
}

std::optional<std::string> first_difference(const Tensor& a, const Tensor& b) {
  const std::size_t width = size_of(a.dtype);
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * width;
    if (std::memcmp(a.data.data() + at, b.data.data() + at, width) == 0) continue;
    return fmt::format("element {}: {}, then {}", i, value_text(a.dtype, a.at(i)), value_text(b.dtype, b.at(i)));
  }
  return std::nullopt;
}

std::int64_t last_position_of(const Spec& spec) {
  if (const auto* grid = std::get_if<Sinusoidal2d>(&spec.encoding))
    return std::min({spec.max_position, grid->height, grid->width});
  if (const auto* attention = std::get_if<Attention>(&spec.encoding); attention != nullptr && attention->position) {
    if (const auto* grid = std::get_if<Sinusoidal2d>(&*attention->position))
      return std::min({spec.max_position, grid->height, grid->width});
  }
  return spec.max_position;
}

}  // namespace sextant
