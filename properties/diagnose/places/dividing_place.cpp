// Over 400 lines: one list of what a place may be told by, and the search that divides vectors by it.
#include "properties/diagnose/places/dividing_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace sextant::identify {
namespace {

// A number that a vector has, and how places are called that are told by it.
struct PlaceFeature {
  std::function<std::int64_t(const JudgedVector&)> of;
  std::function<std::string(std::int64_t)> exactly;     // of this number
  std::function<std::string(std::int64_t)> from_there;  // of this number and greater ones; may be empty
  std::function<std::string(std::int64_t)> up_to;       // likewise
  std::string each;                                     // "token" in "every 8th token"; may be empty
  std::string in = "in ";                               // before such a place that another one is told of
  std::string of_none = {};                             // that place where the number is 0, if it is called otherwise
};

// Below these positions most of what is wrong at far ones is within its bound.
constexpr std::int64_t least_position_told = 16;

constexpr std::string_view last_vector = "the last vector of a call";
constexpr std::string_view last_head = "the last head";
constexpr std::string_view last_of_several = "the last of several heads";

// Positions are told in units of 1, of which a step is this part.
std::vector<PlaceFeature> features(double step) {
  using Number = std::int64_t;
  using Words = std::function<std::string(Number)>;
  // A number that is called by words of its own, and others.
  const auto words = [](std::string others, std::optional<Number> special = {}, std::string of_special = {}) -> Words {
    return [=](Number number) { return number == special ? of_special : fmt::format(fmt::runtime(others), number); };
  };
  const auto of_steps = [step](std::string others) -> Words {
    return [=](Number number) {
      return fmt::format(fmt::runtime(others), fmt::format("{:.10g}", static_cast<double>(number) * step));
    };
  };
  const auto of_border = [step](std::string others) -> Words {
    return [=](Number number) {
      return number < least_position_told
                 ? std::string()
                 : fmt::format(fmt::runtime(others), fmt::format("{:.10g}", static_cast<double>(number) * step));
    };
  };
  const auto only = [](Number special, std::string of_special) -> Words {
    return [=](Number number) { return number == special ? of_special : std::string(); };
  };
  const auto of_axis = [&](std::size_t axis, const std::string& name) -> PlaceFeature {
    return {[axis](const JudgedVector& v) { return v.coordinates[axis]; },
            words("cells whose " + name + " coordinate is {}", -1, ""),
            words("cells whose " + name + " coordinate is {} or more", -1, ""),
            {},
            ""};
  };
  return {
      {[](const JudgedVector& v) { return v.token; }, words("token {} of a call", 0, "the first token of a call"),
       words("tokens from number {} on", 1, "all tokens of a call but the first"), words("tokens up to number {}"),
       "token"},
      {[](const JudgedVector& v) { return v.tokens - 1 - v.token; },
       only(0, "the last token of a call"),
       {},
       {},
       "",
       "in ",
       "where it is the last of its call"},
      {[](const JudgedVector& v) { return v.head; }, words("head {}", 0, "the first head"),
       words("heads from {} on", 1, "all heads but the first"), words("heads up to {}"), "head"},
      {[](const JudgedVector& v) { return v.heads - 1 - v.head; },
       only(0, "the last head"),
       {},
       {},
       "",
       "in ",
       "where it is the last"},
      {[](const JudgedVector& v) { return v.heads > 1 ? v.heads - 1 - v.head : 1; },
       only(0, std::string(last_of_several)),
       {},
       {},
       "",
       "in ",
       "where it is the last of several"},
      {[](const JudgedVector& v) { return v.batch; },
       words("row {} of a batch", 0, "the first row of a batch"),
       words("rows of a batch from {} on", 1, "rows of a batch after the first"),
       {},
       ""},
      {[](const JudgedVector& v) { return v.batches - 1 - v.batch; },
       only(0, "the last row of a batch"),
       {},
       {},
       "",
       "in ",
       "where it is the last row of its batch"},
      {[](const JudgedVector& v) { return v.batches; }, words("calls of {} batch rows", 1, ""),
       words("calls of {} and more batch rows", 1, ""),
       words("calls of up to {} batch rows", 1, "calls of one batch row"), ""},
      {[](const JudgedVector& v) { return v.tokens; }, words("calls of {} tokens", 1, "calls of one token"),
       words("calls of {} and more tokens", 1, ""), words("calls of up to {} tokens", 1, ""), ""},
      {[](const JudgedVector& v) { return v.heads; }, words("calls of {} heads", 1, "calls of one head"),
       words("calls of {} and more heads", 1, ""), words("calls of up to {} heads", 1, ""), ""},
      {[](const JudgedVector& v) {
         return v.batches * v.tokens * v.heads - 1 - ((v.batch * v.tokens + v.token) * v.heads + v.head);
       },
       only(0, std::string(last_vector)),
       {},
       {},
       "",
       "in ",
       "where it is the last of its call's vectors"},
      {[](const JudgedVector& v) { return v.tokens % 2 == 0 && v.token == v.tokens / 2 ? 0 : 1; },
       only(0, "the token in the middle of an even number"),
       {},
       {},
       "",
       "in ",
       "where it is in the middle of an even number"},
      {[](const JudgedVector& v) {
         const std::int64_t number = (v.batch * v.tokens + v.token) * v.heads + v.head;
         return (v.batches * v.tokens * v.heads - 1 - number) / (v.batches * v.heads);
       },
       only(0, "the last of a call's vectors, as many as it has rows times heads,"),
       {},
       {},
       "",
       "in ",
       "where it is among the last of a call, as many as it has rows times heads"},
      of_axis(0, "first"),
      of_axis(1, "second"),
      of_axis(2, "third"),
      {[](const JudgedVector& v) { return v.coordinates[0] - v.coordinates[1]; },
       words("cells whose first coordinate is {} more than the second", 0, ""),
       {},
       {},
       ""},
      {[](const JudgedVector& v) { return v.fall; },
       {},
       words("calls whose positions fall by {} or more from token to token", 0, ""),
       {},
       ""},
      {[](const JudgedVector& v) { return v.grid_rows; },
       words("calls whose first grid has {} rows before another one", 0, ""),
       {},
       {},
       ""},
      {[](const JudgedVector& v) { return (v.batch * v.tokens + v.token) * v.heads + v.head; },
       {},
       words("vectors from number {} on, counted over rows, tokens and heads,", 0, ""),
       {},
       ""},
      {[](const JudgedVector& v) { return v.batches * v.tokens; },
       {},
       words("calls of {} and more tokens, counted over their rows,", 1, ""),
       {},
       ""},
      {[](const JudgedVector& v) { return v.batches * v.tokens * v.heads; },
       {},
       words("calls of {} and more vectors, counted over rows, tokens and heads,", 1, ""),
       {},
       ""},
      {[](const JudgedVector& v) { return v.tokens * v.heads; },
       {},
       words("calls of {} and more vectors in a batch row, counted over tokens and heads,", 1, ""),
       {},
       ""},
      {[](const JudgedVector& v) { return v.position; }, of_steps("position {}"), of_steps("positions from {} on"),
       only(-1, "negative positions"), "position", "at "},
      {[](const JudgedVector& v) { return v.row_first; },
       {},
       of_border("rows that begin at position {} or later"),
       {},
       ""},
      {[](const JudgedVector& v) { return v.row_least; },
       {},
       of_border("rows whose positions are all {} or more"),
       {},
       ""},
      {[](const JudgedVector& v) { return v.row_span; },
       {},
       of_border("rows whose least and greatest position are {} or more apart"),
       {},
       ""},
      {[](const JudgedVector& v) { return v.call_greatest; },
       of_border("calls whose greatest position is {}"),
       of_border("calls whose greatest position is {} or more"),
       {},
       ""},
      {[](const JudgedVector& v) { return v.row_least + v.row_span; },
       of_border("rows whose greatest position is {}"),
       {},
       {},
       ""},
  };
}

bool divides(const std::vector<JudgedVector>& vectors, Hidden hidden, const auto& holds) {
  return std::ranges::all_of(vectors, [&](const JudgedVector& vector) {
    return may_hide(vector, hidden) || vector.is_wrong == holds(vector);
  });
}

// " (right up to 7)", where the greatest of right numbers below a border is not the next one.
std::string gap_text(const std::vector<JudgedVector>& vectors, std::int64_t border, const auto& of, double step) {
  std::optional<std::int64_t> right;
  for (const JudgedVector& vector : vectors) {
    const std::int64_t number = of(vector);
    if (!vector.is_wrong && number < border && (!right || number > *right)) right = number;
  }
  return right && *right + 1 < border ? fmt::format(" (right up to {:.10g})", static_cast<double>(*right) * step)
                                      : std::string();
}

// The least number above `most` that a right one has.
std::optional<std::int64_t> next_right(const std::vector<JudgedVector>& vectors, std::int64_t most, const auto& of) {
  std::optional<std::int64_t> next;
  for (const JudgedVector& vector : vectors) {
    const std::int64_t number = of(vector);
    if (!vector.is_wrong && number > most && (!next || number < *next)) next = number;
  }
  return next;
}

std::string ordinal(std::int64_t number) {
  const bool is_teen = number / 10 % 10 == 1;
  const std::string_view ending = is_teen            ? "th"
                                  : number % 10 == 1 ? "st"
                                  : number % 10 == 2 ? "nd"
                                  : number % 10 == 3 ? "rd"
                                                     : "th";
  return fmt::format("{}{}", number, ending);
}

bool are_many(const std::string& words) {
  return words.starts_with("calls") || words.starts_with("cells") || words.starts_with("rows that") ||
         words.starts_with("rows whose");
}

// What a condition on values may look at.
struct SizeOf {
  std::string_view words;
  double JudgedVector::*size;
};
constexpr SizeOf sizes[] = {
    {"vectors whose greatest value is", &JudgedVector::size},
    {"vectors whose values sum up, without their signs, to", &JudgedVector::sum},
    {"tokens whose values sum up, over all heads and without their signs, to", &JudgedVector::token_sum}};

void add_sizes(std::vector<WrongPlace>& list, const std::vector<const JudgedVector*>& wrong) {
  const auto add = [&](const SizeOf& of, double size, std::string_view side, auto is_in, auto gap) {
    if (!(size > 0) || !std::isfinite(size)) return;
    std::string words = fmt::format("{} {:.3g} or {}", of.words, size, side);
    std::string where = "in " + words;
    list.push_back({std::move(words), std::move(where), true,
                    [member = of.size, is_in](const JudgedVector& vector) { return is_in(vector.*member); }});
    list.back().least_size = size;
    list.back().gap = gap;
  };
  for (const SizeOf& of : sizes) {
    const auto size_of_one = [&](const JudgedVector* vector) { return vector->*of.size; };
    const double least = size_of_one(*std::ranges::min_element(wrong, {}, size_of_one));
    add(
        of, least, "more", [least](double size) { return size >= least; },
        [least, member = of.size](const std::vector<JudgedVector>& of_place) {
          double right = 0;
          for (const JudgedVector& vector : of_place) {
            if (!vector.is_wrong && vector.*member < least) right = std::max(right, vector.*member);
          }
          return fmt::format(" (right up to {:.3g})", right);
        });
    const double most = size_of_one(*std::ranges::max_element(wrong, {}, size_of_one));
    const std::size_t before = list.size();
    add(
        of, most, "less", [most](double size) { return size <= most; },
        [most, member = of.size](const std::vector<JudgedVector>& of_place) {
          double right = HUGE_VAL;
          for (const JudgedVector& vector : of_place) {
            if (!vector.is_wrong && vector.*member > most) right = std::min(right, vector.*member);
          }
          return std::isfinite(right) ? fmt::format(" (right from {:.3g} on)", right) : std::string();
        });
    if (list.size() > before) list.back().is_of_count = true;
  }
}

// Places that hold all wrong vectors, the most special first.
std::vector<WrongPlace> places_of_wrong(const std::vector<JudgedVector>& vectors, double step_of_positions) {
  std::vector<const JudgedVector*> wrong;
  for (const JudgedVector& vector : vectors) {
    if (vector.is_wrong) wrong.push_back(&vector);
  }
  std::vector<WrongPlace> exact;
  std::vector<WrongPlace> bounded;
  std::vector<WrongPlace> repeated;
  for (const PlaceFeature& feature : features(step_of_positions)) {
    std::vector<std::int64_t> numbers;
    for (const JudgedVector* vector : wrong) numbers.push_back(feature.of(*vector));
    const auto [least, most] = std::ranges::minmax(numbers);
    const auto add = [&](std::vector<WrongPlace>& list, std::string words, bool is_many, auto is_in) {
      if (words.empty()) return;
      std::string where = feature.in + words;
      list.push_back({std::move(words), std::move(where), is_many,
                      [of = feature.of, is_in](const JudgedVector& vector) { return is_in(of(vector)); },
                      feature.each == "position"});
    };
    if (least == most && feature.exactly) {
      add(exact, feature.exactly(least), are_many(feature.exactly(least)),
          [number = least](std::int64_t other) { return other == number; });
      if (least == 0 && !feature.of_none.empty() && !exact.empty()) exact.back().where = feature.of_none;
      if (!exact.empty() && (exact.back().words == last_vector || exact.back().words == last_head ||
                             exact.back().words == last_of_several))
        exact.back().is_of_last = true;
      // With another place it parts by chance what few calls show.
      if (!exact.empty() && exact.back().words.find(" whose greatest position is ") != std::string::npos)
        exact.back().is_of_count = true;
    }
    const bool is_of_position = feature.each == "position";
    if (feature.from_there && !(is_of_position && least < least_position_told)) {
      const std::string words = feature.from_there(least);
      add(bounded, words, true, [number = least](std::int64_t other) { return other >= number; });
      if (!words.empty())
        bounded.back().gap = [least = least, of = feature.of, step = is_of_position ? step_of_positions : 1](
                                 const std::vector<JudgedVector>& of_place) {
          return gap_text(of_place, least, of, step);
        };
      if (is_of_position) bounded.back().first_position = least;
      if (words.starts_with("calls of") && words.ends_with("more tokens")) bounded.back().fewest_tokens = least;
      // A coordinate of 0 hides what is wrong of it; other bounds of coordinates, and counts over all, say enough.
      const bool is_of_coordinate = words.starts_with("cells") && least > 1;
      if (!words.empty()) bounded.back().is_of_count = is_of_coordinate || words.ends_with("tokens and heads,");
    }
    if (feature.up_to) {
      const std::string words = feature.up_to(most);
      // A count that is beyond all that are right says nothing.
      const bool is_of_calls = words.starts_with("calls of up");
      if (!is_of_calls || next_right(vectors, most, feature.of))
        add(bounded, words, true, [number = most](std::int64_t other) { return other <= number; });
      if (is_of_calls && !bounded.empty() && bounded.back().words == words)
        bounded.back().gap = [most = most, of = feature.of](const std::vector<JudgedVector>& of_place) {
          const auto next = next_right(of_place, most, of);
          return next && *next > most + 1 ? fmt::format(" (right from {} on)", *next) : std::string();
        };
    }
    std::int64_t step = 0;
    for (const std::int64_t number : numbers) step = std::gcd(step, number - least);
    constexpr std::size_t fewest = 3;
    if (feature.each.empty() || step < 2 || std::set(numbers.begin(), numbers.end()).size() < fewest) continue;
    const std::int64_t first = (least % step + step) % step;
    add(repeated,
        step == 2 ? fmt::format("{} {}s", first == 0 ? "even" : "odd", feature.each)
                  : fmt::format("every {} {} from number {} on", ordinal(step), feature.each, first),
        step == 2, [step, first](std::int64_t number) { return (number % step + step) % step == first; });
    repeated.back().is_repeated = true;
    if (is_of_position) repeated.back().positions_apart = step;
  }
  const auto [lowest, highest] = std::ranges::minmax(wrong | std::views::transform(&JudgedVector::position));
  if (lowest >= least_position_told && lowest < highest) {
    const auto of_steps = [&](std::int64_t position) { return static_cast<double>(position) * step_of_positions; };
    const std::string words = fmt::format("positions from {:.10g} to {:.10g}", of_steps(lowest), of_steps(highest));
    bounded.push_back(
        {words, "at " + words, true,
         [lowest, highest](const JudgedVector& v) { return v.position >= lowest && v.position <= highest; }, true});
    bounded.back().first_position = lowest;
    bounded.back().last_position = highest;
  }
  if (std::ranges::all_of(wrong, [](const JudgedVector* vector) { return vector->position < 0; }))
    bounded.push_back(
        {"negative positions", "at negative positions", true, [](const JudgedVector& v) { return v.position < 0; }});
  const std::int64_t first_wrong = std::ranges::min(wrong, {}, &JudgedVector::position)->position;
  const auto is_power = [first_wrong](const JudgedVector& v) {
    return v.position >= first_wrong && v.position > 0 && std::has_single_bit(static_cast<std::uint64_t>(v.position));
  };
  if (std::ranges::all_of(wrong, [&](const JudgedVector* vector) { return is_power(*vector); })) {
    const std::string words = fmt::format("positions that are powers of two from {} on", first_wrong);
    repeated.insert(repeated.begin(), {words, "at " + words, true, is_power, true});
  }
  const auto is_no_power = [](const JudgedVector& v) {
    return !std::has_single_bit(static_cast<std::uint64_t>(v.heads));
  };
  if (std::ranges::all_of(wrong, [&](const JudgedVector* vector) { return is_no_power(*vector); })) {
    bounded.push_back({"calls whose number of heads is no power of two",
                       "in calls whose number of heads is no power of two", true, is_no_power});
    bounded.back().is_of_trait = true;
  }
  struct CountOf {
    std::string_view what;
    std::int64_t JudgedVector::*number;
  };
  for (const auto& [what, number] :
       {CountOf{"batch rows", &JudgedVector::batches}, CountOf{"tokens", &JudgedVector::tokens},
        CountOf{"heads", &JudgedVector::heads}}) {
    for (const std::int64_t rest : {1, 0}) {
      const auto has = [number, rest](const JudgedVector& v) { return v.*number % 2 == rest; };
      if (!std::ranges::all_of(wrong, [&](const JudgedVector* vector) { return has(*vector); })) continue;
      const std::string words = fmt::format("calls of an {} number of {}", rest == 1 ? "odd" : "even", what);
      bounded.push_back({words, "in " + words, true, has});
      bounded.back().is_of_trait = true;
    }
  }
  // The rest that a loop over several at once leaves.
  for (const std::int64_t step : {2, 4, 8, 16, 32, 64}) {
    const auto are_all = [&](const auto& is_left) {
      return std::ranges::all_of(wrong, [&](const JudgedVector* vector) { return is_left(*vector); });
    };
    const auto is_token_left = [step](const JudgedVector& v) { return v.token >= v.tokens - v.tokens % step; };
    if (are_all(is_token_left))
      repeated.push_back({fmt::format("tokens after the last whole {} of a call", step),
                          fmt::format("after the last whole {} of its call", step), true, is_token_left});
    const auto is_row_left = [step](const JudgedVector& v) { return v.batch >= v.batches - v.batches % step; };
    if (are_all(is_row_left))
      repeated.push_back({fmt::format("rows of a batch after the last whole {}", step),
                          fmt::format("in rows of a batch after the last whole {}", step), true, is_row_left});
    const auto is_head_left = [step](const JudgedVector& v) { return v.head >= v.heads - v.heads % step; };
    if (are_all(is_head_left))
      repeated.push_back({fmt::format("heads after the last whole {}", step),
                          fmt::format("in heads after the last whole {}", step), true, is_head_left});
  }
  add_sizes(bounded, wrong);
  std::vector<WrongPlace> of_calls;
  Traits common = ~Traits{0};
  for (const JudgedVector* vector : wrong) common &= vector->traits;
  for (std::size_t i = 0; i < call_traits().size(); ++i) {
    const Traits bit = Traits{1} << i;
    if ((common & bit) == 0) continue;
    const auto& [words, where] = call_traits()[i];
    of_calls.push_back({words, where, true, [bit](const JudgedVector& v) { return (v.traits & bit) != 0; }});
    of_calls.back().is_of_trait = true;
  }
  std::vector<WrongPlace> all;
  for (std::vector<WrongPlace>* list : {&exact, &bounded, &of_calls, &repeated})
    std::ranges::move(*list, std::back_inserter(all));
  return all;
}

// "tokens at the position of the token before, in calls of 9 and more tokens,": what vectors are comes before where.
std::string words_of(std::vector<const WrongPlace*> places, const std::vector<JudgedVector>& vectors) {
  std::ranges::stable_sort(places, {}, [](const WrongPlace* one) {
    return one->words.starts_with("calls") || one->words.starts_with("batches") ? 1 : 0;
  });
  // Up to where others are right is said of those that have the other places; of numbers of heads, rows and positions,
  // of which another place may leave some out by itself, of all.
  const auto gap_of = [&](const WrongPlace* one) {
    if (!one->gap) return std::string();
    // Where the next number below is right, that the other place leaves it out says nothing.
    std::string of_all = one->gap(vectors);
    if (of_all.empty() || (!one->words.starts_with("calls") && !one->least_size)) return of_all;
    std::vector<JudgedVector> of_place;
    std::ranges::copy_if(vectors, std::back_inserter(of_place), [&](const JudgedVector& vector) {
      return std::ranges::all_of(places, [&](const WrongPlace* other) { return other == one || other->holds(vector); });
    });
    return one->gap(of_place);
  };
  std::string words;
  for (const WrongPlace* one : places) {
    const std::string part = (words.empty() ? one->words : one->where) + gap_of(one);
    words += words.empty() || words.ends_with(',') ? "" : ",";
    words += (words.empty() ? "" : " ") + part;
  }
  return words.ends_with(',') ? words : words + ",";
}

// The vectors that tell where a place ends.
std::vector<JudgedVector> telling(const std::vector<JudgedVector>& vectors, Hidden hidden) {
  std::vector<JudgedVector> list;
  std::ranges::copy_if(vectors, std::back_inserter(list),
                       [&](const JudgedVector& vector) { return !may_hide(vector, hidden); });
  return list;
}

WrongPlace with_gap(WrongPlace place, const std::vector<JudgedVector>& vectors, Hidden hidden) {
  if (!place.gap) return place;
  const std::string gap = place.gap(telling(vectors, hidden));
  place.words += gap;
  place.where += gap;
  return place;
}

// Several places together, where they have all wrong vectors and no right one.
std::optional<WrongPlace> together(const std::vector<JudgedVector>& vectors, std::vector<const WrongPlace*> places,
                                   Hidden hidden) {
  const auto all = [&](const JudgedVector& vector) {
    return std::ranges::all_of(places, [&](const WrongPlace* one) { return one->holds(vector); });
  };
  if (!divides(vectors, hidden, all)) return std::nullopt;
  std::vector<std::function<bool(const JudgedVector&)>> holds;
  WrongPlace place{.words = words_of(places, telling(vectors, hidden))};
  for (const WrongPlace* one : places) {
    holds.push_back(one->holds);
    if (!place.first_position) {
      place.first_position = one->first_position;
      place.last_position = one->last_position;
    }
    if (!place.positions_apart) place.positions_apart = one->positions_apart;
    if (!place.least_size) place.least_size = one->least_size;
  }
  const auto first =
      std::ranges::find_if(places, [&](const WrongPlace* one) { return place.words.starts_with(one->words); });
  place.is_many = (*first)->is_many;
  place.holds = [holds](const JudgedVector& vector) {
    return std::ranges::all_of(holds, [&](const auto& one) { return one(vector); });
  };
  return place;
}

// The first two that have them together, or, where calls are of a kind, three.
std::optional<WrongPlace> of_several(const std::vector<JudgedVector>& vectors, const std::vector<WrongPlace>& places,
                                     Hidden hidden, std::size_t count) {
  const auto fit = [](const WrongPlace& a, const WrongPlace& b) {
    const bool are_of_one = a.is_of_position && b.is_of_position && a.is_repeated == b.is_repeated;
    return !are_of_one && !(a.is_repeated && b.is_repeated) && (!a.is_of_count || b.is_of_last) &&
           (!b.is_of_count || a.is_of_last);
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = i + 1; j < places.size(); ++j) {
      if (!fit(places[i], places[j])) continue;
      if (count == 2) {
        if (auto both = together(vectors, {&places[i], &places[j]}, hidden)) return both;
        continue;
      }
      for (std::size_t k = j + 1; k < places.size(); ++k) {
        const bool is_of_a_kind = places[i].is_of_trait || places[j].is_of_trait || places[k].is_of_trait;
        if (!is_of_a_kind || !fit(places[i], places[k]) || !fit(places[j], places[k])) continue;
        if (auto all = together(vectors, {&places[i], &places[j], &places[k]}, hidden)) return all;
      }
    }
  }
  return std::nullopt;
}

