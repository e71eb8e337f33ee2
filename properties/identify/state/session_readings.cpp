// Over 400 lines: one list of what a session may keep and by which key, each a few lines.

#include "properties/identify/state/session_readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "lib/spec/operation.hpp"
#include "properties/gen/position.hpp"
#include "properties/identify/rotations/other_lengths.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

using Before = std::span<const SessionCall>;
using Positions = std::vector<std::int64_t>;
using Key = std::vector<std::int64_t>;

// What a call's positions are taken for; nothing where for what they are.
using Moved = std::function<std::optional<Positions>(Before before, const SessionCall& now)>;

std::int64_t at(const SessionCall& call, std::int64_t axis, std::int64_t row, std::int64_t token) {
  return call.call.positions[index((axis * call.rows + row) * call.tokens + token)];
}

struct CacheKey {
  std::string words;
  std::function<Key(const SessionCall&)> of;
};

Key shape_of(const SessionCall& call) { return {call.rows, call.tokens, std::ssize(call.call.query_positions)}; }

// The positions of chosen tokens of chosen rows, on every axis, behind the shape.
CacheKey of_tokens(std::string words,
                   std::function<bool(const SessionCall&, std::int64_t row, std::int64_t token)> is) {
  return {std::move(words), [is = std::move(is)](const SessionCall& call) {
            Key key = shape_of(call);
            for (std::int64_t axis = 0; axis < call.axes(); ++axis) {
              for (std::int64_t row = 0; row < call.rows; ++row) {
                for (std::int64_t token = 0; token < call.tokens; ++token) {
                  if (is(call, row, token)) key.push_back(at(call, axis, row, token));
                }
              }
            }
            return key;
          }};
}

// Keys under which calls of one shape alone are the same, the smallest first.
std::vector<CacheKey> keys_with_shape(const Spec& claim) {
  const std::string shape = operation_of(claim.encoding) == Operation::bias ? "the numbers of queries and keys"
                                                                            : "the numbers of rows and tokens";
  const auto is_end = [](const SessionCall& call, std::int64_t token, std::int64_t count) {
    return token < count || token >= call.tokens - count;
  };
  std::vector<CacheKey> keys;
  keys.push_back({"their number", [](const SessionCall& call) { return Key{call.rows * call.tokens}; }});
  keys.push_back({shape, shape_of});
  keys.push_back(
      of_tokens("the first of them and " + shape,
                [](const SessionCall&, std::int64_t row, std::int64_t token) { return row == 0 && token == 0; }));
  if (operation_of(claim.encoding) == Operation::bias)
    keys.push_back({"the first query's, the first key's and " + shape, [](const SessionCall& call) {
                      Key key = shape_of(call);
                      if (!call.call.query_positions.empty()) key.push_back(call.call.query_positions.front());
                      key.push_back(call.call.positions.front());
                      return key;
                    }});
  keys.push_back(
      of_tokens("the last of them and " + shape, [](const SessionCall& call, std::int64_t row, std::int64_t token) {
        return row == call.rows - 1 && token == call.tokens - 1;
      }));
  keys.push_back({"the greatest of them and " + shape, [](const SessionCall& call) {
                    return Key{call.rows, call.tokens, call.greatest()};
                  }});
  keys.push_back({"the least and the greatest of them and " + shape, [](const SessionCall& call) {
                    return Key{call.rows, call.tokens, std::ranges::min(call.call.positions), call.greatest()};
                  }});
  keys.push_back(of_tokens("the first and the last of them and their number",
                           [](const SessionCall& call, std::int64_t row, std::int64_t token) {
                             const std::int64_t number = row * call.tokens + token;
                             return number == 0 || number == call.rows * call.tokens - 1;
                           }));
  keys.push_back(of_tokens(
      "the first and the last of each row and their number",
      [is_end](const SessionCall& call, std::int64_t, std::int64_t token) { return is_end(call, token, 1); }));
  keys.push_back(of_tokens("the first two and the last two of them and their number",
                           [](const SessionCall& call, std::int64_t row, std::int64_t token) {
                             const std::int64_t number = row * call.tokens + token;
                             return number < 2 || number >= call.rows * call.tokens - 2;
                           }));
  keys.push_back(of_tokens(
      "the first two and the last two of each row and their number",
      [is_end](const SessionCall& call, std::int64_t, std::int64_t token) { return is_end(call, token, 2); }));
  keys.push_back(of_tokens("those of the first row and the number of rows",
                           [](const SessionCall&, std::int64_t row, std::int64_t) { return row == 0; }));
  if (axes_of(claim.encoding) > 1)
    keys.push_back({"those of the first axis", [](const SessionCall& call) {
                      Key key = shape_of(call);
                      key.insert(key.end(), call.call.positions.begin(),
                                 call.call.positions.begin() + call.rows * call.tokens);
                      return key;
                    }});
  return keys;
}

