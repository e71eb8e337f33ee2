#include "properties/diagnose/rotations/other_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/rotations/other_lengths.hpp"

namespace sextant::identify {
namespace {

// Calls by their extents: "in batches of an even number of rows".
struct ExtentsOfCalls {
  std::string_view words;  // empty of all
  std::string_view rows;   // as the sentence goes on
  bool (*holds)(const VectorInCall& at);
};

constexpr std::array numbers_of_rows{
    ExtentsOfCalls{"", "rows of a batch", [](const VectorInCall&) { return true; }},
    ExtentsOfCalls{"two rows", "rows", [](const VectorInCall& at) { return at.batches == 2; }},
    ExtentsOfCalls{"three and more rows", "rows", [](const VectorInCall& at) { return at.batches > 2; }},
    ExtentsOfCalls{"three rows", "rows", [](const VectorInCall& at) { return at.batches == 3; }},
    ExtentsOfCalls{"four and more rows", "rows", [](const VectorInCall& at) { return at.batches > 3; }},
    ExtentsOfCalls{"four rows", "rows", [](const VectorInCall& at) { return at.batches == 4; }},
    ExtentsOfCalls{"five and more rows", "rows", [](const VectorInCall& at) { return at.batches > 4; }},
    ExtentsOfCalls{"an even number of rows", "rows", [](const VectorInCall& at) { return at.batches % 2 == 0; }},
    ExtentsOfCalls{"an even number of rows, four and more,", "rows",
                   [](const VectorInCall& at) { return at.batches % 2 == 0 && at.batches > 3; }},
    ExtentsOfCalls{"an odd number of rows", "rows", [](const VectorInCall& at) { return at.batches % 2 == 1; }},
    ExtentsOfCalls{"as many rows as tokens", "rows", [](const VectorInCall& at) { return at.batches == at.tokens; }}};

enum class TokensOfCalls { any, one, several };
constexpr std::array numbers_of_tokens{TokensOfCalls::any, TokensOfCalls::one, TokensOfCalls::several};

bool has_tokens(const VectorInCall& at, TokensOfCalls tokens) {
  return tokens == TokensOfCalls::any || (at.tokens == 1) == (tokens == TokensOfCalls::one);
}

std::string words_of(const ExtentsOfCalls& rows, TokensOfCalls tokens) {
  if (tokens == TokensOfCalls::any) return rows.words.empty() ? "" : fmt::format("in batches of {} ", rows.words);
  return fmt::format("in calls of {}{}{} ", tokens == TokensOfCalls::one ? "one token" : "several tokens",
                     rows.words.empty() ? "" : " and ", rows.words);
}

// The row whose positions one has.
struct OtherRow {
  std::string_view before;  // of the words, before "rows of a batch"
  std::string_view words;
  std::int64_t (*of)(const VectorInCall& at);
  std::string_view of_one_token = {};  // the words there, where they are others
};

// The first of the rows that have the best number.
template <class Number, class Better>
std::int64_t best_row(const VectorInCall& at, const Number& number, const Better& is_better) {
  std::int64_t best = 0;
  for (std::int64_t batch = 1; batch < at.batches; ++batch) {
    if (is_better(number(batch), number(best))) best = batch;
  }
  return best;
}

auto first_of(const VectorInCall& at) {
  return [&at](std::int64_t batch) { return at.coordinate(0, batch, 0); };
}

auto last_of(const VectorInCall& at) {
  return [&at](std::int64_t batch) { return at.coordinate(0, batch, at.tokens - 1); };
}

auto end_of(const VectorInCall& at) {
  return [&at](std::int64_t batch) { return at.row_length(batch); };
}

std::int64_t in_order_of_firsts(const VectorInCall& at) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(at.batches));
  std::iota(rows.begin(), rows.end(), 0);
  std::ranges::stable_sort(rows, {}, first_of(at));
  return rows[static_cast<std::size_t>(at.batch)];
}

