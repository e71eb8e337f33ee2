#include "properties/identify/biases/bias_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"

namespace sextant::identify {
namespace {

using Number = std::int64_t;

// A number that a cell has, and what cells are called by it.
struct BiasFeature {
  BiasPart::Of of;
  std::function<Number(const BiasQuestion& question, const BiasCell& cell)> number;
  std::function<std::string(Number)> exactly = {};
  std::function<std::string(Number)> from = {};
  std::function<std::string(Number)> up_to = {};
  /// A call like that of a cell, with another number.
  std::function<BiasQuestion(const BiasQuestion& question, const BiasCell& cell, Number number)> question = {};
};

Number query_of(const BiasQuestion& question, const BiasCell& cell) { return question.queries[index(cell.query)]; }
Number key_of(const BiasQuestion& question, const BiasCell& cell) { return question.keys[index(cell.key)]; }

// So many positions: the first ones, or one by one from the last on.
std::vector<Number> resized(std::vector<Number> positions, Number count) {
  while (std::ssize(positions) < count) positions.push_back(positions.back() + 1);
  positions.resize(index(count));
  return positions;
}

std::function<std::string(Number)> words(std::string text) {
  return [text = std::move(text)](Number number) { return fmt::format(fmt::runtime(text), number); };
}

// With another text for one number, and none for those below it.
std::function<std::string(Number)> words_from(Number least, std::string of_least, std::string text) {
  return [=](Number number) {
    return number < least ? std::string() : number == least ? of_least : fmt::format(fmt::runtime(text), number);
  };
}

std::vector<BiasFeature> features_of_cells() {
  using Of = BiasPart::Of;
  const auto one_key = [](const BiasQuestion& question, const BiasCell& cell, Number key) {
    return BiasQuestion{{query_of(question, cell)}, {key}, question.heads};
  };
  return {
      {Of::cells, [](const BiasQuestion&, const BiasCell& cell) { return cell.head; }, words("head {}"),
       words_from(1, "all heads but the first", "heads from {} on")},
      {Of::cells, [](const BiasQuestion&, const BiasCell& cell) { return cell.head % 2; },
       [](Number number) { return std::string(number == 1 ? "odd heads" : "even heads"); }},
      {Of::cells, [](const BiasQuestion& q, const BiasCell& cell) { return q.heads - 1 - cell.head; },
       [](Number number) { return number == 0 ? std::string("the last head") : std::string(); }},
      {Of::cells, [](const BiasQuestion&, const BiasCell& cell) { return cell.query; }, words("query number {}"),
       words_from(1, "all queries but the first", "queries from number {} on")},
      {Of::cells, [](const BiasQuestion& q, const BiasCell& cell) { return std::ssize(q.queries) - 1 - cell.query; },
       [](Number number) { return number == 0 ? std::string("the last query") : std::string(); }},
      {Of::cells, [](const BiasQuestion&, const BiasCell& cell) { return cell.key; }, words("key number {}"),
       words_from(1, "all keys but the first", "keys from number {} on")},
      {Of::cells, [](const BiasQuestion& q, const BiasCell& cell) { return std::ssize(q.keys) - 1 - cell.key; },
       [](Number number) { return number == 0 ? std::string("the last key") : std::string(); }},
      {Of::cells, [](const BiasQuestion& q, const BiasCell& cell) { return key_of(q, cell) - query_of(q, cell); },
       words("distance key - query = {}"), words_from(1, "keys after the query", "keys {} and more after the query"),
       [](Number number) {
         return number > -1    ? std::string()
                : number == -1 ? std::string("keys before the query")
                               : fmt::format("keys {} and more before the query", -number);
       },
       [](const BiasQuestion& question, const BiasCell& cell, Number distance) {
         const Number query = query_of(question, cell);
         return BiasQuestion{{query}, {query + distance}, question.heads};
       }},
      {Of::cells,
       key_of,
       words("keys at position {}"),
       words_from(1, "keys behind position 0", "keys at positions from {} on"),
       {},
       one_key},
      {Of::cells,
       query_of,
       words("queries at position {}"),
       words_from(1, "queries behind position 0", "queries at positions from {} on"),
       {},
       [](const BiasQuestion& question, const BiasCell& cell, Number query) {
         return BiasQuestion{{query}, {key_of(question, cell)}, question.heads};
       }},
      {Of::cells,
       [](const BiasQuestion& q, const BiasCell& cell) { return cell.query - std::ssize(q.keys); },
       {},
       [](Number number) { return number == 0 ? std::string("queries whose number no key has") : std::string(); }},
  };
}

std::vector<BiasFeature> features_of_calls() {
  using Of = BiasPart::Of;
  const auto flag = [](std::string text, bool (*is)(const BiasQuestion& question)) -> BiasFeature {
    return {Of::calls, [is](const BiasQuestion& question, const BiasCell&) -> Number { return is(question) ? 1 : 0; },
            [text = std::move(text)](Number number) { return number == 1 ? text : std::string(); }};
  };
  std::vector<BiasFeature> list{
      {Of::calls, [](const BiasQuestion& q, const BiasCell&) { return std::ssize(q.queries); },
       words_from(1, "of one query", "of {} queries"), words_from(2, "of several queries", "of {} and more queries"),
       words("of up to {} queries"),
       [](const BiasQuestion& q, const BiasCell&, Number number) {
         const bool are_both = q.queries.size() == q.keys.size();
         return BiasQuestion{resized(q.queries, number), are_both ? resized(q.keys, number) : q.keys, q.heads};
       }},
      {Of::calls, [](const BiasQuestion& q, const BiasCell&) { return std::ssize(q.keys); },
       words_from(1, "of one key", "of {} keys"), words_from(2, "of several keys", "of {} and more keys"),
       words("of up to {} keys"),
       [](const BiasQuestion& q, const BiasCell&, Number number) {
         const bool are_both = q.queries.size() == q.keys.size();
         return BiasQuestion{are_both ? resized(q.queries, number) : q.queries, resized(q.keys, number), q.heads};
       }},
      flag("of more queries than keys", [](const BiasQuestion& q) { return q.queries.size() > q.keys.size(); }),
      flag("of more keys than queries", [](const BiasQuestion& q) { return q.keys.size() > q.queries.size(); }),
      flag("of as many queries as keys", [](const BiasQuestion& q) { return q.keys.size() == q.queries.size(); }),
      flag("of an odd number of heads", [](const BiasQuestion& q) { return q.heads % 2 == 1; }),
      flag("of an even number of heads", [](const BiasQuestion& q) { return q.heads % 2 == 0; }),
      {Of::calls, [](const BiasQuestion& q, const BiasCell&) { return q.heads; },
       words_from(1, "of one head", "of {} heads"), words_from(2, "of several heads", "of {} and more heads"),
       words("of up to {} heads"),
       [](const BiasQuestion& q, const BiasCell&, Number number) {
         return BiasQuestion{q.queries, q.keys, number};
       }},
      flag("whose keys rise", [](const BiasQuestion& q) { return std::ranges::is_sorted(q.keys); }),
      flag("whose first two keys are neighbours",
           [](const BiasQuestion& q) { return q.keys.size() > 1 && q.keys[1] == q.keys[0] + 1; }),
      flag("whose last key is as far from the first as if they followed each other",
           [](const BiasQuestion& q) { return q.keys.back() == q.keys.front() + std::ssize(q.keys) - 1; }),
      flag("whose key in the middle is as far from the first as if they followed each other",
           [](const BiasQuestion& q) {
             const std::size_t middle = q.keys.size() / 2;
             return q.keys[middle] == q.keys.front() + static_cast<Number>(middle);
           }),
      flag("whose first key is a later token than the last",
           [](const BiasQuestion& q) { return q.keys.front() > q.keys.back(); }),
  };
  return list;
}

// Keys or queries that are left over by blocks of a size.
std::vector<BiasPart> tails() {
  std::vector<BiasPart> list;
  for (Number block = 2; block <= 128; block *= 2) {
    list.push_back({BiasPart::Of::cells, fmt::format("keys after the last whole block of {}", block),
                    [block](const BiasQuestion& question, const BiasCell& cell) {
                      return cell.key >= std::ssize(question.keys) / block * block;
                    }});
    list.push_back({BiasPart::Of::cells, fmt::format("queries after the last whole block of {}", block),
                    [block](const BiasQuestion& question, const BiasCell& cell) {
                      return cell.query >= std::ssize(question.queries) / block * block;
                    }});
  }
  return list;
}

// Of a window's calls.
std::vector<BiasPart> parts_of_window(const Spec& claim) {
  const auto* window = held<WindowBias>(claim);
  if (window == nullptr) return {};
  const Number all = position_count(*window);
  const auto square_of = [](Number count) {
    return [count](const BiasQuestion& question, const BiasCell&) {
      return std::ssize(question.keys) == count && std::ssize(question.queries) == count;
    };
  };
  return {{BiasPart::Of::calls, "of as many tokens as the window has", square_of(all)},
          {BiasPart::Of::calls, "of one token less than the window has", square_of(all - 1)}};
}

// The first cell of each call: cells of a call follow each other, which may have many.
std::vector<BiasCell> first_of_calls(const std::vector<BiasCell>& cells) {
  std::vector<BiasCell> list;
  for (const BiasCell& cell : cells) {
    if (list.empty() || list.back().call != cell.call) list.push_back(cell);
  }
  return list;
}

class Dividing {
 public:
  Dividing(const AskedBiases& asked, const std::vector<BiasCell>& in, const std::vector<BiasCell>& out)
      : asked_(asked), in_(in), calls_in_(first_of_calls(in)), out_(out) {
    for (const BiasPart& part : parts_of_window(asked.claim())) add(part);
    for (const BiasFeature& feature : features_of_cells()) add(feature);
    for (const BiasFeature& feature : features_of_calls()) add(feature);
    for (const BiasPart& part : tails()) add(part);
  }