// Whether each key has what it was first seen with, or what is kept is made anew where the key is another one.
enum class Slots { of_each_key, one };

const SessionCall* kept(Before before, const SessionCall& now, const CacheKey& key, Slots slots) {
  const Key own = key.of(now);
  const SessionCall* found = nullptr;
  Key last;
  for (const SessionCall& call : before) {
    const Key there = key.of(call);
    if (slots == Slots::of_each_key) {
      if (there == own) return &call;
    } else if (found == nullptr || there != last) {
      found = &call;
      last = there;
    }
  }
  return slots == Slots::one && found != nullptr && last == own ? found : nullptr;
}

// What is read behind the end of what is kept.
enum class Behind { own, last };

Positions by_index(const SessionCall& from, const SessionCall& now, Behind behind) {
  Positions positions = now.call.positions;
  for (std::int64_t i = 0; i < std::ssize(positions); ++i) {
    const std::int64_t axis = i / (now.rows * now.tokens);
    const std::int64_t row = std::min(i / now.tokens % now.rows, from.rows - 1);
    const std::int64_t token = i % now.tokens;
    if (token < from.tokens || behind == Behind::last)
      positions[index(i)] = at(from, axis, row, std::min(token, from.tokens - 1));
  }
  return positions;
}

class SessionReadings {
 public:
  explicit SessionReadings(const Spec& claim) : claim_(claim), range_(model_of(claim)->range()) {}

  std::vector<SessionReading> made() && {
    // A bias has its keys' positions beside its queries'.
    const bool is_bias = operation_of(claim_.encoding) == Operation::bias;
    if (axes_of(claim_.encoding) == 1 && !is_bias) {
      add_ends();
      add_counted_on();
    }
    add_lengths();
    add_whole_parts();
    if (!is_bias) add_first_of_all();
    for (const CacheKey& key : keys_with_shape(claim_)) add_key(key);
    if (!is_bias) {
      add_by_token();
      add_rows();
    }
    add_weights();
    return std::move(list_);
  }

 private:
  void add(std::string words, Moved moved) {
    list_.push_back(
        {std::move(words), DiagnosedStage::position,
         [claim = claim_, moved = std::move(moved)](Before before, const SessionCall& now) -> std::optional<TakenCall> {
           auto positions = moved(before, now);
           if (!positions || *positions == now.call.positions) return std::nullopt;
           TakenCall taken{claim, now.call};
           taken.call.positions = std::move(*positions);
           return taken;
         }});
  }

  // Who is meant where a call has one token.
  struct Who {
    std::string_view words;
    bool (*is)(const SessionCall&);
  };

