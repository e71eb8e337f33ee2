// Over 400 lines: a list of ways in which positions are made from their row, each a few lines that are read alone.
#include "properties/diagnose/rotations/other_sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "lib/spec/position_grid.hpp"
#include "properties/identify/rotations/other_lengths.hpp"

namespace sextant::identify {
namespace {

using Row = std::vector<std::int64_t>;

// A row of a call, and the call's first one.
struct Asked {
  const Row& own;
  const Row& first;
  std::int64_t one;  // what steps of 1 count, more than one where positions are real
  std::int64_t tokens() const { return std::ssize(own); }
};

// What a token is turned as; nothing where that is no whole number or not known.
using Made = std::function<std::optional<std::int64_t>(const Asked& asked, std::int64_t token)>;

struct Sequence {
  std::string words;
  Made made;
};

std::int64_t least(const Row& row) { return std::ranges::min(row); }
std::int64_t greatest(const Row& row) { return std::ranges::max(row); }

// One of the row's positions, or of the first row's, the number of the token that has it, and what it is called.
struct Anchor {
  std::string_view words;
  std::int64_t (*position)(const Asked& asked);
  std::int64_t (*token)(const Asked& asked);
};

std::int64_t first_token(const Asked&) { return 0; }
std::int64_t last_token(const Asked& asked) { return asked.tokens() - 1; }
std::int64_t second_token(const Asked& asked) { return std::min<std::int64_t>(1, asked.tokens() - 1); }
std::int64_t last_but_one(const Asked& asked) { return std::max<std::int64_t>(asked.tokens() - 2, 0); }

constexpr std::array anchors{
    Anchor{"the row's first", [](const Asked& asked) { return asked.own.front(); }, first_token},
    Anchor{"the row's last, which its last token has", [](const Asked& asked) { return asked.own.back(); }, last_token},
    Anchor{"the row's least, which its first token has", [](const Asked& asked) { return least(asked.own); },
           first_token},
    Anchor{"the row's greatest, which its last token has", [](const Asked& asked) { return greatest(asked.own); },
           last_token},
    Anchor{"the row's greatest, which its first token has", [](const Asked& asked) { return greatest(asked.own); },
           first_token},
    Anchor{"the row's second, which its second token has",
           [](const Asked& asked) { return asked.own[index(second_token(asked))]; }, second_token},
    Anchor{"the row's last but one, which that token has",
           [](const Asked& asked) { return asked.own[index(last_but_one(asked))]; }, last_but_one},
    Anchor{"0, whatever the row's", [](const Asked&) { return std::int64_t{0}; }, first_token},
    Anchor{"the first row's first, whatever the row", [](const Asked& asked) { return asked.first.front(); },
           first_token},
    Anchor{"the first row's last, which the last token has, whatever the row",
           [](const Asked& asked) { return asked.first.back(); }, last_token}};

// From token to token.
struct Step {
  std::string_view words;
  std::int64_t (*size)(const Asked& asked);
};

std::int64_t of_first_two(const Row& row) { return row.size() > 1 ? row[1] - row[0] : 0; }
std::int64_t of_last_two(const Row& row) { return row.size() > 1 ? row[row.size() - 1] - row[row.size() - 2] : 0; }

constexpr std::array steps{
    Step{"one by one", [](const Asked& asked) { return asked.one; }},
    Step{"back one by one", [](const Asked& asked) { return -asked.one; }},
    Step{"in steps of the row's first two tokens", [](const Asked& asked) { return of_first_two(asked.own); }},
    Step{"in steps of the row's last two tokens", [](const Asked& asked) { return of_last_two(asked.own); }},
    Step{"in steps of the first row's first two tokens", [](const Asked& asked) { return of_first_two(asked.first); }},
    Step{"in steps of the first row's last two tokens", [](const Asked& asked) { return of_last_two(asked.first); }},
    Step{"in equal steps, (last - first) / (n - 1) rounded down,", [](const Asked& asked) {
           const std::int64_t between = std::max<std::int64_t>(asked.tokens() - 1, 1);
           const std::int64_t span = asked.own.back() - asked.own.front();
           return span >= 0 ? span / between : -((-span + between - 1) / between);
         }}};

// What identification names too has its words.
std::string words_of(const Step& step, const Anchor& anchor) {
  if (&step == &steps.front() && &anchor == &anchors.front())
    return "positions are taken to be consecutive from the row's first";
  if (&step == &steps.front() && anchor.words.starts_with("0,"))
    return "a token's place in the call is taken for its position";
  return fmt::format("positions are counted {} from {}", step.words, anchor.words);
}

void add_steps(std::vector<Sequence>& list) {
  for (const Step& step : steps) {
    for (const Anchor& anchor : anchors)
      list.push_back({words_of(step, anchor),
                      [&step, &anchor](const Asked& asked, std::int64_t token) -> std::optional<std::int64_t> {
                        return anchor.position(asked) + (token - anchor.token(asked)) * step.size(asked);
                      }});
  }
}

// first + t (last - first) / (n - 1), which is whole or rounded.
enum class Rounded { whole, nearest, down };

std::optional<std::int64_t> between(std::int64_t from, std::int64_t to, const Asked& asked, std::int64_t token,
                                    Rounded rounded) {
  const std::int64_t parts = asked.tokens() - 1;
  if (parts == 0) return from;
  const std::int64_t span = (to - from) * token;
  const std::int64_t down = span >= 0 ? span / parts : -((-span + parts - 1) / parts);
  const std::int64_t rest = span - down * parts;
  if (rest == 0 || rounded == Rounded::down) return from + down;
  // In the middle it depends on how ties are rounded.
  if (rounded == Rounded::whole || 2 * rest == parts) return std::nullopt;
  return from + down + (2 * rest > parts ? 1 : 0);
}

void add_spread(std::vector<Sequence>& list) {
  for (const auto& [rounded, how] :
       {std::pair(Rounded::whole, ""), std::pair(Rounded::nearest, ", rounded to the nearest"),
        std::pair(Rounded::down, ", rounded down")}) {
    list.push_back({fmt::format("positions run evenly from the row's first to its last{}, whatever those between", how),
                    [rounded = rounded](const Asked& asked, std::int64_t token) {
                      return between(asked.own.front(), asked.own.back(), asked, token, rounded);
                    }});
    list.push_back({fmt::format("positions run evenly from the row's least to its greatest{}, whatever its own", how),
                    [rounded = rounded](const Asked& asked, std::int64_t token) {
                      return between(least(asked.own), greatest(asked.own), asked, token, rounded);
                    }});
    list.push_back({fmt::format("positions run evenly from the row's greatest to its least{}, whatever its own", how),
                    [rounded = rounded](const Asked& asked, std::int64_t token) {
                      return between(greatest(asked.own), least(asked.own), asked, token, rounded);
                    }});
    list.push_back({fmt::format("positions run evenly from 0 to the row's greatest{}, whatever its own", how),
                    [rounded = rounded](const Asked& asked, std::int64_t token) {
                      return between(0, greatest(asked.own), asked, token, rounded);
                    }});
  }
}

// A number that a row gives each of its tokens, 0 and up.
struct CountInRow {
  std::string_view words;
  std::int64_t (*of)(const Row& row, std::int64_t token);
};

template <class Holds>
std::int64_t count_to(std::int64_t end, const Holds& holds) {
  std::int64_t count = 0;
  for (std::int64_t token = 0; token < end; ++token) count += holds(index(token)) ? 1 : 0;
  return count;
}

constexpr std::array counts{
    CountInRow{"their ranks in the row, equal ones in the order of tokens",
               [](const Row& row, std::int64_t token) {
                 const std::int64_t own = row[index(token)];
                 return count_to(std::ssize(row), [&](std::size_t i) { return row[i] < own; }) +
                        count_to(token, [&](std::size_t i) { return row[i] == own; });
               }},
    CountInRow{"their ranks in the row, equal ones alike",
               [](const Row& row, std::int64_t token) {
                 const std::int64_t own = row[index(token)];
                 return count_to(std::ssize(row), [&](std::size_t i) { return row[i] < own; });
               }},
    CountInRow{"their ranks among the different ones of the row",
               [](const Row& row, std::int64_t token) {
                 Row sorted = row;
                 std::ranges::sort(sorted);
                 sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
                 return std::distance(sorted.begin(), std::ranges::lower_bound(sorted, row[index(token)]));
               }},
    CountInRow{"the number of different ones before",
               [](const Row& row, std::int64_t token) {
                 Row before(row.begin(), row.begin() + token);
                 std::ranges::sort(before);
                 return std::distance(before.begin(), std::ranges::unique(before).begin());
               }},
    CountInRow{"the number of changes from token to token so far",
               [](const Row& row, std::int64_t token) {
                 return count_to(token, [&](std::size_t i) { return row[i] != row[i + 1]; });
               }},
    CountInRow{
        "the number of tokens before whose position is not 0",
        [](const Row& row, std::int64_t token) { return count_to(token, [&](std::size_t i) { return row[i] != 0; }); }},
    CountInRow{"the number of tokens so far whose position is not 0",
               [](const Row& row, std::int64_t token) {
                 return count_to(token + 1, [&](std::size_t i) { return row[i] != 0; });
               }},
    CountInRow{"the number of tokens so far whose position is not 1", [](const Row& row, std::int64_t token) {
                 return count_to(token + 1, [&](std::size_t i) { return row[i] != 1; });
               }}};

// What a count begins with.
struct Base {
  std::string_view words;
  std::int64_t (*of)(const Asked& asked);
};
constexpr std::array bases{
    Base{"", [](const Asked&) { return std::int64_t{0}; }},
    Base{", counted from 1", [](const Asked& asked) { return asked.one; }},
    Base{", counted from the row's least", [](const Asked& asked) { return least(asked.own); }},
    Base{", counted from the row's first", [](const Asked& asked) { return asked.own.front(); }}};

void add_counts(std::vector<Sequence>& list) {
  for (const CountInRow& count : counts) {
    for (const Base& base : bases)
      list.push_back({fmt::format("positions are {}{}", count.words, base.words),
                      [&count, &base](const Asked& asked, std::int64_t token) -> std::optional<std::int64_t> {
                        return base.of(asked) + count.of(asked.own, token) * asked.one;
                      }});
  }
}

// Each of a row's positions, at another token or at several.
void add_orders(std::vector<Sequence>& list) {
  const auto add = [&](std::string words, std::int64_t (*made)(const Row& row, std::int64_t token)) {
    list.push_back({std::move(words),
                    [made](const Asked& asked, std::int64_t token) { return std::optional(made(asked.own, token)); }});
  };
  add("positions are sorted, the row's least first", [](const Row& row, std::int64_t token) {
    Row sorted = row;
    std::ranges::sort(sorted);
    return sorted[index(token)];
  });
  add("positions are sorted, the row's greatest first", [](const Row& row, std::int64_t token) {
    Row sorted = row;
    std::ranges::sort(sorted, std::greater<>());
    return sorted[index(token)];
  });
  add("the row's positions are read backwards",
      [](const Row& row, std::int64_t token) { return row[row.size() - 1 - index(token)]; });
  add("positions never fall: a token has the greatest of the row so far",
      [](const Row& row, std::int64_t token) { return *std::max_element(row.begin(), row.begin() + token + 1); });
  add("positions never rise: a token has the least of the row so far",
      [](const Row& row, std::int64_t token) { return *std::min_element(row.begin(), row.begin() + token + 1); });
  // What masks of padding come to, which give 1 where nothing is counted.
  add("of several zeros that a row begins with all but the last have position 1",
      [](const Row& row, std::int64_t token) {
        const auto zeros = std::find_if(row.begin(), row.end(), [](std::int64_t p) { return p != 0; }) - row.begin();
        return token + 1 < zeros ? 1 : row[index(token)];
      });
  add("of several zeros that a row begins with all have position 1", [](const Row& row, std::int64_t token) {
    const auto zeros = std::find_if(row.begin(), row.end(), [](std::int64_t p) { return p != 0; }) - row.begin();
    return zeros > 1 && token < zeros ? 1 : row[index(token)];
  });
  add("positions are sums of the row's own so far", [](const Row& row, std::int64_t token) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i <= token; ++i) sum += row[index(i)];
    return sum;
  });
  add("positions are counted back from the row's greatest: greatest - p",
      [](const Row& row, std::int64_t token) { return greatest(row) - row[index(token)]; });
  add("positions are counted back from the row's last: last - p",
      [](const Row& row, std::int64_t token) { return row.back() - row[index(token)]; });
  add("positions are mirrored in the row: least + greatest - p",
      [](const Row& row, std::int64_t token) { return least(row) + greatest(row) - row[index(token)]; });
  add("all tokens of a row have its first position", [](const Row& row, std::int64_t) { return row.front(); });
  add("all tokens of a row have its last position", [](const Row& row, std::int64_t) { return row.back(); });
  add("all tokens of a row have its least position", [](const Row& row, std::int64_t) { return least(row); });
  add("all tokens of a row have its greatest position", [](const Row& row, std::int64_t) { return greatest(row); });
}

