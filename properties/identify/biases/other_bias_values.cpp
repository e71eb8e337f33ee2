// Over 400 lines: a list of other values of biases, each a few lines that are read alone.
#include "properties/identify/biases/other_bias_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/identify/attention/other_biases.hpp"
#include "properties/model/biases.hpp"

namespace sextant::identify {
namespace {

// Whose bias a cell has in place of its own; nothing where there is none.
using OtherPlace = std::function<std::optional<BiasPlace>(const BiasQuestion& question, const BiasCell& cell)>;

BiasPlace own_place(const BiasQuestion& question, const BiasCell& cell) {
  return {question.queries[index(cell.query)], question.keys[index(cell.key)], cell.head};
}

// The last of consecutive positions from the first on.
std::int64_t counted_on(const std::vector<std::int64_t>& positions, std::int64_t number) {
  return positions.front() + number;
}

// Of a first or last one, which has no neighbour: a kernel may leave it as it is. Further back it is no neighbour's.
std::optional<BiasPlace> no_place(std::int64_t step) {
  if (step == 1 || step == -1) return std::nullopt;
  return BiasPlace{0, 0, -1};
}

class OtherValues {
 public:
  explicit OtherValues(const AskedBiases& asked) : asked_(asked) {}

  std::vector<OtherBiasValue> made() && {
    list_.push_back({"are 0", [](ScoreBiasOracle&, const BiasQuestion&, const BiasCell&, const Tensor*) {
                       return std::optional(QuickScoreTerm{0, 0, 0});
                     }});
    if (!is_of<WindowBias>(asked_.claim())) add_distances_one_off();
    add_neighbours();
    add_positions();
    if (!is_of<WindowBias>(asked_.claim())) {
      add_changed_positions();
      add_distances();
      add_of_attention();
    }
    add_untransposed();
    add_tiles();
    return std::move(list_);
  }

 private:
  void add(std::string words, OtherPlace other, DiagnosedStage stage = DiagnosedStage::other) {
    list_.push_back({std::move(words),
                     [this_claim = asked_.claim(), other = std::move(other)](
                         ScoreBiasOracle& own, const BiasQuestion& question, const BiasCell& cell,
                         const Tensor* weight) -> std::optional<QuickScoreTerm> {
                       const auto place = other(question, cell);
                       if (!place || !is_of_claim(this_claim, *place)) return std::nullopt;
                       if (place->head < 0) return QuickScoreTerm{NAN, 0, 0};
                       // Nothing is claimed of what a mask hides.
                       if (is_hidden(this_claim, *place)) return QuickScoreTerm{0, HUGE_VAL, 0};
                       return own.quickly(*place, weight);
                     },
                     stage});
  }
  void add_at(std::string words, OtherPlace other) {
    add(std::move(words), std::move(other), DiagnosedStage::position);
  }

  static bool is_of_claim(const Spec& claim, const BiasPlace& place) {
    const auto* window = held<WindowBias>(claim);
    if (window == nullptr) return true;
    const auto is_token = [&](std::int64_t at) { return at >= 0 && at < position_count(*window); };
    return is_token(place.query) && is_token(place.key);
  }

  static bool is_hidden(const Spec& claim, const BiasPlace& place) {
    const auto* alibi = held<Alibi>(claim);
    return alibi != nullptr && alibi->mask == Mask::causal && place.key > place.query;
  }

