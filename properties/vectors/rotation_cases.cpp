#include "properties/vectors/rotation_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/spec/of.hpp"
#include "properties/model/exact_table.hpp"
#include "properties/vectors/vector.hpp"

namespace sextant::vectors {
namespace {

struct Row {
  const char* name;
  const char* comment;
  const char* spec;
};

// The spec's dtype is that of all tensors.
constexpr Row rows[] = {
    {"half_far", "halves are paired, positions up to 131071",
     R"({"encoding":"rope","head_dim":16,"rope_theta":500000,"max_position":131072})"},
    {"interleaved_far", "neighbours are paired, positions up to 131071",
     R"({"encoding":"rope","head_dim":16,"rope_theta":500000,"pairing":"interleaved","max_position":131072})"},
    {"half_partial", "8 of 16 channels turn",
     R"({"encoding":"rope","head_dim":16,"rotary_dim":8,"max_position":131072})"},
    {"interleaved_partial", "8 of 16 channels turn, neighbours are paired",
     R"({"encoding":"rope","head_dim":16,"rotary_dim":8,"pairing":"interleaved","max_position":131072})"},
    {"half_bfloat16", "bfloat16, positions that it does not hold",
     R"({"encoding":"rope","head_dim":16,"dtype":"bfloat16","max_position":131072})"},
    {"interleaved_float16", "float16, positions that it does not hold",
     R"({"encoding":"rope","head_dim":16,"pairing":"interleaved","dtype":"float16","max_position":131072})"},
    {"half_beyond_float32", "2^24 - 1, 2^24 and 2^24 + 1, which float32 does not hold",
     R"({"encoding":"rope","head_dim":16,"rope_theta":1000000,"max_position":16777218})"},
    {"half_llama3", "Llama 3.1's frequencies",
     R"({"encoding":"rope","head_dim":16,"rope_theta":500000,"rope_scaling":{"rope_type":"llama3","factor":8,)"
     R"("original_max_position_embeddings":8192,"low_freq_factor":1,"high_freq_factor":4},"max_position":131072})"},
};

constexpr std::int64_t batch = 2;
constexpr std::int64_t tokens = 5;
constexpr std::int64_t heads = 3;

// y of a pair: each product of two values of at most 24 bits is exact in double, so that fma rounds once.
void turn(RotationCase& made, const Channels& channels, std::int64_t vector, std::int64_t width, double cos,
          double sin) {
  const std::int64_t first = vector * width + channels.first;
  const std::int64_t second = vector * width + channels.second;
  const double a = made.x.at(first);
  const double b = made.x.at(second);
  made.y.set(first, std::fma(a, cos, -(b * sin)));
  made.y.set(second, std::fma(a, sin, b * cos));
}

RotationCase made_case(const Row& row) {
  const Spec spec = parse_spec(row.spec);
  const Rope& rope = *held<Rope>(spec);
  const std::int64_t last = spec.max_position - 1;
  RotationCase made{.name = row.name,
                    .comment = row.comment,
                    .pairing = rope.pairing,
                    .positions = {last, 0, 1, last - 1, 257, 2049, last - 2, 65535, 8191, 8192},
                    .x = patterned(spec.dtype, {batch, tokens, heads, rope.head_dim}, 11),
                    .cos = Tensor::zeros(spec.dtype, {batch, tokens, pairs(rope)}),
                    .sin = Tensor::zeros(spec.dtype, {batch, tokens, pairs(rope)}),
                    .y = {}};
  made.y = made.x;
  const auto table = exact_table(spec, {.dtype = spec.dtype, .furthest = last});
  for (std::int64_t token = 0; token < batch * tokens; ++token) {
    const std::vector<std::vector<double>>& parts = table->at(made.positions[static_cast<std::size_t>(token)]);
    for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
      const double cos = parts[0][static_cast<std::size_t>(pair)];
      const double sin = parts[1][static_cast<std::size_t>(pair)];
      made.cos.set(token * pairs(rope) + pair, cos);
      made.sin.set(token * pairs(rope) + pair, sin);
      for (std::int64_t head = 0; head < heads; ++head)
        turn(made, channels_of_pair(rope, rope.pairing, pair), token * heads + head, rope.head_dim, cos, sin);
    }
  }
  return made;
}

}  // namespace

std::vector<RotationCase> rotation_cases() {
  std::vector<RotationCase> cases;
  for (const Row& row : rows) cases.push_back(made_case(row));
  return cases;
}

}  // namespace sextant::vectors
