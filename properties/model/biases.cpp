#include "properties/model/biases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "properties/model/questions.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// A bias grows with the square of its length.
constexpr std::int64_t longest_square = 24;
constexpr std::int64_t heads_of_chunk = 3;

// A question of so many keys and queries is one of a sweep.
constexpr std::int64_t shortest_swept = 48;
constexpr std::int64_t both_ends = 2;

// Calls visit(place, element) with every value of a bias.
template <class Visit>
void each_value(const Call& call, const Tensor& answer, Visit visit) {
  const std::int64_t keys = std::ssize(call.positions);
  const std::int64_t queries = std::ssize(call.query_positions);
  for (std::int64_t i = 0; i < answer.elements(); ++i) {
    visit(BiasPlace{.query = call.query_positions[static_cast<std::size_t>(i / keys % queries)],
                    .key = call.positions[static_cast<std::size_t>(i % keys)],
                    .head = i / keys / queries},
          i);
  }
}

}  // namespace

std::string BiasPlace::text() const { return fmt::format("head {}, query {}, key {}", head, query, key); }

std::optional<Tensor> BiasModel::drawn_weight(std::int64_t, std::int64_t) const { return std::nullopt; }

SweepOf<Question> BiasModel::sweep(std::int64_t most_values) const {
  SweepOf<Question> sweep = sweep_over(range(), both_ends * swept_heads(), most_values);
  for (BlockOf<Question>& block : sweep.blocks) {
    block.values.batch = both_ends;
    block.values.heads = swept_heads();
  }
  return sweep;
}

Call BiasModel::call_of(const Question& question) const {
  const std::vector<std::int64_t> positions = positions_of(spec(), question, 1);
  return {.positions = positions, .query_positions = positions, .weight = drawn_weight(question.heads, question.fill)};
}

// Fewer queries than keys, at the end of them, as when decoding, or in a sweep at the claim's ends; and keys at growing
// distances on both sides, where the buckets' borders lie.
Call BiasModel::accuracy_call(const Question& question) const {
  const auto inside = [&](std::int64_t p) { return p >= range().first && p < range().last; };
  std::vector<std::int64_t> keys;
  for (std::int64_t i = 0; i < question.tokens; ++i) {
    if (inside(question.position + i)) keys.push_back(question.position + i);
  }
  const std::size_t count = std::min<std::size_t>(keys.size(), static_cast<std::size_t>(question.batch));
  std::vector<std::int64_t> queries(keys.end() - static_cast<std::ptrdiff_t>(count), keys.end());
  if (question.tokens >= shortest_swept && question.batch == both_ends) queries = {range().first, range().last - 1};
  // fill picks the distances: odd ones near, even ones to the claim's ends.
  for (std::int64_t distance = 1; distance < range().last - range().first && std::ssize(keys) < shortest_swept;
       distance += 1 + distance / (4 + question.fill % 5)) {
    for (const std::int64_t key : {question.position - distance, question.position + distance}) {
      if (inside(key)) keys.push_back(key);
    }
  }
  return {.positions = keys, .query_positions = queries, .weight = drawn_weight(question.heads, question.fill)};
}

// A whole square of queries and keys against its last `count` queries before key skip + count: a step of decoding with
// the keys so far.
Parts BiasModel::chunk_of(const Chunk& chunk) const {
  const std::int64_t length = std::min(chunk.length, longest_square);
  const std::int64_t count = std::min(chunk.count, length - 1);
  const std::int64_t skip = std::min(chunk.skip, length - count);
  const std::int64_t keys = skip + count;
  const std::vector<std::int64_t> all = gen::consecutive(chunk.position, length);
  const std::optional<Tensor> weight = drawn_weight(heads_of_chunk, chunk.fill);
  return {.whole = {.positions = all, .query_positions = all, .weight = weight},
          .part = {.positions = gen::consecutive(chunk.position, keys),
                   .query_positions = gen::consecutive(chunk.position + skip, count),
                   .weight = weight},
          .in_whole = [=](std::int64_t element) {
            const std::int64_t key = element % keys;
            const std::int64_t query = element / keys % count;
            const std::int64_t head = element / keys / count;
            return (head * length + skip + query) * length + key;
          }};
}

// One query and key of many, of every head.
Parts BiasModel::one_of(const Question& question, std::int64_t which) const {
  const std::vector<std::int64_t> queries = scattered_positions(spec(), question.position, question.tokens);
  const std::vector<std::int64_t> keys =
      scattered_positions(spec(), question.position, question.tokens + question.batch);
  const std::int64_t square = std::ssize(queries) * std::ssize(keys);
  const std::int64_t value = which % square;
  const std::optional<Tensor> weight = drawn_weight(question.heads, question.fill);
  return {.whole = {.positions = keys, .query_positions = queries, .weight = weight},
          .part = {.positions = {keys[static_cast<std::size_t>(value % std::ssize(keys))]},
                   .query_positions = {queries[static_cast<std::size_t>(value / std::ssize(keys))]},
                   .weight = weight},
          .in_whole = [=](std::int64_t head) { return head * square + value; }};
}

Tensor BiasModel::ask(Session& session, const Call& call) const {
  return call.weight ? bias(session, spec(), call.query_positions, call.positions, *call.weight)
                     : bias(session, spec(), call.query_positions, call.positions);
}

void BiasJudge::add_values(Judgement& judgement, const Call& call, const Tensor& answer) {
  each_value(call, answer, [&](const BiasPlace& place, std::int64_t element) {
    judge_value(judgement, place, call, answer.at(element));
  });
}

Judgement BiasJudge::agreement(const Parts& calls, const Tensor& whole, const Tensor& part) {
  Judgement judgement;
  judgement.add_exact(std::nullopt, [] { return "the same in both calls"; });
  each_value(calls.part, part, [&](const BiasPlace& place, std::int64_t element) {
    judge_two(judgement, place, whole.at(calls.in_whole(element)), part.at(element));
  });
  return judgement;
}

std::string two_biases_text(Dtype dtype, const BiasPlace& place, double one, double other) {
  return fmt::format("{}: {} in one call, {} in the other", place.text(), value_text(dtype, one),
                     value_text(dtype, other));
}

void judge_same_bias(Judgement& judgement, Dtype dtype, const BiasPlace& place, double one, double other) {
  const bool same = one == other || (std::isnan(one) && std::isnan(other));
  judgement.add_exact(same ? std::nullopt : std::optional(two_biases_text(dtype, place, one, other)),
                      [] { return "the same in both calls"; });
}

}  // namespace sextant