  void add_neighbours() {
    const auto key = [this](std::string words, std::int64_t step) {
      add(std::move(words), [step](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
        const std::int64_t other = cell.key + step;
        if (other < 0 || other >= std::ssize(question.keys)) return no_place(step);
        return BiasPlace{question.queries[index(cell.query)], question.keys[index(other)], cell.head};
      });
    };
    const auto query = [this](std::string words, std::int64_t step) {
      add(std::move(words), [step](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
        const std::int64_t other = cell.query + step;
        if (other < 0 || other >= std::ssize(question.queries)) return no_place(step);
        return BiasPlace{question.queries[index(other)], question.keys[index(cell.key)], cell.head};
      });
    };
    const auto head = [this](std::string words, std::int64_t (*of)(std::int64_t head, std::int64_t step),
                             std::int64_t step) {
      add(std::move(words), [=](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
        const std::int64_t other = of(cell.head, step);
        if (other < 0) return no_place(step);
        BiasPlace place = own_place(question, cell);
        place.head = other;
        return place;
      });
    };
    const auto back = [](std::int64_t own, std::int64_t step) { return own - step; };
    head("are those of the head before", back, 1);
    head(
        "are those of the first head", [](std::int64_t, std::int64_t) { return std::int64_t{0}; }, 0);
    key("are those of the key before", -1);
    key("are those of the key after", 1);
    query("are those of the query before", -1);
    query("are those of the query after", 1);
    for (std::int64_t step = 2; step <= 128; step *= 2) {
      head(fmt::format("are those of the head {} before", step), back, step);
      key(fmt::format("are those of the key {} before", step), -step);
      query(fmt::format("are those of the query {} before", step), -step);
    }
  }

  void add_positions() {
    add_at("are those of the query's position and the key's exchanged",
           [](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
             const BiasPlace own = own_place(question, cell);
             return BiasPlace{own.key, own.query, own.head};
           });
    const auto of_key = [this](std::string words, auto key) {
      add_at(std::move(words), [key](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
        const std::optional<std::int64_t> other = key(question, cell.key);
        if (!other) return std::nullopt;
        return BiasPlace{question.queries[index(cell.query)], *other, cell.head};
      });
    };
    const auto of_query = [this](std::string words, auto query) {
      add_at(std::move(words), [query](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
        const std::optional<std::int64_t> other = query(question, cell.query);
        if (!other) return std::nullopt;
        return BiasPlace{*other, question.keys[index(cell.key)], cell.head};
      });
    };
    using Position = std::optional<std::int64_t>;
    of_key("are those of keys that follow each other one by one from the first on",
           [](const BiasQuestion& asked, std::int64_t key) -> Position { return counted_on(asked.keys, key); });
    of_query(
        "are those of queries that follow each other one by one from the first on",
        [](const BiasQuestion& asked, std::int64_t query) -> Position { return counted_on(asked.queries, query); });
    of_key("are those of keys at the queries' positions", [](const BiasQuestion& asked, std::int64_t key) -> Position {
      if (key >= std::ssize(asked.queries)) return std::nullopt;
      return asked.queries[index(key)];
    });
    of_query("are those of queries at the keys' positions",
             [](const BiasQuestion& asked, std::int64_t query) -> Position {
               if (query >= std::ssize(asked.keys)) return std::nullopt;
               return asked.keys[index(query)];
             });
    const auto sorted = [](std::vector<std::int64_t> positions, std::int64_t number) {
      std::ranges::sort(positions);
      return positions[index(number)];
    };
    of_key("are those of keys in the order of their positions",
           [sorted](const BiasQuestion& asked, std::int64_t key) -> Position { return sorted(asked.keys, key); });
    of_query(
        "are those of queries in the order of their positions",
        [sorted](const BiasQuestion& asked, std::int64_t query) -> Position { return sorted(asked.queries, query); });
    of_query("are those of queries at the last key's position",
             [](const BiasQuestion& asked, std::int64_t) -> Position { return asked.keys.back(); });
    of_query("are those of queries at the first key's position",
             [](const BiasQuestion& asked, std::int64_t) -> Position { return asked.keys.front(); });
    of_query("are those of the first query",
             [](const BiasQuestion& asked, std::int64_t) -> Position { return asked.queries.front(); });
    of_query("are those of the last query",
             [](const BiasQuestion& asked, std::int64_t) -> Position { return asked.queries.back(); });
    of_key("are those of the first key",
           [](const BiasQuestion& asked, std::int64_t) -> Position { return asked.keys.front(); });
    of_query("are those of queries as the last tokens of the keys: the last query stands at the last key",
             [](const BiasQuestion& asked, std::int64_t query) -> Position {
               return asked.keys.back() - (std::ssize(asked.queries) - 1 - query);
             });
    of_key("are those of keys counted from the call's first query",
           [](const BiasQuestion& asked, std::int64_t key) -> Position {
             return asked.keys[index(key)] - asked.queries.front();
           });
    add_counted_positions();
  }