// A call's later tokens, which a block or a cache's page may be the first to have.
void add_blocks(std::vector<Sequence>& list) {
  for (const std::int64_t border : {16, 32, 64, 128, 256})
    list.push_back(
        {fmt::format("tokens from number {} of a call on are counted one by one from the position before them", border),
         [border](const Asked& asked, std::int64_t token) -> std::optional<std::int64_t> {
           if (token < border) return asked.own[index(token)];
           return asked.own[index(border - 1)] + (token - border + 1) * asked.one;
         }});
}

bool has_ends_of_consecutive(const Asked& asked) {
  return asked.own.back() - asked.own.front() == (asked.tokens() - 1) * asked.one;
}

// Rows and calls by what they are: "in rows that begin at 0".
struct Kind {
  std::string words;
  std::function<bool(const Asked& asked, const VectorInCall& at)> holds;
};

std::vector<Kind> kinds() {
  std::vector<Kind> list{{"", [](const Asked&, const VectorInCall&) { return true; }}};
  const auto add = [&](std::string words, bool (*holds)(const Asked& asked, const VectorInCall& at)) {
    list.push_back({std::move(words), holds});
  };
  add("in calls of several tokens ", [](const Asked& asked, const VectorInCall&) { return asked.tokens() > 1; });
  add("in batches of one row ", [](const Asked&, const VectorInCall& at) { return at.batches == 1; });
  add("in batches of several rows ", [](const Asked&, const VectorInCall& at) { return at.batches > 1; });
  add("in rows that begin at 0 ", [](const Asked& asked, const VectorInCall&) { return asked.own.front() == 0; });
  add("in rows that do not begin at 0 ",
      [](const Asked& asked, const VectorInCall&) { return asked.own.front() != 0; });
  add("in calls whose first row begins at 0 ",
      [](const Asked& asked, const VectorInCall&) { return asked.first.front() == 0; });
  add("in rows whose positions ever fall ",
      [](const Asked& asked, const VectorInCall&) { return !std::ranges::is_sorted(asked.own); });
  add("in rows whose positions never fall ",
      [](const Asked& asked, const VectorInCall&) { return std::ranges::is_sorted(asked.own); });
  add("in rows in which a position comes twice ", [](const Asked& asked, const VectorInCall&) {
    Row sorted = asked.own;
    std::ranges::sort(sorted);
    return std::ranges::adjacent_find(sorted) != sorted.end();
  });
  add("in rows after the first ", [](const Asked&, const VectorInCall& at) { return at.batch > 0; });
  add("in rows that end where they would if they were consecutive ",
      [](const Asked& asked, const VectorInCall&) { return has_ends_of_consecutive(asked); });
  return list;
}