  // A table that ends where earlier calls did: positions beyond are its last.
  void add_ends() {
    struct End {
      std::string_view words;
      // The greatest position that is there after these calls.
      std::int64_t (*of)(Before before);
    };
    const End ends[] = {{"the first call's", [](Before before) { return before.front().greatest(); }},
                        {"those of the first call and of earlier calls of several tokens",
                         [](Before before) {
                           std::int64_t end = before.front().greatest();
                           for (const SessionCall& call : before)
                             end = call.tokens > 1 ? std::max(end, call.greatest()) : end;
                           return end;
                         }},
                        {"those of the last call of several tokens", [](Before before) {
                           std::int64_t end = before.front().greatest();
                           for (const SessionCall& call : before) end = call.tokens > 1 ? call.greatest() : end;
                           return end;
                         }}};
    const Who everyone{"", [](const SessionCall&) { return true; }};
    const Who single{"in a call of one token ", [](const SessionCall& call) { return call.tokens == 1; }};
    for (const Who& who : {everyone, single}) {
      for (const End& end : ends) {
        add(fmt::format("{}positions beyond {} are taken for the greatest of them", who.words, end.words),
            [who, end](Before before, const SessionCall& now) -> std::optional<Positions> {
              if (before.empty() || !who.is(now)) return std::nullopt;
              Positions positions = now.call.positions;
              for (std::int64_t& one : positions) one = std::min(one, end.of(before));
              return positions;
            });
      }
    }
  }

  // Calls that go on where those before them ended.
  void add_counted_on() {
    using Place = std::optional<std::int64_t> (*)(Before before, std::int64_t own, const Who& who);
    struct CountedOn {
      std::string_view words;
      Place place;
    };
    const CountedOn readings[] = {
        {"has the position that follows the last call of several tokens and those of one token since, whatever its own",
         [](Before before, std::int64_t, const Who&) -> std::optional<std::int64_t> {
           std::int64_t next = 0;
           for (const SessionCall& call : before) next = call.tokens > 1 ? call.greatest() + 1 : next + 1;
           return next;
         }},
        {"has the position that follows the greatest of the call before it, whatever its own",
         [](Before before, std::int64_t, const Who&) -> std::optional<std::int64_t> {
           if (before.empty()) return std::nullopt;
           return before.back().greatest() + 1;
         }},
        {"has the position that follows the greatest of all earlier calls, whatever its own",
         [](Before before, std::int64_t, const Who&) -> std::optional<std::int64_t> {
           if (before.empty()) return std::nullopt;
           return furthest(before) + 1;
         }},
        {"has the position that follows the one before it, as that was answered, whatever its own",
         [](Before before, std::int64_t, const Who& who) -> std::optional<std::int64_t> {
           if (before.empty()) return std::nullopt;
           std::int64_t next = before.front().greatest() + 1;
           for (const SessionCall& call : before.subspan(1)) next = who.is(call) ? next + 1 : call.greatest() + 1;
           return next;
         }},
        {"that lies before the greatest position of earlier calls is taken to be there",
         [](Before before, std::int64_t own, const Who&) -> std::optional<std::int64_t> {
           if (before.empty()) return std::nullopt;
           return std::max(own, furthest(before));
         }},
        {"has as its position the number of tokens of earlier calls, whatever its own",
         [](Before before, std::int64_t, const Who&) -> std::optional<std::int64_t> {
           std::int64_t sum = 0;
           for (const SessionCall& call : before) sum += call.tokens;
           return sum;
         }}};
    const Who single{"a call of one token", [](const SessionCall& call) { return call.tokens == 1; }};
    const Who alone{"a call of one token in one row",
                    [](const SessionCall& call) { return call.tokens == 1 && call.rows == 1; }};
    for (const Who& who : {single, alone}) {
      for (const CountedOn& reading : readings) {
        add(fmt::format("{} {}", who.words, reading.words),
            [who, place = reading.place, last = range_.last - 1](Before before,
                                                                 const SessionCall& now) -> std::optional<Positions> {
              if (!who.is(now)) return std::nullopt;
              Positions positions = now.call.positions;
              for (std::int64_t& one : positions) one = std::min(place(before, one, who).value_or(one), last);
              return positions;
            });
      }
    }
    add_offsets();
  }

  static std::int64_t furthest(Before before) {
    std::int64_t most = before.front().greatest();
    for (const SessionCall& call : before) most = std::max(most, call.greatest());
    return most;
  }

