#include "properties/identify/biases/asked_biases.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/model/biases.hpp"
#include "properties/model/model.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// Values that tell rows and heads apart in every dtype: whole numbers from 1 to 251, in no order.
Tensor told_apart(Dtype dtype, std::int64_t rows, std::int64_t heads) {
  Tensor weight = Tensor::zeros(dtype, {rows, heads});
  for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, static_cast<double>(1 + i * 97 % 251));
  return weight;
}

std::vector<std::int64_t> compared_heads(std::int64_t heads, std::int64_t square) {
  constexpr std::int64_t most_cells = 60000;
  std::vector<std::int64_t> list;
  if (heads <= 3 || heads * square <= most_cells) {
    list.resize(index(heads));
    std::iota(list.begin(), list.end(), 0);
    return list;
  }
  return {0, 1, heads / 2, heads - 1};
}

bool hides_later_keys(const Spec& claim) {
  const auto* alibi = held<Alibi>(claim);
  return alibi != nullptr && alibi->mask == Mask::causal;
}

class Questions {
 public:
  explicit Questions(const Spec& claim) : first_(claim.min_position), room_(claim.max_position - claim.min_position) {}

  void add(std::vector<std::int64_t> queries, std::vector<std::int64_t> keys, std::int64_t heads = 3) {
    const auto fits = [&](std::int64_t place) { return place >= 0 && place < room_; };
    std::erase_if(queries, [&](std::int64_t place) { return !fits(place); });
    std::erase_if(keys, [&](std::int64_t place) { return !fits(place); });
    if (queries.empty() || keys.empty()) return;
    for (std::vector<std::int64_t>* places : {&queries, &keys}) {
      for (std::int64_t& place : *places) place += first_;
    }
    list_.push_back({std::move(queries), std::move(keys), heads});
  }

  static std::vector<std::int64_t> run(std::int64_t from, std::int64_t count) {
    std::vector<std::int64_t> places(index(std::max<std::int64_t>(count, 0)));
    std::iota(places.begin(), places.end(), from);
    return places;
  }

  std::int64_t room() const { return room_; }
  std::vector<BiasQuestion> made() && { return std::move(list_); }

 private:
  std::int64_t first_;
  std::int64_t room_;
  std::vector<BiasQuestion> list_;
};

std::vector<std::int64_t> exchanged(std::vector<std::int64_t> places, std::size_t one, std::size_t other) {
  std::swap(places[one], places[other]);
  return places;
}

// Queries are the last tokens of the keys', as many of them as there are.
void add_shapes(Questions& questions) {
  const auto add = [&](std::int64_t queries, std::int64_t keys, std::int64_t heads = 3) {
    questions.add(Questions::run(std::max<std::int64_t>(keys - queries, 0), queries), Questions::run(0, keys), heads);
  };
  for (const std::int64_t heads : {1, 2, 4, 5, 6, 7, 8, 12, 16, 20, 33}) add(6, 9, heads);
  for (const auto& [queries, keys] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                                        {1, 9},
                                                                                        {9, 1},
                                                                                        {7, 7},
                                                                                        {3, 37},
                                                                                        {37, 3},
                                                                                        {24, 24},
                                                                                        {40, 200},
                                                                                        {200, 40},
                                                                                        {72, 72},
                                                                                        {64, 70},
                                                                                        {1, 64},
                                                                                        {1, 203},
                                                                                        {2, 301}})
    add(queries, keys);
  // Queries among many keys, and keys that lie apart.
  std::vector<std::int64_t> apart;
  for (std::int64_t key = 0; key < 130; ++key) apart.push_back(3 * key);
  for (const std::int64_t queries : {1, 5}) {
    questions.add(Questions::run(100, queries), Questions::run(0, 180));
    questions.add(Questions::run(10, queries), Questions::run(0, 130));
    questions.add(Questions::run(390, queries), apart);
  }
}