Row row_of(const VectorInCall& at, std::int64_t batch) {
  Row row;
  for (std::int64_t token = 0; token < at.tokens; ++token) row.push_back(at.coordinate(0, batch, token));
  return row;
}

// What a kind of rows of so many tokens and more has for its positions.
VectorReading reading_of(const Spec& claim, const Kind& kind, const Sequence& sequence, std::int64_t fewest_tokens,
                         std::string words) {
  Spec with_negative = claim;
  with_negative.min_position = -claim.max_position;
  const std::int64_t one = std::llround(1 / position_grid_of(claim.encoding).step);
  return {
      std::move(words), DiagnosedStage::position,
      [claim, with_negative, one, kind, sequence, fewest_tokens](const VectorInCall& at) -> std::optional<TakenVector> {
        const Row own = row_of(at, at.batch);
        const Row first = row_of(at, 0);
        const Asked asked{own, first, one};
        if (at.tokens < fewest_tokens || !kind.holds(asked, at)) return as_claimed(claim, at);
        const auto made = sequence.made(asked, at.token);
        if (!made) return std::nullopt;
        TakenVector taken = as_claimed(*made < 0 ? with_negative : claim, at);
        taken.place = {*made};
        return taken;
      }};
}

std::vector<Sequence> all_sequences() {
  std::vector<Sequence> sequences;
  add_orders(sequences);
  add_spread(sequences);
  add_steps(sequences);
  add_counts(sequences);
  add_blocks(sequences);
  return sequences;
}