  std::optional<std::vector<BiasPart>> told() const {
    if (out_.empty()) return std::vector<BiasPart>{};
    // A bit for each of `out`.
    using Bits = std::vector<std::uint64_t>;
    std::vector<Bits> inside;
    for (const BiasPart& part : parts_) {
      Bits& bits = inside.emplace_back(out_.size() / 64 + 1, 0);
      bool holds = false;
      for (std::size_t i = 0; i < out_.size(); ++i) {
        const BiasCell& cell = out_[i];
        const bool is_same_call = i > 0 && out_[i - 1].call == cell.call;
        if (part.of == BiasPart::Of::cells || !is_same_call) holds = part.holds(asked_.question(cell), cell);
        if (holds) bits[i / 64] |= std::uint64_t{1} << (i % 64);
      }
      if (std::ranges::all_of(bits, [](std::uint64_t word) { return word == 0; })) return std::vector{part};
    }
    const auto has_none = [&](std::size_t i, std::size_t j, std::size_t k) {
      for (std::size_t word = 0; word < inside[i].size(); ++word) {
        if ((inside[i][word] & inside[j][word] & inside[k][word]) != 0) return false;
      }
      return true;
    };
    for (const Pair wanted : {Pair::with_calls, Pair::of_cells, Pair::of_one_feature}) {
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        for (std::size_t j = i + 1; j < parts_.size(); ++j) {
          if (pair_of(i, j) == wanted && has_none(i, j, j)) return std::vector{parts_[i], parts_[j]};
        }
      }
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      for (std::size_t j = i + 1; j < parts_.size(); ++j) {
        for (std::size_t k = j + 1; k < parts_.size(); ++k) {
          if (has_none(i, j, k)) return std::vector{parts_[i], parts_[j], parts_[k]};
        }
      }
    }
    return std::nullopt;
  }