constexpr std::array rows_taken{
    OtherRow{"all ", "have the first row's positions", [](const VectorInCall&) { return std::int64_t{0}; },
             "have the first one's position"},
    OtherRow{"all ", "have the second row's positions",
             [](const VectorInCall& at) { return std::min<std::int64_t>(1, at.batches - 1); },
             "have the second one's position"},
    OtherRow{"all ", "have the last row's positions", [](const VectorInCall& at) { return at.batches - 1; },
             "have the last one's position"},
    OtherRow{"all ", "have the positions of the last but one",
             [](const VectorInCall& at) { return std::max<std::int64_t>(at.batches - 2, 0); },
             "have the position of the last but one"},
    OtherRow{"all ", "have the positions of the one that ends first",
             [](const VectorInCall& at) { return best_row(at, end_of(at), std::less<>()); },
             "have the least position of them"},
    OtherRow{"all ", "have the positions of the one that ends last",
             [](const VectorInCall& at) { return best_row(at, end_of(at), std::greater<>()); },
             "have the greatest position of them"},
    OtherRow{"all ", "have the positions of the one that begins first",
             [](const VectorInCall& at) { return best_row(at, first_of(at), std::less<>()); }},
    OtherRow{"all ", "have the positions of the one that begins last",
             [](const VectorInCall& at) { return best_row(at, first_of(at), std::greater<>()); }},
    OtherRow{"all ", "have the positions of the one whose last token comes first",
             [](const VectorInCall& at) { return best_row(at, last_of(at), std::less<>()); }},
    OtherRow{"all ", "have the positions of the one whose last token comes last",
             [](const VectorInCall& at) { return best_row(at, last_of(at), std::greater<>()); }},
    OtherRow{"all ", "have the positions of the one in the middle, b / 2 of b",
             [](const VectorInCall& at) { return at.batches / 2; },
             "have the position of the one in the middle, b / 2 of b"},
    OtherRow{"the last two of the ", "exchange their positions",
             [](const VectorInCall& at) {
               return at.batches > 1 && at.batch >= at.batches - 2 ? 2 * at.batches - 3 - at.batch : at.batch;
             }},
    OtherRow{"", "have each other's positions in reverse order",
             [](const VectorInCall& at) { return at.batches - 1 - at.batch; }},
    OtherRow{"", "have the positions of rows in the order of their first ones", in_order_of_firsts},
    OtherRow{"", "have the positions of the row before, the first those of the last",
             [](const VectorInCall& at) { return (at.batch + at.batches - 1) % at.batches; }},
    OtherRow{"", "have the positions of the row after, the last those of the first",
             [](const VectorInCall& at) { return (at.batch + 1) % at.batches; }},
    OtherRow{"", "after the first have the positions of the row before",
             [](const VectorInCall& at) { return std::max<std::int64_t>(at.batch - 1, 0); }},
    OtherRow{"the second and the third of the ", "exchange their positions",
             [](const VectorInCall& at) {
               return at.batches > 2 && (at.batch == 1 || at.batch == 2) ? 3 - at.batch : at.batch;
             }},
    OtherRow{
        "the last of the ", "has the positions of the row before",
        [](const VectorInCall& at) { return at.batch > 0 && at.batch == at.batches - 1 ? at.batch - 1 : at.batch; }},
    OtherRow{"the second half of the ", "has the first half's positions",
             [](const VectorInCall& at) {
               const std::int64_t half = at.batches / 2;
               return at.batch < at.batches - half ? at.batch : at.batch - (at.batches - half);
             }},
    OtherRow{"", "have the first row's positions but for the last, which has its own",
             [](const VectorInCall& at) { return at.batch == at.batches - 1 ? at.batch : 0; }},
    OtherRow{"", "exchange their positions in pairs, the first with the second, the third with the fourth",
             [](const VectorInCall& at) { return (at.batch ^ 1) < at.batches ? at.batch ^ 1 : at.batch; }},
    OtherRow{"the first two of the ", "exchange their positions",
             [](const VectorInCall& at) { return at.batches > 1 && at.batch < 2 ? 1 - at.batch : at.batch; }},
    OtherRow{"the first and the last of the ", "exchange their positions",
             [](const VectorInCall& at) {
               const bool is_end = at.batch == 0 || at.batch == at.batches - 1;
               return is_end ? at.batches - 1 - at.batch : at.batch;
             }},
    OtherRow{"the last of the ", "has the first one's positions",
             [](const VectorInCall& at) { return at.batch == at.batches - 1 ? 0 : at.batch; }},
    OtherRow{"the first of the ", "has the last one's positions",
             [](const VectorInCall& at) { return at.batch == 0 ? at.batches - 1 : at.batch; }},
    OtherRow{"the first of the ", "has the second one's positions",
             [](const VectorInCall& at) { return at.batch == 0 && at.batches > 1 ? 1 : at.batch; }},
    OtherRow{"the second of the ", "has the first one's positions",
             [](const VectorInCall& at) { return at.batch == 1 ? 0 : at.batch; }},
    OtherRow{"every second of the ", "has the positions of the row before",
             [](const VectorInCall& at) { return at.batch - at.batch % 2; }},
    OtherRow{"", "come in pairs that have one row's positions: row b has those of b / 2",
             [](const VectorInCall& at) { return at.batch / 2; }},
    OtherRow{"", "exchange their positions by halves, the first half with the second",
             [](const VectorInCall& at) {
               return at.batches % 2 == 0 ? (at.batch + at.batches / 2) % at.batches : at.batch;
             }},
    OtherRow{"", "from the third on have the second one's positions",
             [](const VectorInCall& at) { return std::min<std::int64_t>(at.batch, 1); }},
    OtherRow{"", "from the fourth on have the third one's positions",
             [](const VectorInCall& at) { return std::min<std::int64_t>(at.batch, 2); }},
    OtherRow{"", "from the fifth on have the fourth one's positions",
             [](const VectorInCall& at) { return std::min<std::int64_t>(at.batch, 3); }},
    OtherRow{"", "have the positions of the first two in turn: row b those of b modulo 2",
             [](const VectorInCall& at) { return at.batch % 2; }},
    OtherRow{"", "have the positions of the first three in turn: row b those of b modulo 3",
             [](const VectorInCall& at) { return at.batch % 3; }},
    OtherRow{"", "have the positions of the first four in turn: row b those of b modulo 4",
             [](const VectorInCall& at) { return at.batch % 4; }}};

