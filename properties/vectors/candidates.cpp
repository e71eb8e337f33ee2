#include "properties/vectors/candidates.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "lib/spec/operation.hpp"
#include "properties/gen/order.hpp"
#include "properties/gen/placement.hpp"

namespace sextant::vectors {
namespace {

bool is_attention(const EncodingModel& model) {
  return signature_of(model.spec().encoding).operation == Operation::attend;
}

constexpr auto all_equal = static_cast<std::int64_t>(gen::Order::all_equal);

}  // namespace

std::int64_t size_of(const EncodingModel& model, const Ask& ask) {
  const Question& q = ask.question;
  const Operation operation = signature_of(model.spec().encoding).operation;
  std::int64_t vectors = q.tokens * q.batch;
  if (operation == Operation::rotate || operation == Operation::qk_norm_rope) vectors *= q.heads;
  if (operation == Operation::attend) vectors *= q.tokens;  // products
  return vectors * std::max<std::int64_t>(model.judged_values(), 1);
}

std::vector<Ask> candidates(const EncodingModel& model) {
  const auto [first, last] = model.range();
  std::vector<Ask> small;
  const auto add = [&](Kind kind, Question question) {
    question.position = std::clamp(question.position, first, last - 1);
    question.tokens = std::min(question.tokens, std::max<std::int64_t>(last - question.position, 1));
    if (can_ask(model, kind) && model.admits(question)) small.push_back({kind, question});
  };
  add(Kind::plain, {.position = 5, .tokens = 7, .batch = 2, .heads = 3, .fill = 1});
  add(Kind::breaking, {.position = first, .tokens = 1, .heads = 1, .fill = 2});
  add(Kind::plain, {.position = last - 3, .tokens = 3, .batch = 2, .heads = 5, .fill = 3, .order = 3});
  add(Kind::gradient, {.position = 3, .tokens = 3, .batch = 2, .heads = 2, .fill = 4});
  add(Kind::gradient, {.position = last - 3, .tokens = 3, .batch = 2, .heads = 2, .fill = 6});
  // As many queries as keys, of a bias; of attention more keys than a tile has.
  add(Kind::gradient, {.position = 3, .tokens = 7, .batch = 7, .heads = 2, .fill = 992});
  if (is_attention(model)) add(Kind::gradient, {.position = 3, .tokens = 35, .fill = 801});
  add(Kind::nothing, {.position = std::max<std::int64_t>(first, 0), .tokens = 1});
  add(Kind::plain, {.position = 40, .tokens = 1, .heads = 2, .fill = 5});
  add(Kind::plain, {.position = 9, .tokens = 1, .heads = 2, .fill = 6});
  for (const std::int64_t fill : {9, 10, 11}) {
    add(Kind::step, {.position = 3, .tokens = 7 + fill % 2, .batch = 2, .fill = fill});
    add(Kind::padded, {.position = 0, .tokens = 9 + fill % 2, .batch = 3, .fill = fill + 3});
  }
  for (const std::int64_t fill : {801, 802}) {
    add(Kind::step, {.position = 0, .tokens = 66, .batch = 2, .fill = fill});
    add(Kind::padded, {.position = 1, .tokens = 34, .batch = 3, .fill = fill});
  }
  if (is_attention(model)) {
    // More keys than a tile has, every key counting, and scores far from 0.
    for (const auto& [tokens, fill] : {std::pair{9, 807}, {66, 802}, {66, 807}, {38, 804}, {130, 804}, {293, 804}})
      add(Kind::plain, {.position = 3, .tokens = tokens, .fill = fill});
  }
  if (axes_of(model.spec().encoding) > 1 && !is_attention(model)) {
    for (std::int64_t placement = 0; placement < gen::placements; ++placement)
      add(Kind::plain, {.position = first, .tokens = 36, .batch = 2, .heads = 2, .fill = placed + placement});
  }
  add(Kind::special, {.position = std::max<std::int64_t>(first, 1), .tokens = 4, .batch = 1, .heads = 2, .fill = 13});
  for (const Kind kind : {Kind::beyond, Kind::below}) add(kind, {.position = 5, .tokens = 7, .fill = 1});
  for (const Kind kind : {Kind::large, Kind::huge, Kind::tiny, Kind::alike})
    add(kind, {.position = 5, .tokens = 7, .batch = 2, .heads = 3, .fill = 12});
  // The same but for columns that are alike.
  if (can_ask(model, Kind::alike)) add(Kind::plain, {.position = 5, .tokens = 7, .batch = 2, .heads = 3, .fill = 12});
  std::vector<Ask> others;
  for (const Question& question : model.first_questions()) others.push_back({Kind::plain, question});
  for (const auto& block : model.sweep(std::int64_t{1} << 18).blocks) others.push_back({Kind::plain, block.values});
  // Gradients of long calls, whose tables are used a thousand times; attention's truths are dear.
  if (can_ask(model, Kind::gradient) && !is_attention(model)) {
    for (const auto& [batch, tokens, heads] : {std::array{1, 2, 65}, {33, 2, 1}, {1, 1600, 1}, {2, 1200, 1}})
      others.push_back({Kind::gradient, {.position = 0, .tokens = tokens, .batch = batch, .heads = heads, .fill = 8}});
    others.push_back({Kind::gradient, {.position = last - 1, .tokens = 1100, .fill = 8, .order = all_equal}});
    others.push_back({Kind::gradient, {.position = first, .tokens = last - first, .fill = 8}});
  }
  std::ranges::stable_sort(others, {}, [&](const Ask& ask) { return size_of(model, ask); });
  small.insert(small.end(), others.begin(), others.end());
  // Of attention 300 tokens of 16 channels: few of its products are told.
  const std::int64_t most = std::int64_t{1} << (is_attention(model) ? 24 : 19);
  std::erase_if(small, [&](const Ask& ask) { return size_of(model, ask) > most; });
  return small;
}

std::vector<std::vector<Ask>> sequences(const EncodingModel& model) {
  const auto [first, last] = model.range();
  const auto sequence = [&](std::initializer_list<Question> questions) {
    std::vector<Ask> asks;
    for (Question question : questions) {
      question.position = std::clamp(question.position, first, last - 1);
      question.tokens = std::min(question.tokens, last - question.position);
      if (model.admits(question)) asks.push_back({Kind::plain, question});
    }
    return asks;
  };
  const auto ordered = [](gen::Order order) { return static_cast<std::int64_t>(order); };
  // As many tokens elsewhere; the same ends; a table that grows; a long call before a short one.
  std::vector<std::vector<Ask>> list{
      sequence({{.position = 5, .tokens = 60, .heads = 2, .fill = 1},
                {.position = 900, .tokens = 60, .heads = 2, .fill = 1}}),
      sequence({{.position = 3, .tokens = 6, .fill = 1},
                {.position = 3, .tokens = 6, .fill = 1, .order = ordered(gen::Order::shuffled_between_ends)},
                {.position = 3, .tokens = 6, .fill = 1, .order = ordered(gen::Order::shuffled_between_halves)},
                {.position = 3, .tokens = 6, .fill = 1, .order = ordered(gen::Order::exchanged)}}),
      sequence({{.position = first, .tokens = 7, .fill = 1}, {.position = first, .tokens = 64, .fill = 1}})};
  if (!is_attention(model))
    list.push_back(sequence({{.position = first, .tokens = 4500, .fill = 1}, {.position = 6, .tokens = 7, .fill = 1}}));
  std::vector<Ask> same_ends;
  for (const Question& question : model.questions_of_same_ends()) {
    if (model.admits(question)) same_ends.push_back({Kind::plain, question});
  }
  list.push_back(std::move(same_ends));
  if (can_ask(model, Kind::beyond)) {
    std::vector<Ask> after_refusal = sequence({{.position = 5, .tokens = 7, .fill = 1}});
    after_refusal.push_back({Kind::beyond, {.position = 5, .tokens = 7, .fill = 1}});
    for (const Ask& ask : sequence({{.position = 5, .tokens = 6, .fill = 1}})) after_refusal.push_back(ask);
    list.push_back(std::move(after_refusal));
  }
  if (can_ask(model, Kind::nothing)) {
    std::vector<Ask> after_empty{{Kind::nothing, {.position = std::max<std::int64_t>(first, 0)}}};
    for (const Ask& ask : sequence({{.position = 5, .tokens = 7, .heads = 2, .fill = 1}})) after_empty.push_back(ask);
    list.push_back(std::move(after_empty));
  }
  return list;
}

}  // namespace sextant::vectors