  // Positions that are made of the numbers of queries and keys and of one position of the call, on both sides.
  void add_counted_positions() {
    struct Counted {
      std::string_view words;
      std::int64_t (*of)(const BiasQuestion& asked, std::int64_t number);
    };
    constexpr Counted queries[] = {
        {"queries as given", [](const BiasQuestion& asked, std::int64_t query) { return asked.queries[index(query)]; }},
        {"queries by their places in the call", [](const BiasQuestion&, std::int64_t query) { return query; }},
        {"queries that follow each other one by one from the first on",
         [](const BiasQuestion& asked, std::int64_t query) { return counted_on(asked.queries, query); }},
        {"queries that follow each other one by one from the first key's position on",
         [](const BiasQuestion& asked, std::int64_t query) { return asked.keys.front() + query; }},
        {"queries at the last places of as many tokens as there are keys",
         [](const BiasQuestion& asked, std::int64_t query) {
           return std::ssize(asked.keys) - std::ssize(asked.queries) + query;
         }},
        {"queries counted from the call's first query",
         [](const BiasQuestion& asked, std::int64_t query) {
           return asked.queries[index(query)] - asked.queries.front();
         }},
        {"queries counted from the call's first key", [](const BiasQuestion& asked, std::int64_t query) {
           return asked.queries[index(query)] - asked.keys.front();
         }}};
    constexpr Counted keys[] = {
        {"keys as given", [](const BiasQuestion& asked, std::int64_t key) { return asked.keys[index(key)]; }},
        {"keys by their places in the call", [](const BiasQuestion&, std::int64_t key) { return key; }},
        {"keys that follow each other one by one from the first on",
         [](const BiasQuestion& asked, std::int64_t key) { return counted_on(asked.keys, key); }},
        {"keys that follow each other one by one from the first query's position on",
         [](const BiasQuestion& asked, std::int64_t key) { return asked.queries.front() + key; }},
        {"keys counted from the call's first key",
         [](const BiasQuestion& asked, std::int64_t key) { return asked.keys[index(key)] - asked.keys.front(); }},
        {"keys counted back from the call's last key",
         [](const BiasQuestion& asked, std::int64_t key) { return asked.keys[index(key)] - asked.keys.back(); }},
        {"keys counted back from the call's greatest key", [](const BiasQuestion& asked, std::int64_t key) {
           return asked.keys[index(key)] - std::ranges::max(asked.keys);
         }}};
    // What is given is not told.
    for (const Counted& key : keys) {
      for (const Counted& query : queries) {
        const bool is_key_given = &key == &keys[0];
        const bool is_query_given = &query == &queries[0];
        if (is_key_given && is_query_given) continue;
        add_at(is_key_given     ? fmt::format("are those of {}", query.words)
               : is_query_given ? fmt::format("are those of {}", key.words)
                                : fmt::format("are those of {} and of {}", query.words, key.words),
               [query = query.of, key = key.of](const BiasQuestion& question,
                                                const BiasCell& cell) -> std::optional<BiasPlace> {
                 return BiasPlace{query(question, cell.query), key(question, cell.key), cell.head};
               });
      }
    }
  }

  // The least number that a wrong cell has.
  template <class Number>
  std::optional<std::int64_t> least_of_wrong(const Number& number) const {
    std::optional<std::int64_t> least;
    for (const BiasCell& cell : asked_.cells()) {
      if (cell.is_right) continue;
      const std::int64_t own = number(own_place(asked_.question(cell), cell));
      if (own > 0 && (!least || own < *least)) least = own;
    }
    return least;
  }

  // Each position by itself.
  void add_of_each(std::string words, std::function<std::int64_t(std::int64_t position)> of) {
    add_at(std::move(words),
           [of = std::move(of)](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
             const BiasPlace own = own_place(question, cell);
             return BiasPlace{of(own.query), of(own.key), own.head};
           });
  }