  // By the number of tokens that came before.
  void add_offsets() {
    const auto tokens_of = [](Before before) {
      std::int64_t sum = 0;
      for (const SessionCall& call : before) sum += call.tokens;
      return sum;
    };
    const auto last = range_.last - 1;
    add("positions are moved on by the number of tokens of earlier calls",
        [tokens_of, last](Before before, const SessionCall& now) -> std::optional<Positions> {
          Positions positions = now.call.positions;
          for (std::int64_t& one : positions) one = std::min(one + tokens_of(before), last);
          return positions;
        });
    add("tokens are counted on from those of earlier calls, whatever their positions",
        [tokens_of, last](Before before, const SessionCall& now) -> std::optional<Positions> {
          if (before.empty()) return std::nullopt;
          Positions positions = now.call.positions;
          for (std::int64_t i = 0; i < std::ssize(positions); ++i)
            positions[index(i)] = std::min(tokens_of(before) + i % now.tokens, last);
          return positions;
        });
  }

  // The length that a scaling rule looks at, kept from an earlier call.
  void add_lengths() {
    const Rope* rope = rope_of(claim_);
    if (rope == nullptr || !length_limit(rope->rope_scaling)) return;
    const auto add_length = [&](std::string words, std::int64_t (*greatest)(Before before, const SessionCall& now)) {
      list_.push_back({std::move(words), DiagnosedStage::frequency,
                       [claim = claim_, greatest](Before before, const SessionCall& now) -> std::optional<TakenCall> {
                         const std::int64_t taken = greatest(before, now);
                         if (taken == now.greatest()) return std::nullopt;
                         const auto length = static_cast<double>(taken + 1);
                         return TakenCall{with_rope(claim, [&](Rope& one) { fix_length(one, length); }), now.call};
                       }});
    };
    add_length("the length of the longest call so far stays for shorter ones, whose frequencies are not made anew",
               [](Before before, const SessionCall& now) {
                 return before.empty() ? now.greatest() : std::max(furthest(before), now.greatest());
               });
    add_length("the length of a session's first call is kept for all calls", [](Before before, const SessionCall& now) {
      return before.empty() ? now.greatest() : before.front().greatest();
    });
  }

  // Real positions of one whole part.
  void add_whole_parts() {
    const double step = position_grid_of(claim_.encoding).step;
    if (step == 1) return;
    const auto whole = static_cast<std::int64_t>(1 / step);
    add("what is kept for a position is looked up by its whole part: the first one asked answers for all that share it",
        [whole](Before before, const SessionCall& now) -> std::optional<Positions> {
          std::map<std::int64_t, std::int64_t> first;
          const auto looked_up = [&](const SessionCall& call) {
            Positions positions = call.call.positions;
            for (std::int64_t& one : positions) {
              const std::int64_t part = (one >= 0 ? one : one - whole + 1) / whole;
              one = first.try_emplace(part, one).first->second;
            }
            return positions;
          };
          for (const SessionCall& call : before) looked_up(call);
          return looked_up(now);
        });
  }

  // Whatever the call: the first one's, by each token's index.
  void add_first_of_all() {
    const CacheKey any{"", [](const SessionCall&) { return Key(); }};
    const CacheKey first{"", [](const SessionCall& call) { return Key{call.call.positions.front()}; }};
    struct Which {
      std::string_view words;
      CacheKey key;
    };
    for (const Which& which :
         {Which{"a session's first call leaves its positions behind: tokens of later calls have those, by their index",
                any},
          Which{"positions are kept from the first call that begins at the same one: tokens of a later one have those, "
                "by their index",
                first}}) {
      for (const Behind behind : {Behind::own, Behind::last}) {
        add(fmt::format("{}{}", which.words, behind == Behind::own ? "" : ", and the last one behind their end"),
            [key = which.key, behind](Before before, const SessionCall& now) -> std::optional<Positions> {
              const SessionCall* from = kept(before, now, key, Slots::of_each_key);
              if (from == nullptr) return std::nullopt;
              return by_index(*from, now, behind);
            });
      }
    }
  }

