#include "properties/model/biases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "properties/gen/extent.hpp"
#include "properties/gen/order.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/reshaped.hpp"
#include "properties/model/row_agreement.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// A bias grows with the square of its length.
constexpr std::int64_t longest_square = 24;
constexpr std::int64_t heads_of_chunk = 3;

// Questions with these fills have other queries. Those of a sweep: its positions as keys of the claim's first and last
// position, or as their queries.
// As many queries as the question has rows: they are in its order, keys too, or one by one, or the other way round,
// from the same place on, or queries begin behind half of the keys.
constexpr std::int64_t both_in_order = 992;
constexpr std::int64_t rows_in_order = 993;
constexpr std::int64_t keys_in_order = 994;
constexpr std::int64_t rows_further_on = 995;
constexpr std::int64_t most_side = 520;
constexpr std::int64_t swept_keys = 997;
constexpr std::int64_t swept_queries = 998;

// So many keys a question has at least, of all distances.
constexpr std::int64_t fewest_keys = 48;

// So many positions of the range in an order (gen/order.hpp), from `first` on, wrapping round at its end.
std::vector<std::int64_t> positions_in(const gen::PositionRange& range, std::int64_t first, std::int64_t count,
                                       std::int64_t order) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t step = gen::steps(static_cast<gen::Order>(order), 0, i, count);
    positions.push_back(range.first + (first - range.first + step) % (range.last - range.first));
  }
  return positions;
}

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

std::vector<FieldOf<Question>> BiasModel::question_fields() const {
  std::vector<FieldOf<Question>> fields = EncodingModel::question_fields();
  for (FieldOf<Question>& field : fields) {
    if (field.member == &Question::batch) field.range.most = most_side;
  }
  fields.push_back(order_field());
  return fields;
}

SweepOf<Question> BiasModel::sweep(std::int64_t most_values) const {
  // Two ends, in two parts.
  const SweepOf<Question> keys = sweep_over(range(), 4 * swept_heads(), most_values);
  SweepOf<Question> both{{}, keys.claimed, keys.values_of_position, "positions as key and as query"};
  for (BlockOf<Question> block : keys.blocks) {
    block.values.heads = swept_heads();
    block.values.fill = swept_keys;
    both.blocks.push_back(block);
    block.values.fill = swept_queries;
    block.positions = 0;  // they are counted already
    both.blocks.push_back(block);
  }
  return both;
}

std::vector<Question> BiasModel::first_questions() const {
  const std::int64_t near = gen::simplest_position(range());
  std::vector<Question> questions = EncodingModel::first_questions();
  for (const Question& question : questions_of_every_order(near)) questions.push_back(question);
  constexpr std::int64_t sides[] = {5, 16, 17, 31, 32, 33, 64, 65, 100, 128, 129, 257, most_side};
  for (const std::int64_t side : sides) {
    if (2 * side * side <= largest_reshaped().vectors / 4)
      questions.push_back({.position = near, .tokens = side, .batch = side, .heads = 2, .fill = rows_further_on});
  }
  for (std::int64_t order = 1; order < gen::orders; ++order) {
    for (const std::int64_t fill : {rows_in_order, keys_in_order})
      questions.push_back({.position = near, .tokens = 33, .batch = 33, .heads = 2, .fill = fill, .order = order});
    questions.push_back({.position = near, .tokens = 16, .batch = 3, .heads = 2, .fill = 1, .order = order});
  }
  if (drawn_weight(1, 0)) {
    questions.push_back({.position = near, .tokens = 50, .heads = 3, .fill = table_of_every_magnitude});
    for (const std::int64_t heads : gen::usual_extents())
      questions.push_back({.position = near, .tokens = 3, .heads = heads, .fill = 1});
  }
  for (const Question& question : questions_of_every_length(near)) questions.push_back(question);
  for (const Question& question : of_the_whole_claim()) questions.push_back(question);
  std::erase_if(questions, [&](const Question& question) { return !admits(question); });
  return questions;
}

// A window is asked as a whole: every token as query and as key, in order and in none; from a token in the middle on,
// which is how a window is shifted; without its first token, which may be a class token; and some of either.
std::vector<Question> BiasModel::of_the_whole_claim() const {
  std::vector<Question> questions;
  const std::int64_t all = range().last - range().first;
  if (all > most_side || all < 2) return questions;
  const auto add = [&](std::int64_t start, std::int64_t keys, std::int64_t queries, gen::Order order) {
    questions.push_back({.position = range().first + start,
                         .tokens = keys,
                         .batch = queries,
                         .heads = 3,
                         .fill = both_in_order,
                         .order = static_cast<std::int64_t>(order)});
  };
  for (const gen::Order order : {gen::Order::one_by_one, gen::Order::shuffled, gen::Order::descending}) {
    add(0, all, all, order);
    add(all / 2, all, all, order);
    add(1, all - 1, all - 1, order);
    add(0, all, 1, order);
    add(0, 1, all, order);
    add(0, all, (all + 1) / 2, order);
    add(0, (all + 1) / 2, all, order);
  }
  return questions;
}