// Whether two axes stand at one coordinate: what is turned by another axis is the same there.
bool has_axes_alike(const JudgedVector& vector) {
  const auto& axes = vector.coordinates;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[i] >= 0 && axes[i] == axes[j]) return true;
    }
  }
  return false;
}

}  // namespace

bool may_hide(const JudgedVector& vector, Hidden hidden) {
  if (vector.is_wrong) return false;
  if (hidden == Hidden::at_axes_alike) return vector.position != 0 && has_axes_alike(vector);
  return vector.position == 0 || has_axes_alike(vector) ||
         (hidden == Hidden::among_great_values && !vector.is_ordinary);
}

std::optional<WrongPlace> dividing_place(const std::vector<JudgedVector>& all,
                                         const std::function<bool(const JudgedVector&)>& counts, double step) {
  std::vector<JudgedVector> vectors;
  std::ranges::copy_if(all, std::back_inserter(vectors), counts);
  const std::vector<WrongPlace> places = places_of_wrong(vectors, step);
  // Where a vector at position 0 is wrong, those there that are right tell something too.
  const auto is_at_0 = [](const JudgedVector& vector) { return vector.position == 0; };
  const bool shows_at_0 =
      std::ranges::any_of(vectors, [&](const JudgedVector& vector) { return vector.is_wrong && is_at_0(vector); });
  if (shows_at_0) {
    for (const WrongPlace& place : places) {
      if (divides(vectors, Hidden::at_axes_alike, place.holds)) return with_gap(place, vectors, Hidden::at_axes_alike);
    }
    if (auto two = of_several(vectors, places, Hidden::at_axes_alike, 2)) return two;
  }
  const auto is_refuted_at_0 = [&](const WrongPlace& place) {
    return shows_at_0 && place.is_of_position && std::ranges::any_of(vectors, [&](const JudgedVector& vector) {
             return !vector.is_wrong && is_at_0(vector) && place.holds(vector);
           });
  };
  for (const Hidden hidden : {Hidden::at_0, Hidden::among_great_values}) {
    for (const WrongPlace& place : places) {
      if (divides(vectors, hidden, place.holds) && !is_refuted_at_0(place)) return with_gap(place, vectors, hidden);
    }
    if (auto two = of_several(vectors, places, hidden, 2)) return two;
  }
  if (auto three = of_several(vectors, places, Hidden::at_0, 3)) return three;
  return std::nullopt;
}

}  // namespace sextant::identify
