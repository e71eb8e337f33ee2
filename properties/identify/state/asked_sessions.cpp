#include "properties/identify/state/asked_sessions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/gen/position.hpp"
#include "properties/identify/rotations/other_lengths.hpp"
#include "properties/model/attention_case.hpp"

namespace sextant::identify {
namespace {

struct Asked {
  std::int64_t first;
  std::int64_t tokens;
  std::int64_t rows = 1;
  std::int64_t spacing = 1;
};

constexpr std::int64_t rows_apart = 7;
constexpr std::int64_t axes_apart = 3;
// Of a bias: queries are so far behind a call's first key, so near that buckets tell distances apart.
constexpr std::int64_t behind_keys = 24;

// Builds the calls of one session.
class Sessions {
 public:
  explicit Sessions(const EncodingModel& model)
      : model_(model), range_(model.range()), origin_(gen::simplest_position(range_)) {}

  void begin() { list_.emplace_back(); }

  // Of the session that was begun last.
  std::int64_t calls() const { return std::ssize(list_.back()); }

  // The call that was added, for changes; null where the claim has no such call.
  SessionCall* add(const Asked& wanted) {
    Question question{.position = placed(wanted.first),
                      .tokens = wanted.tokens,
                      .batch = wanted.rows,
                      .heads = 2,
                      .fill = 7 + std::ssize(list_.back())};
    if (!model_.fits(question)) return nullptr;
    Call call = model_.call_of(question);
    const std::int64_t lines = std::ssize(call.positions) / wanted.tokens;
    const std::int64_t axes = axes_of(model_.spec().encoding);
    if (lines == 0) return nullptr;
    const std::int64_t rows = lines / axes;
    for (std::int64_t i = 0; i < std::ssize(call.positions); ++i) {
      const std::int64_t line = i / wanted.tokens;
      call.positions[index(i)] = placed(wanted.first + i % wanted.tokens * wanted.spacing + line % rows * rows_apart +
                                        line / rows * axes_apart);
    }
    // Of a bias: behind all keys, that no mask hides one.
    for (std::int64_t i = 0; i < std::ssize(call.query_positions); ++i)
      call.query_positions[index(i)] = placed(behind_keys + wanted.first + i);
    return &list_.back().emplace_back(SessionCall{std::move(call), rows, wanted.tokens});
  }

  // Likewise, with two tokens of a row exchanged.
  void add_exchanged(const Asked& wanted, std::int64_t row, std::int64_t one, std::int64_t other) {
    SessionCall* made = add(wanted);
    if (made == nullptr || row >= made->rows) return;
    for (std::int64_t axis = 0; axis < made->axes(); ++axis) {
      const std::int64_t line = (axis * made->rows + row) * made->tokens;
      std::swap(made->call.positions[index(line + one)], made->call.positions[index(line + other)]);
    }
  }

  std::vector<std::vector<SessionCall>> made() && {
    std::erase_if(list_, [](const std::vector<SessionCall>& calls) { return calls.size() < 2; });
    return std::move(list_);
  }

 private:
  // Of places from the simplest position on, wrapped at the range's end.
  std::int64_t placed(std::int64_t place) const {
    return range_.first + (origin_ - range_.first + place) % (range_.last - range_.first);
  }