// Many keys, heads or queries at the end of them.
rc::Gen<Question> BiasModel::drawn_questions() const {
  const std::int64_t heads = drawn_weight(1, 0) ? 1 : swept_heads();
  return of_many_shapes(EncodingModel::drawn_questions(), range(),
                        {{most_rows, longest_drawn, drawn_weight(1, 0) ? most_heads : 1},
                         std::max<std::int64_t>(values_of_call / heads, 1)});
}

Call BiasModel::call_of(const Question& question) const {
  const std::vector<std::int64_t> positions = positions_of(spec(), question, 1);
  return {.positions = positions, .query_positions = positions, .weight = drawn_weight(question.heads, question.fill)};
}

// Fewer queries than keys, the last of them, as when decoding; and keys at growing distances on both sides, where the
// buckets' borders lie.
Call BiasModel::accuracy_call(const Question& question) const {
  const auto inside = [&](std::int64_t p) { return p >= range().first && p < range().last; };
  std::vector<std::int64_t> keys;
  for (std::int64_t i = 0; i < question.tokens; ++i) {
    const std::int64_t key =
        question.position + gen::steps(static_cast<gen::Order>(question.order), 0, i, question.tokens);
    if (inside(key)) keys.push_back(key);
  }
  const std::optional<Tensor> weight = drawn_weight(question.heads, question.fill);
  const std::vector<std::int64_t> ends{range().first, range().last - 1};
  if (question.fill == swept_keys) return {.positions = keys, .query_positions = ends, .weight = weight};
  if (question.fill == swept_queries) return {.positions = ends, .query_positions = keys, .weight = weight};
  if (question.fill >= both_in_order && question.fill <= rows_further_on) {
    const std::int64_t ahead = question.fill == rows_further_on ? question.tokens / 2 + 1 : 0;
    const bool is_both = question.fill == both_in_order;
    const std::int64_t order_of_keys = question.fill == rows_in_order ? 0 : question.order;
    const std::int64_t order_of_rows = question.fill == rows_in_order || is_both ? question.order : 0;
    return {.positions = positions_in(range(), question.position, question.tokens, order_of_keys),
            .query_positions = positions_in(range(), question.position + ahead, question.batch, order_of_rows),
            .weight = weight};
  }
  const std::size_t count = std::min<std::size_t>(keys.size(), static_cast<std::size_t>(question.batch));
  const std::vector<std::int64_t> queries(keys.end() - static_cast<std::ptrdiff_t>(count), keys.end());
  // fill picks the distances: odd ones near, even ones to the claim's ends.
  for (std::int64_t distance = 1; distance < range().last - range().first && std::ssize(keys) < fewest_keys;
       distance += 1 + distance / (4 + question.fill % 5)) {
    for (const std::int64_t key : {question.position - distance, question.position + distance}) {
      if (inside(key)) keys.push_back(key);
    }
  }
  return {.positions = keys, .query_positions = queries, .weight = weight};
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

// A tile, one query, one key, queries and keys in reverse, and the last heads where a weight says how many there are.
std::int64_t BiasModel::shapes() const { return drawn_weight(1, 0) ? 5 : 4; }

// 64 MiB: 2048 x 2048 in four heads of float32, 1100 x 1100 in 12.
gen::LargestCall BiasModel::largest_reshaped() const {
  const std::int64_t heads = drawn_weight(1, 0) ? 1 : swept_heads();
  const std::int64_t most = (std::int64_t{1} << 26) / static_cast<std::int64_t>(size_of(spec().dtype)) / heads;
  return {{longest_call, longest_call, drawn_weight(1, 0) ? most_heads : 1}, std::max<std::int64_t>(most, 1)};
}

gen::LargestCall BiasModel::largest_drawn() const {
  gen::LargestCall largest = largest_reshaped();
  largest.extents.batch = largest.extents.tokens = longest_drawn;
  largest.vectors = std::max<std::int64_t>(values_of_call / (drawn_weight(1, 0) ? 1 : swept_heads()), 1);
  return largest;
}

std::int64_t BiasModel::longest_drawn_row() const {
  return static_cast<std::int64_t>(std::sqrt(static_cast<double>(largest_reshaped().vectors)));
}

std::vector<FieldOf<Question>> BiasModel::reshaping_fields() const {
  std::vector<FieldOf<Question>> fields = question_fields();
  for (FieldOf<Question>& field : fields) {
    if (field.member == &Question::batch) field = {"queries", FieldRole::count, &Question::batch, {1, longest_call}};
    if (field.member == &Question::tokens) field.name = "keys";
  }
  return fields;
}

Parts BiasModel::reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const {
  // Queries begin with the keys or end with them.
  const std::int64_t keys = question.tokens;
  const std::int64_t queries = question.batch;
  const std::int64_t ahead = question.fill % 2 == 0 ? 0 : std::max<std::int64_t>(0, keys - queries);
  Call whole{.positions = positions_in(range(), question.position, keys, question.order),
             .query_positions = positions_in(range(), question.position + ahead, queries, 0),
             .weight = drawn_weight(question.heads, question.fill)};
  const bool reversed = shape == 3;
  const std::int64_t first_head = shape == 4 ? cut_of(question.heads, cut) : 0;
  // The tile begins anywhere in the first half and ends at the end or a little before it.
  const auto start = [&](std::int64_t extent, std::int64_t number) { return number % ((extent + 1) / 2); };
  const auto left_of = [&](std::int64_t extent, std::int64_t number) {
    return std::max<std::int64_t>(extent - number % 3, 1);
  };
  const std::int64_t first_query = shape == 0 ? start(queries, cut) : shape == 1 ? cut % queries : 0;
  const std::int64_t first_key = shape == 0 ? start(keys, cut / 3) : shape == 2 ? cut % keys : 0;
  const std::int64_t tile_queries = shape == 0 ? left_of(queries - first_query, cut / 7) : shape == 1 ? 1 : queries;
  const std::int64_t tile_keys = shape == 0 ? left_of(keys - first_key, cut / 11) : shape == 2 ? 1 : keys;
  const auto tile = [](const std::vector<std::int64_t>& positions, std::int64_t first, std::int64_t count) {
    return std::vector<std::int64_t>(positions.begin() + first, positions.begin() + first + count);
  };
  Call part{.positions = tile(whole.positions, first_key, tile_keys),
            .query_positions = tile(whole.query_positions, first_query, tile_queries),
            .weight = whole.weight};
  if (reversed) {
    std::ranges::reverse(part.positions);
    std::ranges::reverse(part.query_positions);
  }
  if (first_head > 0) {
    const std::int64_t heads = question.heads - first_head;
    Tensor weight = Tensor::zeros(whole.weight->dtype, {whole.weight->shape[0], heads});
    for (std::int64_t i = 0; i < weight.elements(); ++i)
      weight.set(i, whole.weight->at(i / heads * question.heads + first_head + i % heads));
    part.weight = std::move(weight);
  }
  return {std::move(whole), std::move(part),
          [=](std::int64_t element) {
            const std::int64_t key = element % tile_keys;
            const std::int64_t query = element / tile_keys % tile_queries;
            const std::int64_t head = first_head + element / tile_keys / tile_queries;
            return (head * queries + first_query + (reversed ? tile_queries - 1 - query : query)) * keys + first_key +
                   (reversed ? tile_keys - 1 - key : key);
          },
          reversed ? 1 : tile_keys};
}

Tensor BiasModel::ask(Session& session, const Call& call) const {
  return call.weight ? bias(session, spec(), call.query_positions, call.positions, *call.weight)
                     : bias(session, spec(), call.query_positions, call.positions);
}

void BiasJudge::add_values(Judgement& judgement, const Call& call, const Tensor& answer) {
  each_value(call, answer, [&](const BiasPlace& place, std::int64_t element) {
    judgement.place = place.position();
    judge_value(judgement, place, call, answer.at(element));
  });
}

Judgement BiasJudge::agreement(const Parts& calls, const Tensor& whole, const Tensor& part) {
  Judgement judgement;
  judgement.add_exact(std::nullopt, [] { return "the same in both calls"; });
  each_value(calls.part, part, [&](const BiasPlace& place, std::int64_t element) {
    judgement.place = place.position();
    judge_two(judgement, place, whole.at(calls.in_whole(element)), part.at(element));
  });
  return judgement;
}

std::string two_biases_text(Dtype dtype, const BiasPlace& place, double one, double other) {
  return fmt::format("{}: {} in one call, {} in the other", place.text(), value_text(dtype, one),
                     value_text(dtype, other));
}

void judge_same_bias(Judgement& judgement, Dtype dtype, const BiasPlace& place, double one, double other) {
  const bool same = same_or_nan(one, other);
  judgement.add_exact(same ? std::nullopt : std::optional(two_biases_text(dtype, place, one, other)),
                      [] { return "the same in both calls"; });
}

}  // namespace sextant