  void add_key(const CacheKey& key) {
    const bool has_queries = operation_of(claim_.encoding) == Operation::bias;
    for (const Slots slots : {Slots::of_each_key, Slots::one}) {
      const auto words = [&](std::string_view whose) {
        return fmt::format(
            "what is kept of {}positions is looked up by {} alone: a call has those of {} that is alike "
            "in that",
            whose, key.words, slots == Slots::of_each_key ? "the first one" : "the one before it");
      };
      if (has_queries) {
        list_.push_back(
            {words("queries' and keys' "), DiagnosedStage::position,
             [claim = claim_, key, slots](Before before, const SessionCall& now) -> std::optional<TakenCall> {
               const SessionCall* from = kept(before, now, key, slots);
               if (from == nullptr || shape_of(*from) != shape_of(now)) return std::nullopt;
               TakenCall taken{claim, now.call};
               taken.call.positions = from->call.positions;
               taken.call.query_positions = from->call.query_positions;
               return taken;
             }});
      }
      add(words(has_queries ? "keys' " : ""),
          [key, slots](Before before, const SessionCall& now) -> std::optional<Positions> {
            const SessionCall* from = kept(before, now, key, slots);
            if (from == nullptr) return std::nullopt;
            return from->call.positions;
          });
    }
  }

  // A row of so many tokens is kept for each batch row.
  void add_by_token() {
    const CacheKey tokens{"", [](const SessionCall& call) { return Key{call.tokens}; }};
    add("what is kept of positions is looked up by the number of tokens alone, whatever the number of rows: a call has "
        "those of the first one of as many",
        [tokens](Before before, const SessionCall& now) -> std::optional<Positions> {
          const SessionCall* from = kept(before, now, tokens, Slots::of_each_key);
          if (from == nullptr) return std::nullopt;
          return by_index(*from, now, Behind::own);
        });
  }

  void add_rows() {
    add("batch rows beyond those of the call before have the first row's positions",
        [](Before before, const SessionCall& now) -> std::optional<Positions> {
          if (before.empty()) return std::nullopt;
          Positions positions = now.call.positions;
          for (std::int64_t i = 0; i < std::ssize(positions); ++i) {
            const std::int64_t axis = i / (now.rows * now.tokens);
            if (i / now.tokens % now.rows >= before.back().rows) positions[index(i)] = at(now, axis, 0, i % now.tokens);
          }
          return positions;
        });
  }

  // Weights of earlier calls.
  void add_weights() {
    const auto add_weight = [this](std::string words, bool (*is_same)(const Tensor& there, const Tensor& own)) {
      list_.push_back({std::move(words), DiagnosedStage::other,
                       [claim = claim_, is_same](Before before, const SessionCall& now) -> std::optional<TakenCall> {
                         if (!now.call.weight) return std::nullopt;
                         const auto from = std::ranges::find_if(before, [&](const SessionCall& call) {
                           return call.call.weight->shape == now.call.weight->shape &&
                                  is_same(*call.call.weight, *now.call.weight);
                         });
                         if (from == before.end()) return std::nullopt;
                         TakenCall taken{claim, now.call};
                         taken.call.weight = from->call.weight;
                         return taken;
                       }});
    };
    add_weight("the weight of a session's first call is kept for all",
               [](const Tensor&, const Tensor&) { return true; });
    add_weight("the weight is kept under its first value: one that begins alike is not read",
               [](const Tensor& there, const Tensor& own) { return there.at(0) == own.at(0); });
  }

  Spec claim_;
  gen::PositionRange range_;
  std::vector<SessionReading> list_;
};

}  // namespace

std::vector<SessionReading> session_readings(const Spec& claim) { return SessionReadings(claim).made(); }

}  // namespace sextant::identify
