// Over 400 lines: one list of ways, and the calls that tell them from each other.
#include "properties/identify/rotations/positions_used.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/numeric/ulp.hpp"

namespace sextant::identify {
namespace {

// A vector of a call, and the call.
struct PlaceInCall {
  std::int64_t position;
  std::int64_t batch;
  std::int64_t token;
  std::int64_t head;
  std::int64_t batches;
  std::int64_t tokens;
  const std::vector<std::int64_t>& positions;  // [batch, tokens]

  std::span<const std::int64_t> row() const {
    return std::span(positions).subspan(index(batch * tokens), index(tokens));
  }
};

// A call and its answer.
struct Turned {
  std::vector<std::int64_t> positions;  // [batch, tokens]
  AskedShape shape;
  Rows rows;  // [batch * tokens * heads][pairs]

  PlaceInCall place(std::int64_t vector) const {
    const std::int64_t tokens = std::ssize(positions) / shape.batches;
    const std::int64_t token = vector / shape.heads;
    return {positions[static_cast<std::size_t>(token)],
            token / tokens,
            token % tokens,
            vector % shape.heads,
            shape.batches,
            tokens,
            positions};
  }
};

Turned turned(const PairQuestion& question, std::vector<std::int64_t> positions) {
  Rows rows = question.ask(positions, question.shape);
  return {std::move(positions), question.shape, std::move(rows)};
}

// A way in which positions go wrong, with the greatest position below which nothing is seen of it.
struct Way {
  std::string words;
  std::function<double(const PlaceInCall&)> position;
};

// The number's first bits, as a format of so many keeps them that does not round.
double cut_to(int bits, double number) {
  const int exponent = number == 0 ? 0 : std::ilogb(number) + 1 - bits;
  return std::ldexp(std::trunc(std::ldexp(number, -exponent)), exponent);
}

std::vector<Way> known_ways(double step) {
  const std::string one = step == 1 ? "one" : fmt::format("{:g} of a", step);
  const auto given = [](const PlaceInCall& place) { return static_cast<double>(place.position); };
  const auto in_row = [](const PlaceInCall& place, std::int64_t row, std::int64_t token) {
    return static_cast<double>(place.positions[static_cast<std::size_t>(row * place.tokens + token)]);
  };
  return {
      {fmt::format("positions are rounded to bfloat16: right up to {:g}", 256 * step),
       [=](const PlaceInCall& place) { return round_to(Dtype::bfloat16, given(place) * step) / step; }},
      {fmt::format("positions are rounded to float16: right up to {:g}", 2048 * step),
       [=](const PlaceInCall& place) { return round_to(Dtype::float16, given(place) * step) / step; }},
      {fmt::format("positions are cut to 11 bits, toward zero: right up to {:g}", 2048 * step),
       [=](const PlaceInCall& place) { return cut_to(11, given(place) * step) / step; }},
      {fmt::format("positions are cut to 8 bits, toward zero: right up to {:g}", 256 * step),
       [=](const PlaceInCall& place) { return cut_to(8, given(place) * step) / step; }},
      {"positions are rounded down to whole numbers",
       [=](const PlaceInCall& place) { return std::floor(given(place) * step) / step; }},
      {"positions are rounded to whole numbers",
       [=](const PlaceInCall& place) { return std::nearbyint(given(place) * step) / step; }},
      {fmt::format("{} position off: position p is turned as p + {:g}", one, step),
       [=](const PlaceInCall& place) { return given(place) + 1; }},
      {fmt::format("{} position off: position p is turned as p - {:g}", one, step),
       [=](const PlaceInCall& place) { return given(place) - 1; }},
      {"a token's place in the call is taken for its position",
       [=](const PlaceInCall& place) { return static_cast<double>(place.token); }},
      {"rotates over heads instead of tokens",
       [=](const PlaceInCall& place) { return static_cast<double>(place.head); }},
      {"rotates over batch rows instead of tokens",
       [=](const PlaceInCall& place) { return static_cast<double>(place.batch); }},
      {"all rows of a batch have the first row's positions",
       [=](const PlaceInCall& place) { return in_row(place, 0, place.token); }},
      {"positions are taken to be consecutive from the row's first",
       [=](const PlaceInCall& place) { return in_row(place, place.batch, 0) + static_cast<double>(place.token); }},
      {"positions are counted from the call's start: the first of each row is taken for position 0",
       [=](const PlaceInCall& place) { return given(place) - in_row(place, place.batch, 0); }},
      {"positions are counted from the call's start: its first is taken for position 0",
       [=](const PlaceInCall& place) { return given(place) - in_row(place, 0, 0); }},
      {"positions are counted from the call's least, which is taken for position 0",
       [=](const PlaceInCall& place) { return given(place) - static_cast<double>(std::ranges::min(place.positions)); }},
      {"positions are counted from each row's least, which is taken for position 0",
       [=](const PlaceInCall& place) { return given(place) - static_cast<double>(std::ranges::min(place.row())); }},
      {"rows of a batch continue counting where the last one ended",
       [=](const PlaceInCall& place) {
         return in_row(place, 0, place.token) + static_cast<double>(place.batch * place.tokens);
       }},
      {"positions are read as [tokens, batch]",
       [=](const PlaceInCall& place) {
         return static_cast<double>(
             place.positions[static_cast<std::size_t>(place.token * place.batches + place.batch)]);
       }},
      {fmt::format("positions wrap at {:.12g}", 65536 * step),
       [=](const PlaceInCall& place) { return std::fmod(given(place), 65536); }},
      {"only the first head is rotated", [=](const PlaceInCall& place) { return place.head == 0 ? given(place) : 0; }},
      {"nothing is rotated", [](const PlaceInCall&) { return 0.0; }},
      {"negative positions are not rotated", [=](const PlaceInCall& place) { return std::max(given(place), 0.0); }},
      {"negative positions are taken without their sign",
       [=](const PlaceInCall& place) { return std::fabs(given(place)); }},
      {"positions are sorted within each row, and tokens are not",
       [=](const PlaceInCall& place) {
         std::vector<std::int64_t> row(place.row().begin(), place.row().end());
         std::ranges::sort(row);
         return static_cast<double>(row[index(place.token)]);
       }},
  };
}

// What rows are compared with, and what angles may be off by in proportion; of a running product i times over.
struct Expected {
  const ExpectedPairs& pairs;
  double of_angle;
};

// Whether a row is what pairs are turned to at a position. An angle that may be off by a radian tells nothing.
bool is_at(const std::vector<PairValues>& row, double position, const Expected& expected) {
  // The sine of an infinite angle.
  if (!std::isfinite(position))
    return std::ranges::all_of(row, [](const PairValues& value) { return std::isnan(value.sin); });
  for (std::size_t i = 0; i < row.size(); ++i) {
    const MeasuredTurn& turn = expected.pairs.turns[i];
    const double angle = turn.radians * position;
    const double relative = expected.of_angle + static_cast<double>(i) * 0x1p-23;
    const double off = expected.pairs.noise + std::fabs(position) * turn.uncertainty + std::fabs(angle) * relative;
    if (off > 1) continue;
    const double apart = std::remainder(std::atan2(row[i].sin, row[i].cos) - angle, 2 * std::numbers::pi);
    if (!(std::fabs(apart) <= off)) return false;
  }
  return true;
}

bool explains(const Way& way, const std::vector<Turned>& calls, const Expected& expected) {
  return std::ranges::all_of(calls, [&](const Turned& call) {
    for (std::int64_t vector = 0; vector < std::ssize(call.rows); ++vector) {
      if (!is_at(call.rows[static_cast<std::size_t>(vector)], way.position(call.place(vector)), expected)) return false;
    }
    return true;
  });
}

// Whether the angles that are seen are the format's numbers. Where values are too coarse to tell, nothing speaks
// against it.
bool are_angles_of(Dtype dtype, const std::vector<Turned>& calls, const ExpectedPairs& pairs) {
  const double rounding = std::ldexp(3, -format_of(dtype).precision);
  for (const Turned& call : calls) {
    for (std::int64_t vector = 0; vector < std::ssize(call.rows); ++vector) {
      const std::vector<PairValues>& row = call.rows[static_cast<std::size_t>(vector)];
      const auto position = static_cast<double>(call.place(vector).position);
      for (std::size_t i = 0; i < row.size(); ++i) {
        const double about = pairs.turns[i].radians * position;
        if (std::fabs(about) * rounding > 1 || !std::isfinite(row[i].sin)) continue;
        const double seen = about + std::remainder(std::atan2(row[i].sin, row[i].cos) - about, 2 * std::numbers::pi);
        const double nearest = round_to(dtype, seen);
        const double off = 2 * pairs.noise + 0x1p-22 * std::fabs(seen);
        if (8 * off < ulp(dtype, nearest) && std::fabs(seen - nearest) > off) return false;
      }
    }
  }
  return true;
}

// The greatest position from which on all others are turned alike, not at all, or from 0 on again: found among those
// that were asked.
std::optional<Way> clamped(const std::vector<Turned>& calls, const Expected& expected, double step,
                           const std::function<bool(std::int64_t)>& is_right) {
  std::int64_t right = 0;
  std::int64_t wrong = INT64_MAX;
  for (const Turned& call : calls) {
    for (std::int64_t vector = 0; vector < std::ssize(call.rows); ++vector) {
      const PlaceInCall place = call.place(vector);
      const auto position = static_cast<double>(place.position);
      if (is_at(call.rows[static_cast<std::size_t>(vector)], position, expected)) {
        right = std::max(right, place.position);
      } else {
        wrong = std::min(wrong, place.position);
      }
    }
  }
  if (wrong == INT64_MAX || wrong < right) return std::nullopt;
  while (wrong - right > 1) {
    const std::int64_t middle = right + (wrong - right) / 2;
    (is_right(middle) ? right : wrong) = middle;
  }
  const auto text = [step](std::int64_t position) {
    return fmt::format("{:.12g}", static_cast<double>(position) * step);
  };
  const Way held{fmt::format("positions above {} are clamped to it", text(right)),
                 [right](const PlaceInCall& place) { return static_cast<double>(std::min(place.position, right)); }};
  const Way left{fmt::format("positions above {} are not rotated", text(right)), [right](const PlaceInCall& place) {
                   return place.position > right ? 0.0 : static_cast<double>(place.position);
                 }};
  const Way wrapped{fmt::format("positions wrap at {}", text(right + 1)),
                    [right](const PlaceInCall& place) { return static_cast<double>(place.position % (right + 1)); }};
  for (const Way& way : {held, left, wrapped}) {
    if (explains(way, calls, expected)) return way;
  }
  return std::nullopt;
}

// Whether a way explains calls of other extents too: of one row and of three, of an odd number and of many tokens, of
// one. All have the last position of the first ones, as some rules look at it.
bool explains_other_extents(const Way& way, const PairQuestion& question, const Expected& expected,
                            std::int64_t longest) {
  if (question.long_call == 0) return true;
  const auto is_explained = [&](std::int64_t batches, std::vector<std::int64_t> positions) {
    for (std::int64_t& position : positions) position = std::min(position, longest);
    PairQuestion other = question;
    other.shape.batches = batches;
    return explains(way, {turned(other, std::move(positions))}, expected);
  };
  // The first, the last, the least and the greatest of each row are four tokens where it has as many.
  const auto row_of = [&](std::int64_t tokens, std::int64_t step) {
    std::vector<std::int64_t> row;
    for (std::int64_t token = 0; token < tokens; ++token) row.push_back((token * step + 57) % 251 + 1);
    row[static_cast<std::size_t>(tokens / 2)] = longest;
    return row;
  };
  for (const std::int64_t tokens : {1, 2, 3, 4, 8, 9}) {
    if (!is_explained(1, row_of(tokens, 97))) return false;
  }
  std::vector<std::int64_t> many = row_of(question.long_call, 7919);
  if (!is_explained(1, std::move(many))) return false;
  if (question.shape.batches == 1) return true;
  for (const auto& [batches, tokens] : {std::pair<std::int64_t, std::int64_t>{2, 1}, {3, 1}, {4, 1}, {3, 2}, {4, 3}}) {
    // Rows that lie in no order.
    std::vector<std::int64_t> rows = row_of(batches * tokens, 83);
    if (!is_explained(batches, std::move(rows))) return false;
  }
  return true;
}

// Some heads that are turned otherwise than the others, which are right. Nothing where those that are not rotated are
// at some places: wrong_places.hpp tells which.
std::string words_of_odd_heads(const std::vector<Turned>& calls, const Expected& expected) {
  const std::int64_t heads = calls.front().shape.heads;
  std::vector<std::int64_t> odd;
  bool are_left = true;
  bool are_turned_at_times = false;
  for (std::int64_t head = 0; head < heads; ++head) {
    bool is_right = true;
    bool is_turned = false;
    for (const Turned& call : calls) {
      for (std::int64_t vector = head; vector < std::ssize(call.rows); vector += heads) {
        const auto& row = call.rows[static_cast<std::size_t>(vector)];
        const bool is_it = is_at(row, static_cast<double>(call.place(vector).position), expected);
        if (!is_it) are_left = are_left && is_at(row, 0, expected);
        is_right = is_right && is_it;
        is_turned = is_turned || (is_it && !is_at(row, 0, expected));
      }
    }
    if (is_right) continue;
    odd.push_back(head);
    are_turned_at_times = are_turned_at_times || is_turned;
  }
  if (odd.empty() || std::ssize(odd) == heads || (are_left && are_turned_at_times)) return {};
  if (2 * std::ssize(odd) > heads && !are_left) {
    std::vector<std::int64_t> right;
    for (std::int64_t head = 0; head < heads; ++head) {
      if (std::ranges::find(odd, head) == odd.end()) right.push_back(head);
    }
    return fmt::format("of {} heads only {} {} right at every position asked", heads, fmt::join(right, ", "),
                       right.size() == 1 ? "is" : "are");
  }
  return fmt::format("{} {} of {} {} {}{}", odd.size() == 1 ? "head" : "heads", fmt::join(odd, ", "), heads,
                     odd.size() == 1 ? "is" : "are", are_left ? "not rotated" : "turned otherwise than the others",
                     are_turned_at_times ? " at some places" : "");
}

// What is said of some calls is said where the positions that they have wrong are right in others.
PositionsUsed used_in_these(const std::vector<Turned>& calls, const Way& given, const Expected& expected, double step,
                            std::string_view named, std::string_view others,
                            const std::function<bool(std::int64_t position)>& is_right_elsewhere) {
  if (explains(given, calls, expected)) return {};
  constexpr int most_asked = 8;
  int asked = 0;
  for (const Turned& call : calls) {
    for (std::int64_t vector = 0; vector < std::ssize(call.rows) && asked < most_asked; ++vector) {
      const std::int64_t position = call.place(vector).position;
      if (is_at(call.rows[static_cast<std::size_t>(vector)], static_cast<double>(position), expected)) continue;
      if (!is_right_elsewhere(position)) return {false, {}, {}};
      ++asked;
    }
  }
  for (const Way& way : known_ways(step)) {
    if (explains(way, calls, expected)) return {false, fmt::format("in a call of {} {}", named, way.words), {}};
  }
  std::int64_t first = INT64_MAX;
  bool is_any_right = false;
  for (const Turned& call : calls) {
    for (std::int64_t vector = 0; vector < std::ssize(call.rows); ++vector) {
      const PlaceInCall place = call.place(vector);
      if (!is_at(call.rows[static_cast<std::size_t>(vector)], static_cast<double>(place.position), expected)) {
        first = std::min(first, place.token);
      } else if (place.position != 0) {
        is_any_right = true;
      }
    }
  }
  const std::string tokens =
      is_any_right ? fmt::format("some tokens of a call of {}, the first of them number {},", named, first)
                   : fmt::format("tokens of a call of {}", named);
  return {false, fmt::format("{} are turned otherwise than those of {}", tokens, others), {}, true};
}

// Of a subject that is right in calls of some tokens, whether it is in those of one.
PositionsUsed used_in_single_calls(const PairQuestion& question, const Way& given, const Expected& expected,
                                   std::int64_t longest,
                                   const std::function<bool(std::int64_t position)>& is_right_in_short_call) {
  PairQuestion one = question;
  one.shape.batches = 1;
  std::vector<Turned> calls;
  for (const std::int64_t position :
       {std::min<std::int64_t>(5, longest), std::min<std::int64_t>(301, longest), longest})
    calls.push_back(turned(one, {position}));
  if (question.shape.batches > 1 && !explains(given, calls, expected)) {
    PairQuestion two = question;
    two.shape.batches = 2;
    // Of one row alone, whatever its tokens.
    if (explains(given, {turned(two, {std::min<std::int64_t>(301, longest), longest})}, expected))
      return {false, {}, {}};
  }
  return used_in_these(calls, given, expected, question.step, "one token", "longer calls", is_right_in_short_call);
}

// Of a subject that is right in short calls, whether it is in one of many tokens in no order.
PositionsUsed used_in_long_call(const PairQuestion& question, const Way& given, const Expected& expected,
                                std::int64_t longest,
                                const std::function<bool(std::int64_t position)>& is_right_in_short_call) {
  std::vector<std::int64_t> positions;
  for (std::int64_t token = 0; token + 1 < question.long_call; ++token)
    positions.push_back((token * 7919 + 11) % (longest + 1));
  positions.push_back(longest);
  PairQuestion one = question;
  one.shape.batches = 1;
  return used_in_these({turned(one, std::move(positions))}, given, expected, question.step,
                       fmt::format("{} tokens", question.long_call), "short calls", is_right_in_short_call);
}

}  // namespace

PositionsUsed positions_used(const PairQuestion& question, const ExpectedPairs& pairs) {
  const std::int64_t span = question.end - question.first;
  // Beyond what the claim has they begin again.
  const auto within = [&](std::vector<std::int64_t> positions) {
    for (std::int64_t& position : positions)
      position = question.first + ((position - question.first) % span + span) % span;
    return positions;
  };
  // In no order, different in each row, none of them a place in the call; below 256, to 2048 and beyond. All calls have
  // the same last position, as some rules look at it.
  const std::int64_t longest = std::min<std::int64_t>(question.end - 1, 100003);
  std::vector<Turned> calls;
  calls.push_back(turned(question, within({7, 23, 101, 251, 90, 12, 57, 181, 31, longest})));
  calls.push_back(turned(question, within({257, 1001, 515, 1999, 300, 770, 2047, 1285, 777, longest})));
  calls.push_back(turned(question, within({4099, 9001, 5003, 20011, longest, 66003, 2049, 33027, 8193, 70001})));
  // With negative ones, some of each sign.
  if (question.first < 0) calls.push_back(turned(question, within({-1, 5, -7, 23, 57, -3, 31, -2, -15, longest})));
  const Way given{"", [](const PlaceInCall& place) { return static_cast<double>(place.position); }};
  // A float32 angle is off by the roundings of a frequency and of a product, and by the library's sine.
  const Expected in_float32{pairs, 0x1p-21};
  const auto is_right = [&](std::int64_t position) {
    const Turned one = turned(question, {position, longest, position, longest});
    return is_at(one.rows.front(), static_cast<double>(position), in_float32);
  };
  if (explains(given, calls, in_float32)) {
    if (question.long_call == 0) return {};
    PositionsUsed used = used_in_single_calls(question, given, in_float32, longest, is_right);
    return used.as_given ? used_in_long_call(question, given, in_float32, longest, is_right) : used;
  }
  for (const Way& way : known_ways(question.step)) {
    if (!explains(way, calls, in_float32)) continue;
    // So it is in calls of such extents alone, of which a place of wrong vectors tells.
    if (!explains_other_extents(way, question, in_float32, longest)) return {false, "", {}};
    return {false, way.words, {}};
  }
  // Calls of as many heads and tokens alone were asked, so that it may be so in some others alone.
  if (std::string words = words_of_odd_heads(calls, in_float32); !words.empty())
    return {false, std::move(words), {}, true};
  if (const auto way = clamped(calls, in_float32, question.step, is_right)) {
    if (!explains_other_extents(*way, question, in_float32, longest)) return {false, "", {}};
    return {false, way->words, {}};
  }
  // Three roundings to a format of 11 or 8 bits: of position, frequency and product.
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    if (explains(given, calls, {pairs, std::ldexp(3, -format_of(dtype).precision)}) &&
        are_angles_of(dtype, calls, pairs))
      return {true, fmt::format("angles are rounded to {}", name_of(dtype)), dtype};
  }
  return {false, "", {}};
}

}  // namespace sextant::identify