 private:
  enum class Pair { with_calls, of_cells, of_one_feature };

  Pair pair_of(std::size_t i, std::size_t j) const {
    if (parts_[i].feature == parts_[j].feature) return Pair::of_one_feature;
    const bool are_cells = parts_[i].of == BiasPart::Of::cells && parts_[j].of == BiasPart::Of::cells;
    return are_cells ? Pair::of_cells : Pair::with_calls;
  }

  // What is said of calls is so of each of their cells.
  const std::vector<BiasCell>& in_of(BiasPart::Of of) const { return of == BiasPart::Of::calls ? calls_in_ : in_; }

  void add(BiasPart part) {
    part.feature = ++features_;
    if (std::ranges::all_of(in_of(part.of),
                            [&](const BiasCell& cell) { return part.holds(asked_.question(cell), cell); }))
      parts_.push_back(std::move(part));
  }

  void add(const BiasFeature& feature) {
    ++features_;
    const auto number = [&](const BiasCell& cell) { return feature.number(asked_.question(cell), cell); };
    const auto [least, most] = std::ranges::minmax_element(in_of(feature.of), {}, number);
    const Number low = number(*least);
    const Number high = number(*most);
    const auto add_part = [&](const auto& text, Number border, const BiasCell& at, auto holds) {
      std::string called = text ? text(border) : std::string();
      if (called.empty()) return;
      BiasPart part{feature.of, std::move(called),
                    [of = feature.number, holds](const BiasQuestion& question, const BiasCell& cell) {
                      return holds(of(question, cell));
                    }};
      part.feature = features_;
      if (feature.question)
        part.next = [&asked = asked_, feature, border, at](const std::vector<BiasCell>& out) {
          std::vector<BiasQuestion> list;
          const auto outside = nearest(asked, feature, border, out);
          if (!outside) return list;
          const auto add_at = [&](Number other) { list.push_back(feature.question(asked.question(at), at, other)); };
          const Number gap = *outside - border;
          if (std::abs(gap) > 1) add_at(border + gap / 2);
          // The one in the middle may show nothing.
          constexpr Number few = 8;
          for (Number step = 1; step < std::min(std::abs(gap), few); ++step) add_at(border + (gap < 0 ? -step : step));
          return list;
        };
      parts_.push_back(std::move(part));
    };
    if (low == high) add_part(feature.exactly, low, *least, [low](Number own) { return own == low; });
    add_part(feature.from, low, *least, [low](Number own) { return own >= low; });
    add_part(feature.up_to, high, *most, [high](Number own) { return own <= high; });
  }