// As many keys at positions that do not follow each other, some of them beginning or ending as if they did.
void add_orders(Questions& questions) {
  for (const std::int64_t count : {12, 24, 40}) {
    const std::vector<std::int64_t> consecutive = Questions::run(10, count);
    const auto last = static_cast<std::size_t>(count - 1);
    std::vector<std::int64_t> gap_late = consecutive;
    std::vector<std::int64_t> gap_early = consecutive;
    std::vector<std::int64_t> same_ends = exchanged(consecutive, 3, 4);
    for (std::size_t i = 1; i <= last; ++i) {
      gap_early[i] += 2;
      if (i > 6) gap_late[i] += 5;
    }
    std::vector<std::int64_t> fall = consecutive;
    std::ranges::reverse(fall);
    const std::vector<std::int64_t> keys[] = {gap_late,
                                              gap_early,
                                              same_ends,
                                              exchanged(same_ends, 7, static_cast<std::size_t>(count / 2)),
                                              exchanged(exchanged(gap_late, 4, 8), 3, 5),
                                              exchanged(same_ends, last, last - 1),
                                              fall};
    for (const std::vector<std::int64_t>& list : keys) questions.add(Questions::run(120, 4), list);
    questions.add(Questions::run(100, count), consecutive);
    questions.add(Questions::run(100, count), Questions::run(10, count + 3));
    questions.add(fall, Questions::run(10, count));
    questions.add(exchanged(Questions::run(60, count), 2, 5), consecutive);
  }
}

// Keys and queries far from each other and from the first position.
void add_far_ones(Questions& questions) {
  const std::int64_t last = questions.room() - 1;
  constexpr std::int64_t many = 5201;
  questions.add({std::min(many, last + 1) - 1}, Questions::run(0, std::min(many, last + 1)), 2);
  questions.add(Questions::run(0, std::min(many, last + 1)), {0}, 2);
  questions.add({std::min<std::int64_t>(6000, last)}, Questions::run(std::min<std::int64_t>(1000, last / 4), 4400), 2);
  questions.add(Questions::run(std::min<std::int64_t>(1000, last / 4), 4400), {std::min<std::int64_t>(500, last / 8)},
                2);
  questions.add(Questions::run(last - 3, 4), Questions::run(0, 5));
  questions.add(Questions::run(0, 5), Questions::run(last - 3, 4));
  std::vector<std::int64_t> doubling{0, 3};
  for (std::int64_t at = 8; at < last; at *= 2) {
    doubling.push_back(at - 1);
    doubling.push_back(at + at / 3);
  }
  doubling.push_back(last);
  questions.add(doubling, doubling);
  questions.add(Questions::run(last - 11, 12), Questions::run(last - 19, 20));
}

// Of a window all its tokens, in order, from one in the middle on, in reverse and in none, and some of them.
void add_window(Questions& questions) {
  constexpr std::int64_t most = 256;
  const std::int64_t all = std::min(questions.room(), most);
  const auto from = [&](std::int64_t start, std::int64_t count) {
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < count; ++i) tokens.push_back((start + i) % all);
    return tokens;
  };
  const auto square = [&](std::vector<std::int64_t> tokens) { questions.add(tokens, tokens); };
  square(from(0, all));
  square(from(all / 2, all));
  square(from(1, all - 1));
  square(from(0, all - 1));
  square(from(all / 2, all - 2));
  square(from(all / 2, all - all / 3));
  square(from(0, std::min<std::int64_t>(all, 5)));
  std::vector<std::int64_t> reversed = from(0, all);
  std::ranges::reverse(reversed);
  square(reversed);
  if (all > 5) square(exchanged(from(0, all), 2, 4));
  for (const std::int64_t heads : {1, 2, 4, 5, 12, 16, 20}) questions.add(from(0, 4), from(1, 5), heads);
  questions.add(from(0, all), {0});
  questions.add({all - 1}, from(0, all));
  questions.add(from(0, (all + 1) / 2), from(0, all));
  questions.add(from(0, all), from(0, (all + 1) / 2));
}

}  // namespace