  void add_distances_one_off() {
    if (is_key_index()) return;
    add_of_distance("are those of key - query one less", [](std::int64_t d) { return d - 1; });
    add_of_distance("are those of key - query one more", [](std::int64_t d) { return d + 1; });
    add_of_distance("are those of the distance one less", [](std::int64_t d) {
      return d < 0 ? d + 1 : d > 0 ? d - 1 : 0;
    });
    add_of_distance("are those of the distance one more", [](std::int64_t d) {
      return d < 0 ? d - 1 : d > 0 ? d + 1 : 0;
    });
  }

  bool is_key_index() const {
    const auto* alibi = held<Alibi>(asked_.claim());
    return alibi != nullptr && alibi->form == AlibiForm::key_index;
  }

  void add_changed_positions() {
    if (const auto first = least_of_wrong([](const BiasPlace& own) { return own.position(); })) {
      const std::int64_t last = *first - 1;
      add_of_each(fmt::format("are those of positions clamped to {}", last),
                  [last](std::int64_t position) { return std::min(position, last); });
      add_of_each(fmt::format("are those of positions that wrap at {}", *first),
                  [period = *first](std::int64_t position) { return position % period; });
    }
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16})
      add_of_each(fmt::format("are those of positions rounded to {}", name_of(dtype)), [dtype](std::int64_t position) {
        return static_cast<std::int64_t>(std::clamp(round_to(dtype, static_cast<double>(position)), -65504.0, 65504.0));
      });
  }

  // The distance key - query, which places are made of at the query's own position.
  void add_of_distance(std::string words, std::function<std::int64_t(std::int64_t distance)> of) {
    add_at(std::move(words),
           [of = std::move(of)](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
             const BiasPlace own = own_place(question, cell);
             return BiasPlace{own.query, own.query + of(own.key - own.query), own.head};
           });
  }