// What a vector has for its place.
using PlaceOf = std::function<std::vector<std::int64_t>(const VectorInCall& at)>;

VectorReading placed(const Spec& claim, std::string words, PlaceOf place) {
  return {std::move(words), DiagnosedStage::position, [claim, place = std::move(place)](const VectorInCall& vector) {
            TakenVector taken = as_claimed(claim, vector);
            taken.place = place(vector);
            return std::optional(std::move(taken));
          }};
}

std::vector<std::int64_t> place_at(const VectorInCall& at, std::int64_t batch, std::int64_t token) {
  std::vector<std::int64_t> place;
  for (std::int64_t axis = 0; axis < at.axes; ++axis) place.push_back(at.coordinate(axis, batch, token));
  return place;
}

// Positions [batch, tokens] in the order of their numbers, column after column for row after row and the reverse.
void add_flattened(const Spec& claim, std::vector<VectorReading>& list) {
  list.push_back(
      placed(claim, "positions are flattened column after column and read row after row", [](const VectorInCall& at) {
        const std::int64_t number = at.batch * at.tokens + at.token;
        return place_at(at, number % at.batches, number / at.batches);
      }));
  list.push_back(placed(claim, "positions are read as [tokens, batch]", [](const VectorInCall& at) {
    const std::int64_t number = at.token * at.batches + at.batch;
    return place_at(at, number / at.tokens, number % at.tokens);
  }));
}

// Layouts that are guessed by extents which are equal.
void add_guessed(const Spec& claim, std::vector<VectorReading>& list) {
  list.push_back(placed(
      claim, "in batches of as many rows as tokens positions are read as [tokens, batch]",
      [](const VectorInCall& at) { return at.batches == at.tokens ? place_at(at, at.token, at.batch) : at.place(); }));
  if (axes_of(claim.encoding) > 1)
    list.push_back(placed(claim, "in batches of as many rows as axes positions are read as [batch, axes, tokens]",
                          [](const VectorInCall& at) {
                            if (at.batches != at.axes) return at.place();
                            std::vector<std::int64_t> place;
                            for (std::int64_t axis = 0; axis < at.axes; ++axis)
                              place.push_back(at.coordinate(at.batch, axis, at.token));
                            return place;
                          }));
  list.push_back(placed(
      claim, "in calls of as many heads as tokens heads are turned in the tokens' place",
      [](const VectorInCall& at) { return at.heads == at.tokens ? place_at(at, at.batch, at.head) : at.place(); }));
  list.push_back(placed(
      claim, "in calls of as many heads as batch rows heads are turned in the rows' place",
      [](const VectorInCall& at) { return at.heads == at.batches ? place_at(at, at.head, at.token) : at.place(); }));
}

}  // namespace

std::vector<VectorReading> other_rows(const Spec& claim) {
  std::vector<VectorReading> list;
  if (rope_of(claim) == nullptr) return list;
  add_guessed(claim, list);
  add_flattened(claim, list);
  for (const TokensOfCalls tokens : numbers_of_tokens) {
    for (const ExtentsOfCalls& rows : numbers_of_rows) {
      for (const OtherRow& row : rows_taken) {
        const bool is_of_one = tokens == TokensOfCalls::one && !row.of_one_token.empty();
        list.push_back(placed(claim,
                              fmt::format("{}{}{} {}", words_of(rows, tokens), row.before, rows.rows,
                                          is_of_one ? row.of_one_token : row.words),
                              [&rows, &row, tokens](const VectorInCall& at) {
                                return has_tokens(at, tokens) && rows.holds(at) ? place_at(at, row.of(at), at.token)
                                                                                : at.place();
                              }));
      }
    }
  }
  return list;
}