  const EncodingModel& model_;
  gen::PositionRange range_;
  std::int64_t origin_;
  std::vector<std::vector<SessionCall>> list_;
};

// Of as many tokens, or positions, elsewhere; of other numbers at the same first position.
void add_alike_in_shape(Sessions& sessions) {
  sessions.begin();
  for (const Asked& one : {Asked{.first = 3, .tokens = 8, .spacing = 1},
                           {.first = 40, .tokens = 8, .spacing = 2},
                           {.first = 40, .tokens = 5, .spacing = 3},
                           {.first = 20, .tokens = 5, .spacing = 1},
                           {.first = 3, .tokens = 8, .spacing = 1},
                           {.first = 3, .tokens = 8, .spacing = 3}})
    sessions.add(one);
  sessions.begin();
  for (const Asked& one : {Asked{.first = 4, .tokens = 6, .spacing = 2},
                           {.first = 4, .tokens = 6, .spacing = 1},
                           {.first = 4, .tokens = 4, .spacing = 3},
                           {.first = 4, .tokens = 9, .spacing = 1},
                           {.first = 4, .tokens = 4, .spacing = 1},
                           {.first = 30, .tokens = 5, .spacing = 1},
                           {.first = 4, .tokens = 6, .spacing = 1}})
    sessions.add(one);
  sessions.begin();
  for (const Asked& one : {Asked{.first = 3, .tokens = 8},
                           {.first = 11, .tokens = 4, .rows = 2, .spacing = 2},
                           {.first = 31, .tokens = 2, .rows = 4, .spacing = 3},
                           {.first = 19, .tokens = 4, .rows = 2, .spacing = 3},
                           {.first = 23, .tokens = 4, .rows = 1, .spacing = 1}})
    sessions.add(one);
}

// Calls that begin and end alike, in one row and in two.
void add_alike_at_ends(Sessions& sessions) {
  constexpr std::int64_t tokens = 9;
  const Asked row{.first = 5, .tokens = tokens, .spacing = 2};
  const Asked rows{.first = 5, .tokens = tokens, .rows = 2, .spacing = 2};
  // In the middle, next to the ends, at either end; the last leaves the greatest where it is.
  sessions.begin();
  sessions.add(row);
  sessions.add_exchanged(row, 0, 3, 4);
  sessions.add_exchanged(row, 0, 1, 2);
  sessions.add_exchanged(row, 0, tokens - 1, tokens - 2);
  sessions.add_exchanged(row, 0, 0, 1);
  sessions.add(row);
  sessions.begin();
  sessions.add(rows);
  sessions.add_exchanged(rows, 0, tokens - 1, tokens - 2);
  sessions.add_exchanged(rows, 1, 0, 1);
  sessions.add_exchanged(rows, 1, 3, 5);
  sessions.add_exchanged(rows, 0, 3, 5);
  sessions.add_exchanged(rows, 0, 0, 1);
  // With others between them, and one that has the last of them and the greatest alone.
  sessions.begin();
  const Asked elsewhere{.first = 40, .tokens = tokens, .spacing = 2};
  sessions.add(row);
  sessions.add(elsewhere);
  sessions.add_exchanged(row, 0, 3, 4);
  sessions.add(elsewhere);
  sessions.add_exchanged(row, 0, 1, 2);
  sessions.add({.first = 13, .tokens = tokens, .spacing = 1});
  sessions.add_exchanged(row, 0, 4, 5);
  sessions.begin();
  sessions.add(rows);
  sessions.add_exchanged(rows, 1, 3, 5);
  sessions.add({.first = 40, .tokens = tokens, .rows = 2, .spacing = 2});
  sessions.add_exchanged(rows, 1, 0, 1);
  sessions.add_exchanged(rows, 1, 2, 3);
  // The first axis alone stays, then the others.
  sessions.begin();
  sessions.add(row);
  for (const std::int64_t kept_axis : {0, 1, 0, 0}) {
    SessionCall* made = sessions.add(row);
    if (made == nullptr || made->axes() < 2) continue;
    std::vector<std::int64_t>& positions = made->call.positions;
    const auto split = positions.begin() + tokens;
    // Further from call to call.
    const std::int64_t by = sessions.calls();
    if (kept_axis == 0) {
      std::rotate(split + 1, split + 1 + by, positions.end() - 1);
    } else {
      std::rotate(positions.begin() + 1, positions.begin() + 1 + by, split - 1);
    }
  }
}

// A prompt and its tokens one by one, before it, behind it, and far beyond.
void add_steps(Sessions& sessions) {
  const auto add = [&](std::initializer_list<Asked> wanted) {
    sessions.begin();
    for (const Asked& one : wanted) sessions.add(one);
  };
  add({{.first = 2, .tokens = 6},
       {.first = 8, .tokens = 1},
       {.first = 9, .tokens = 1},
       {.first = 3, .tokens = 1},
       {.first = 30, .tokens = 1},
       {.first = 10, .tokens = 4},
       {.first = 14, .tokens = 1},
       {.first = 20, .tokens = 1},
       {.first = 50, .tokens = 6},
       {.first = 20, .tokens = 1},
       {.first = 53, .tokens = 1},
       {.first = 3, .tokens = 4}});
  add({{.first = 9, .tokens = 1},
       {.first = 10, .tokens = 1},
       {.first = 2, .tokens = 1},
       {.first = 25, .tokens = 1},
       {.first = 2, .tokens = 3},
       {.first = 5, .tokens = 1},
       {.first = 15, .tokens = 1}});
  add({{.first = 1, .tokens = 12},
       {.first = 2, .tokens = 3},
       {.first = 9, .tokens = 1},
       {.first = 30, .tokens = 5},
       {.first = 40, .tokens = 1},
       {.first = 20, .tokens = 2},
       {.first = 33, .tokens = 1},
       {.first = 55, .tokens = 1},
       {.first = 41, .tokens = 3}});
}

// Of more rows and of fewer.
void add_batches(Sessions& sessions) {
  sessions.begin();
  sessions.add({.first = 2, .tokens = 3});
  for (const std::int64_t rows : {1, 3, 2, 4, 1}) sessions.add({.first = 2 + rows, .tokens = 3, .rows = rows});
  sessions.begin();
  sessions.add({.first = 2, .tokens = 4, .rows = 2});
  for (const std::int64_t first : {6, 30, 9}) sessions.add({.first = first, .tokens = 1, .rows = 2});
  sessions.add({.first = 11, .tokens = 1});
}

// Under other weights, one of which begins as another does.
void add_weights(Sessions& sessions) {
  sessions.begin();
  const Asked row{.first = 4, .tokens = 6, .spacing = 2};
  const SessionCall* first = sessions.add(row);
  if (first == nullptr || !first->call.weight) return;
  Tensor alike = *first->call.weight;
  for (std::int64_t i = 1; i < alike.elements(); ++i) alike.set(i, -alike.at(i));
  sessions.add(row);
  if (SessionCall* second = sessions.add(row)) second->call.weight = std::move(alike);
  sessions.add(row);
}

// On both sides of the length at which frequencies change. `end` is the claim's.
void add_lengths(Sessions& sessions, std::int64_t limit, std::int64_t end) {
  const auto until = [&](std::int64_t length, std::int64_t tokens) {
    sessions.add({.first = std::min(length, end) - tokens, .tokens = tokens});
  };
  sessions.begin();
  until(limit / 2, 5);
  until(3 * limit, 5);
  until(limit / 2, 5);
  until(2 * limit, 3);
  until(5 * limit, 1);
  until(limit - 1, 1);
  sessions.begin();
  until(3 * limit, 4);
  until(2 * limit, 4);
  until(limit / 2, 1);
  until(5 * limit, 4);
  until(limit / 2, 6);
}

// The length at which frequencies change, and a position beyond it.
struct LengthLimit {
  std::int64_t length;
  std::int64_t beyond;
};
std::optional<LengthLimit> limit_of_lengths(const EncodingModel& model) {
  const Rope* rope = rope_of(model.spec());
  const auto limit = rope == nullptr ? std::nullopt : length_limit(rope->rope_scaling);
  constexpr std::int64_t fewest = 16;
  if (!limit || *limit < fewest || 2 * *limit > model.range().last) return std::nullopt;
  return LengthLimit{*limit, std::min(3 * *limit, model.range().last) - 8};
}

}  // namespace

std::int64_t SessionCall::greatest() const { return std::ranges::max(call.positions); }

std::vector<std::vector<SessionCall>> sessions_of_calls(const EncodingModel& model) {
  Sessions sessions(model);
  add_alike_in_shape(sessions);
  add_alike_at_ends(sessions);
  add_steps(sessions);
  add_batches(sessions);
  add_weights(sessions);
  if (const auto limit = limit_of_lengths(model)) add_lengths(sessions, limit->length, model.range().last);
  return std::move(sessions).made();
}

std::vector<SessionCall> calls_of_two_orders(const EncodingModel& model) {
  Sessions sessions(model);
  sessions.begin();
  const Asked row{.first = 5, .tokens = 9, .spacing = 2};
  for (const Asked& one : {Asked{.first = 2, .tokens = 6},
                           {.first = 8, .tokens = 1},
                           {.first = 30, .tokens = 1},
                           {.first = 3, .tokens = 8},
                           {.first = 40, .tokens = 8, .spacing = 2}})
    sessions.add(one);
  if (SessionCall* made = axes_of(model.spec().encoding) > 1 ? sessions.add(row) : nullptr; made != nullptr)
    std::reverse(made->call.positions.begin() + made->tokens + 1, made->call.positions.end() - 1);
  sessions.add(row);
  sessions.add_exchanged(row, 0, 2, 6);
  const Asked rows{.first = 20, .tokens = 5, .rows = 2};
  sessions.add({.first = 3, .tokens = 1});
  sessions.add(rows);
  sessions.add_exchanged(rows, 1, 1, 2);
  if (const auto limit = limit_of_lengths(model)) sessions.add({.first = limit->beyond, .tokens = 4});
  auto made = std::move(sessions).made();
  return made.empty() ? std::vector<SessionCall>() : std::move(made.front());
}

std::vector<Call> steps_of_two_orders(const EncodingModel& model) {
  std::vector<Call> calls;
  if (!is_of<Attention>(model.spec())) return calls;
  constexpr std::int64_t tokens = 6;
  for (const std::int64_t queries : {1, 2}) {
    for (const std::int64_t number : {1, 2, 3}) {
      const Question question{.position = model.range().first + number, .tokens = tokens, .fill = number};
      if (!model.fits(question)) continue;
      calls.push_back(call_of(last_of(attention_case(model.spec(), question), queries), question.fill));
    }
  }
  return calls;
}

}  // namespace sextant::identify