AskedBiases::AskedBiases(Session& session, const Spec& claim)
    : session_(session), claim_(claim), truth_(model_of(claim)->score_bias()) {}

std::optional<Tensor> AskedBiases::weight_of(std::int64_t heads) const {
  if (const auto* relative = held<RelativeBias>(claim_)) return told_apart(claim_.dtype, relative->num_buckets, heads);
  if (const auto* window = held<WindowBias>(claim_)) return told_apart(claim_.dtype, weight_rows(*window), heads);
  return std::nullopt;
}

bool AskedBiases::ask(BiasQuestion question) {
  if (const auto* alibi = held<Alibi>(claim_)) question.heads = alibi->num_heads;
  std::optional<Tensor> weight = weight_of(question.heads);
  answers_.push_back(weight ? bias(session_, claim_, question.queries, question.keys, *weight)
                            : bias(session_, claim_, question.queries, question.keys));
  weights_.push_back(std::move(weight));
  questions_.push_back(std::move(question));
  const BiasQuestion& asked = questions_.back();
  const bool is_causal = hides_later_keys(claim_);
  bool any = false;
  for (const std::int64_t head : compared_heads(asked.heads, std::ssize(asked.queries) * std::ssize(asked.keys))) {
    for (std::int64_t query = 0; query < std::ssize(asked.queries); ++query) {
      for (std::int64_t key = 0; key < std::ssize(asked.keys); ++key) {
        if (is_causal && asked.keys[index(key)] > asked.queries[index(query)]) continue;
        BiasCell cell{questions_.size() - 1, head, query, key, true};
        cell.is_right = has(cell, claimed_bias) == Has::yes;
        any = any || !cell.is_right;
        cells_.push_back(cell);
      }
    }
  }
  return any;
}

bool AskedBiases::has_wrong() const {
  return std::ranges::any_of(cells_, [](const BiasCell& cell) { return !cell.is_right; });
}

AskedBiases::Has AskedBiases::has(const BiasCell& cell, const BiasValue& value) const {
  const BiasQuestion& asked = questions_[cell.call];
  const std::optional<Tensor>& weight = weights_[cell.call];
  const auto term = value(*truth_, asked, cell, weight ? &*weight : nullptr);
  if (!term) return Has::nothing;
  if (std::isinf(term->error)) return Has::anything;
  const double unit = std::ldexp(1, -format_of(claim_.dtype).precision);
  const auto expected = static_cast<double>(term->value);
  // Each of the roundings that form it is off by at most a unit; what is looked up is exact.
  const double roundings = term->roundings > 0 ? term->roundings + 2 : 0;
  const double off = term->error + roundings * unit * std::fabs(expected);
  const double seen =
      answers_[cell.call].at((cell.head * std::ssize(asked.queries) + cell.query) * std::ssize(asked.keys) + cell.key);
  // Beyond the greatest number that the dtype has the nearest one is infinite.
  if (std::isinf(seen)) return round_to(claim_.dtype, expected + std::copysign(off, seen)) == seen ? Has::yes : Has::no;
  return std::fabs(seen - expected) <= off ? Has::yes : Has::no;
}

std::optional<QuickScoreTerm> claimed_bias(ScoreBiasOracle& own, const BiasQuestion& question, const BiasCell& cell,
                                           const Tensor* weight) {
  return own.quickly({question.queries[index(cell.query)], question.keys[index(cell.key)], cell.head}, weight);
}

std::vector<BiasQuestion> usual_bias_questions(const Spec& claim) {
  Questions questions(claim);
  if (is_of<WindowBias>(claim)) {
    add_window(questions);
  } else {
    add_shapes(questions);
    add_orders(questions);
    add_far_ones(questions);
  }
  return std::move(questions).made();
}

}  // namespace sextant::identify