bool has_sequences(const Spec& claim) {
  return rope_of(claim) != nullptr && axes_of(claim.encoding) == 1 && !is_of<QkNormRope>(claim);
}

// Rows of so many tokens, of every kind that a sequence may be told by: with the ends of consecutive positions and with
// ends that lie twice as far apart, from 0 on and from elsewhere, in order and not, of positions that come twice.
std::vector<CallPlaces> rows_of_tokens(std::int64_t tokens) {
  const std::int64_t last = tokens - 1;
  const auto ends_fixed = [&](std::int64_t first, std::int64_t step) {
    Row row;
    for (std::int64_t token = 0; token < tokens; ++token) {
      const bool is_end = token == 0 || token == last;
      // 1 to last - 1 backwards, so that no inner token has its own place but the middle one.
      row.push_back(first + step * (is_end ? token : last - token));
    }
    return row;
  };
  Row scattered;
  Row between_ends;
  Row with_gap;
  Row falling;
  Row in_pairs;
  for (std::int64_t token = 0; token < tokens; ++token) {
    scattered.push_back(1 + (token * 211 + 13) % 509);
    // The ends of consecutive positions, and others than theirs between.
    between_ends.push_back(token == 0 || token == last ? 21 + token : 1 + (token * 97 + 31) % 503);
    with_gap.push_back(5 + token + (2 * token >= tokens ? 7 : 0));
    falling.push_back(9 + 3 * (last - token));
    in_pairs.push_back(11 + token / 2);
  }
  std::vector<CallPlaces> calls;
  for (const Row& row :
       {ends_fixed(7, 1), ends_fixed(0, 1), ends_fixed(3, 2), between_ends, scattered, with_gap, falling, in_pairs})
    calls.push_back({1, 1, row});
  Row both = scattered;
  for (const std::int64_t position : ends_fixed(4, 1)) both.push_back(position);
  calls.push_back({2, 1, both});
  return calls;
}

}  // namespace