  void add_distances() {
    if (is_key_index()) {
      add_at("are those of the position before",
             [](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
               BiasPlace own = own_place(question, cell);
               --own.key;
               return own;
             });
      return;
    }
    if (is_of<Alibi>(asked_.claim())) {
      add_key_index();
      add_signed_distances();
    }
    const auto behind = least_of_wrong([](const BiasPlace& own) { return own.query - own.key; });
    const auto ahead = least_of_wrong([](const BiasPlace& own) { return own.key - own.query; });
    const auto clamped = [this](std::string words, std::int64_t least, std::int64_t most) {
      add_of_distance(std::move(words), [=](std::int64_t d) { return std::clamp(d, least, most); });
    };
    constexpr std::int64_t any = std::int64_t{1} << 53;
    if (behind && *behind > 1)
      clamped(fmt::format("are those of key - query = {} where it is less", 1 - *behind), 1 - *behind, any);
    if (ahead && *ahead > 1)
      clamped(fmt::format("are those of key - query = {} where it is more", *ahead - 1), -any, *ahead - 1);
    for (const auto& first : {behind, ahead}) {
      if (!first || *first < 2) continue;
      clamped(fmt::format("are those of distance {} where it is more", *first - 1), 1 - *first, *first - 1);
      add_of_distance(fmt::format("are those of distances that wrap at {}", *first),
                      [period = *first](std::int64_t d) { return d % period; });
    }
    add_of_distance("are those of distances that are numbers of 8 bits with a sign",
                    [](std::int64_t d) { return std::int64_t{static_cast<std::int8_t>(d)}; });
    add_of_distance("are those of distances that are numbers of 16 bits with a sign",
                    [](std::int64_t d) { return std::int64_t{static_cast<std::int16_t>(d)}; });
    for (std::int64_t by = 2; by <= 64; by *= 2)
      add_of_distance(fmt::format("are those of distances rounded down to multiples of {}", by),
                      [by](std::int64_t d) { return d / by * by; });
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16})
      add_of_distance(fmt::format("are those of distances rounded to {}", name_of(dtype)), [dtype](std::int64_t d) {
        return static_cast<std::int64_t>(std::clamp(round_to(dtype, static_cast<double>(d)), -65504.0, 65504.0));
      });
  }

  // What a claim of the other form has: the slope times the key's position, which is less than no distance.
  void add_key_index() {
    list_.push_back({"are those of form key_index, slope times the key's position",
                     [](ScoreBiasOracle& own, const BiasQuestion& question, const BiasCell& cell,
                        const Tensor* weight) -> std::optional<QuickScoreTerm> {
                       auto term = own.quickly({question.keys[index(cell.key)], 0, cell.head}, weight);
                       term.value = -term.value;
                       return term;
                     },
                     DiagnosedStage::position});
  }

  // ALiBi's, of keys that a mask would hide at such a distance too.
  void add_signed_distances() {
    const auto add_bits = [this](int bits, std::int64_t (*of)(std::int64_t)) {
      list_.push_back({fmt::format("are those of distances that are numbers of {} bits with a sign", bits),
                       [of](ScoreBiasOracle& own, const BiasQuestion& question, const BiasCell& cell,
                            const Tensor* weight) -> std::optional<QuickScoreTerm> {
                         const BiasPlace at = own_place(question, cell);
                         const std::int64_t distance = of(at.query - at.key);
                         auto term = own.quickly({std::abs(distance), 0, cell.head}, weight);
                         if (distance < 0) term.value = -term.value;
                         return term;
                       },
                       DiagnosedStage::position});
    };
    add_bits(8, [](std::int64_t d) { return std::int64_t{static_cast<std::int8_t>(d)}; });
    add_bits(16, [](std::int64_t d) { return std::int64_t{static_cast<std::int16_t>(d)}; });
  }

  // Values in the order of [queries, keys, heads], read as [heads, queries, keys].
  void add_untransposed() {
    add("are those of [queries, keys, heads] read as [heads, queries, keys], without a transpose",
        [](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
          const std::int64_t keys = std::ssize(question.keys);
          const std::int64_t number = (cell.head * std::ssize(question.queries) + cell.query) * keys + cell.key;
          const std::int64_t at = number / question.heads;
          return BiasPlace{question.queries[index(at / keys)], question.keys[index(at % keys)],
                           number % question.heads};
        });
  }

  // Tiles written the other way round; those at the end are cut.
  void add_tiles() {
    for (std::int64_t tile = 4; tile <= 128; tile *= 2)
      add(fmt::format("are those of query and key exchanged within tiles of {} by {}", tile, tile),
          [tile](const BiasQuestion& question, const BiasCell& cell) -> std::optional<BiasPlace> {
            const std::int64_t query = cell.query / tile * tile + cell.key % tile;
            const std::int64_t key = cell.key / tile * tile + cell.query % tile;
            const bool is_there = query < std::ssize(question.queries) && key < std::ssize(question.keys);
            if (!is_there) return own_place(question, cell);
            return BiasPlace{question.queries[index(query)], question.keys[index(key)], cell.head};
          });
  }

  // As within attention: of another head's number, halved and so on.
  void add_of_attention() {
    Attention attention;
    attention.softmax_scale = 1;  // a bias has none: what is multiplied by it is the claim's
    const auto* alibi = held<Alibi>(asked_.claim());
    attention.num_heads = attention.num_kv_heads = alibi != nullptr ? alibi->num_heads : 3;
    if (alibi != nullptr) attention.position = *alibi;
    if (const auto* relative = held<RelativeBias>(asked_.claim())) attention.position = *relative;
    std::vector<OtherAttention> others;
    add_other_biases(attention, others);
    for (OtherAttention& other : others) {
      if (!other.bias) continue;
      list_.push_back(
          {std::move(other.words),
           [value = std::move(other.bias)](ScoreBiasOracle& own, const BiasQuestion& question, const BiasCell& cell,
                                           const Tensor* weight) -> std::optional<QuickScoreTerm> {
             return value(own, own_place(question, cell), weight);
           },
           other.stage});
    }
  }

  const AskedBiases& asked_;
  std::vector<OtherBiasValue> list_;
};

}  // namespace

std::vector<OtherBiasValue> other_bias_values(const AskedBiases& asked) { return OtherValues(asked).made(); }

}  // namespace sextant::identify