  // The number nearest to a border that these cells have.
  static std::optional<Number> nearest(const AskedBiases& asked, const BiasFeature& feature, Number border,
                                       const std::vector<BiasCell>& out) {
    std::optional<Number> found;
    for (const BiasCell& cell : out) {
      const Number own = feature.number(asked.question(cell), cell);
      if (!found || std::abs(own - border) < std::abs(*found - border)) found = own;
    }
    return found;
  }

  const AskedBiases& asked_;
  const std::vector<BiasCell>& in_;
  std::vector<BiasCell> calls_in_;
  const std::vector<BiasCell>& out_;
  std::vector<BiasPart> parts_;
  int features_ = 0;
};

}  // namespace

std::optional<std::vector<BiasPart>> dividing_parts(const AskedBiases& asked, const std::vector<BiasCell>& in,
                                                    const std::vector<BiasCell>& out) {
  return Dividing(asked, in, out).told();
}

PartWords words_of(const std::vector<BiasPart>& parts) {
  std::vector<std::string> cells;
  std::vector<std::string> calls;
  for (const BiasPart& part : parts) (part.of == BiasPart::Of::cells ? cells : calls).push_back(part.words);
  PartWords told;
  if (!cells.empty()) told.of_cells = fmt::format(" of {}", fmt::join(cells, ", of "));
  if (!calls.empty()) told.of_calls = fmt::format(", in calls {}", fmt::join(calls, " and "));
  return told;
}

}  // namespace sextant::identify
