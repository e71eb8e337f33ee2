#include "properties/diagnose/rotations/other_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/identify/rotations/other_lengths.hpp"

namespace sextant::identify {
namespace {

// Calls by their extents: "in batches of an even number of rows".
struct ExtentsOfCalls {
  std::string_view words;  // empty of all
  std::string_view rows;   // as the sentence goes on
  bool (*holds)(const VectorInCall& at);
  bool is_of_one_token = false;
};

constexpr std::array kinds_of_calls{
    ExtentsOfCalls{"", "rows of a batch", [](const VectorInCall&) { return true; }},
    ExtentsOfCalls{"in calls of one token ", "rows of a batch", [](const VectorInCall& at) { return at.tokens == 1; },
                   true},
    ExtentsOfCalls{"in calls of several tokens ", "rows of a batch",
                   [](const VectorInCall& at) { return at.tokens > 1; }},
    ExtentsOfCalls{"in batches of two rows ", "rows", [](const VectorInCall& at) { return at.batches == 2; }},
    ExtentsOfCalls{"in batches of three and more rows ", "rows", [](const VectorInCall& at) { return at.batches > 2; }},
    ExtentsOfCalls{"in batches of three rows ", "rows", [](const VectorInCall& at) { return at.batches == 3; }},
    ExtentsOfCalls{"in batches of four and more rows ", "rows", [](const VectorInCall& at) { return at.batches > 3; }},
    ExtentsOfCalls{"in batches of an even number of rows ", "rows",
                   [](const VectorInCall& at) { return at.batches % 2 == 0; }},
    ExtentsOfCalls{"in batches of an odd number of rows ", "rows",
                   [](const VectorInCall& at) { return at.batches % 2 == 1; }},
    ExtentsOfCalls{"in batches of as many rows as tokens ", "rows",
                   [](const VectorInCall& at) { return at.batches == at.tokens; }}};

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
             [](const VectorInCall& at) { return at.batch == at.batches - 1 ? at.batch : 0; }}};

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
  for (const ExtentsOfCalls& kind : kinds_of_calls) {
    for (const OtherRow& row : rows_taken) {
      const bool is_of_one = kind.is_of_one_token && !row.of_one_token.empty();
      list.push_back(placed(
          claim, fmt::format("{}{}{} {}", kind.words, row.before, kind.rows, is_of_one ? row.of_one_token : row.words),
          [&kind, &row](const VectorInCall& at) {
            return kind.holds(at) ? place_at(at, row.of(at), at.token) : at.place();
          }));
    }
  }
  return list;
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