std::vector<VectorReading> other_sequences(const Spec& claim) {
  std::vector<VectorReading> list;
  if (!has_sequences(claim)) return list;
  const std::vector<Sequence> sequences = all_sequences();
  for (const Kind& kind : kinds()) {
    for (const Sequence& sequence : sequences)
      list.push_back(reading_of(claim, kind, sequence, 1, kind.words + sequence.words));
  }
  return list;
}

std::optional<VectorReading> sequence_of_long_calls(AskedVectors& asked, Session& session, const Spec& claim) {
  if (!has_sequences(claim)) return std::nullopt;
  const auto shortest = asked.fewest_tokens_of_wrong();
  constexpr std::int64_t most_tokens = 1 << 14;
  // Of one token alone, or of two, other words say it.
  if (!shortest || *shortest < 3 || *shortest > most_tokens) return std::nullopt;
  const VectorReading own{"", DiagnosedStage::other,
                          [&](const VectorInCall& at) { return std::optional(as_claimed(claim, at)); }};
  const auto is_wrong = [&](std::int64_t tokens) {
    AskedVectors of_length(session, claim);
    for (const CallPlaces& places : rows_of_tokens(tokens)) of_length.ask(places);
    return of_length.find_wrong(own) > 0;
  };
  // Not every kind of row need be among those that are asked.
  if (!is_wrong(*shortest)) return std::nullopt;
  std::int64_t wrong = *shortest;
  std::int64_t right = 1;
  while (wrong - right > 1) {
    const std::int64_t middle = right + (wrong - right) / 2;
    (is_wrong(middle) ? wrong : right) = middle;
  }
  if (wrong < 3) return std::nullopt;
  for (const std::int64_t tokens : {right, wrong, wrong + 1, 2 * wrong}) {
    for (const CallPlaces& places : rows_of_tokens(tokens)) asked.ask(places);
  }
  asked.find_wrong(own);
  const std::vector<Sequence> sequences = all_sequences();
  for (const Kind& kind : kinds()) {
    for (const Sequence& sequence : sequences) {
      std::string where = kind.words.empty() ? " " : fmt::format(", {}", kind.words);
      if (!kind.words.empty()) where.insert(where.size() - 1, ",");
      VectorReading reading =
          reading_of(claim, kind, sequence, wrong,
                     fmt::format("in calls of {} and more tokens{}{}", wrong, where, sequence.words));
      if (asked.are_explained(reading)) return reading;
    }
  }
  return std::nullopt;
}

}  // namespace sextant::identify