std::string rows_by_extents(AskedVectors& asked, const Spec& claim) {
  constexpr std::int64_t most_rows = 6;
  constexpr std::int64_t most_tokens = 8;
  struct Extents {
    std::int64_t batches;
    std::int64_t tokens;
    auto operator<=>(const Extents&) const = default;
  };
  std::map<Extents, std::vector<std::int64_t>> maps;  // of each row the one whose positions it has
  std::vector<std::string> words;
  for (std::int64_t batches = 2; batches <= most_rows; ++batches) {
    for (std::int64_t tokens = 1; tokens <= most_tokens; ++tokens) {
      std::vector<std::int64_t> rows;
      std::string of_call;
      for (std::int64_t row = 0; row < batches; ++row) {
        const auto is_there = [=](const VectorInCall& at) {
          return at.batches == batches && at.tokens == tokens && at.batch == row;
        };
        rows.push_back(row);
        if (!asked.are_any_wrong(is_there)) continue;
        std::int64_t other = 0;
        while (other < batches && !asked.are_explained(placed(claim, "",
                                                              [=](const VectorInCall& at) {
                                                                return place_at(at, is_there(at) ? other : at.batch,
                                                                                at.token);
                                                              }),
                                                       is_there))
          ++other;
        if (other == batches) return {};
        rows.back() = other;
        of_call += fmt::format("{} row {} has those of row {}", of_call.empty() ? "" : ",", row, other);
      }
      if (of_call.empty()) continue;
      maps[{batches, tokens}] = rows;
      words.push_back(
          fmt::format("in calls of {} rows and {} {}{}", batches, tokens, tokens == 1 ? "token" : "tokens", of_call));
    }
  }
  // Calls of more rows may be wrong likewise, and nothing is said of them.
  const auto is_told = [&](const VectorInCall& at) { return at.batches <= most_rows && at.tokens <= most_tokens; };
  const VectorReading reading = placed(claim, "", [&](const VectorInCall& at) {
    const auto map = maps.find({at.batches, at.tokens});
    return map == maps.end() ? at.place() : place_at(at, map->second[index(at.batch)], at.token);
  });
  if (words.empty() || !asked.are_explained(reading, is_told)) return {};
  constexpr std::size_t most_told = 3;
  const std::size_t more = words.size() - std::min(words.size(), most_told);
  words.resize(words.size() - more);
  return fmt::format("rows of a batch have other rows' positions: {}{}", fmt::join(words, "; "),
                     more == 0 ? "" : fmt::format("; others in calls of {} other extents", more));
}

std::vector<CallPlaces> calls_about_rows(const Spec& claim) {
  std::vector<CallPlaces> calls;
  if (rope_of(claim) == nullptr || is_of<QkNormRope>(claim)) return calls;
  const std::int64_t axes = axes_of(claim.encoding);
  const auto add = [&](std::int64_t batches, std::int64_t heads, const std::vector<std::int64_t>& rows) {
    CallPlaces places{batches, heads, {}};
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      // On each axis in another order.
      for (std::size_t i = 0; i < rows.size(); ++i)
        places.positions.push_back(rows[(i + static_cast<std::size_t>(axis) * (rows.size() / 2 + 1)) % rows.size()]);
    }
    calls.push_back(std::move(places));
  };
  add(2, 1, {13, 9});
  add(3, 1, {11, 3, 14});
  add(3, 2, {6, 13, 2});
  add(4, 1, {7, 12, 2, 9});
  add(5, 1, {7, 5, 2, 15, 11});
  add(6, 1, {9, 4, 13, 2, 15, 7});
  add(2, 1, {4, 9, 12, 5});
  add(3, 2, {5, 11, 3, 12, 7, 6, 14, 2, 9});
  add(4, 2, {5, 11, 3, 12, 7, 6, 14, 2, 9, 13, 4, 8, 1, 10, 15, 3});
  add(6, 1, {5, 11, 3, 12, 7, 6, 14, 2, 9, 13, 4, 8});
  add(1, 3, {5, 11, 3});
  add(2, 4, {5, 11, 3, 12, 7, 6, 14, 2});
  add(3, 4, {5, 11, 3, 12, 7, 6, 14, 2, 9, 13, 4, 8});
  add(2, 5, {5, 11, 3, 12, 7, 6, 14, 2});
  return calls;
}

}  // namespace sextant::identify
