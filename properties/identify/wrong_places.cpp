#include "properties/identify/wrong_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/engine/case.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/identify/judged_vectors.hpp"
#include "properties/identify/wrong_channels.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Vectors of which something is told: "the last token of a call", "heads from 4 on".
struct WrongPlace {
  std::string words;
  std::string where;     // the same of what else is told of: "where it is the last of its call", "in heads from 4 on"
  bool is_many = false;  // heads, not a head
  std::function<bool(const JudgedVector&)> holds;
  bool is_of_position = false;
  bool is_repeated = false;                          // every so many of them
  std::optional<std::int64_t> first_position = {};   // of those that hold all positions from there on
  std::optional<std::int64_t> positions_apart = {};  // of those that come again at these steps
};

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

std::vector<PlaceFeature> features() {
  using Number = std::int64_t;
  using Words = std::function<std::string(Number)>;
  // A number that is called by words of its own, and others.
  const auto words = [](std::string others, std::optional<Number> special = {}, std::string of_special = {}) -> Words {
    return [=](Number number) { return number == special ? of_special : fmt::format(fmt::runtime(others), number); };
  };
  const auto only = [](Number special, std::string of_special) -> Words {
    return [=](Number number) { return number == special ? of_special : std::string(); };
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
      {[](const JudgedVector& v) { return v.batch; },
       words("row {} of a batch", 0, "the first row of a batch"),
       words("rows of a batch from {} on", 1, "rows of a batch after the first"),
       {},
       ""},
      {[](const JudgedVector& v) { return v.batches; },
       {},
       words("calls of {} and more batch rows", 1, ""),
       only(1, "calls of one batch row"),
       ""},
      {[](const JudgedVector& v) { return v.tokens; },
       words("calls of {} tokens", 1, "calls of one token"),
       words("calls of {} and more tokens", 1, ""),
       {},
       ""},
      {[](const JudgedVector& v) { return v.heads; }, {}, words("calls of {} and more heads", 1, ""), {}, ""},
      {[](const JudgedVector& v) { return v.position; }, words("position {}"), words("positions from {} on"),
       only(-1, "negative positions"), "position", "at "},
  };
}

// Which right vectors tell nothing: those at position 0, where other angles are the same, and, of errors that do not
// grow with values, those of great ones too.
enum class Hidden { at_0, among_great_values };

bool may_hide(const JudgedVector& vector, Hidden hidden) {
  return !vector.is_wrong && (vector.position == 0 || (hidden == Hidden::among_great_values && !vector.is_ordinary));
}

bool divides(const std::vector<JudgedVector>& vectors, Hidden hidden, const auto& holds) {
  return std::ranges::all_of(vectors, [&](const JudgedVector& vector) {
    return may_hide(vector, hidden) || vector.is_wrong == holds(vector);
  });
}

// Below these positions most of what is wrong at far ones is within its bound.
constexpr std::int64_t least_position_told = 16;

// " (right up to 7)", where the greatest of right numbers below a border is not the next one.
std::string gap_text(const std::vector<JudgedVector>& vectors, std::int64_t border, const auto& of) {
  std::optional<std::int64_t> right;
  for (const JudgedVector& vector : vectors) {
    const std::int64_t number = of(vector);
    if (!vector.is_wrong && number < border && (!right || number > *right)) right = number;
  }
  return right && *right + 1 < border ? fmt::format(" (right up to {})", *right) : std::string();
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

// Places that hold all wrong vectors, the most special first.
std::vector<WrongPlace> places_of_wrong(const std::vector<JudgedVector>& vectors) {
  std::vector<const JudgedVector*> wrong;
  for (const JudgedVector& vector : vectors) {
    if (vector.is_wrong) wrong.push_back(&vector);
  }
  std::vector<WrongPlace> exact;
  std::vector<WrongPlace> bounded;
  std::vector<WrongPlace> repeated;
  for (const PlaceFeature& feature : features()) {
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
      add(exact, feature.exactly(least), feature.exactly(least).starts_with("calls"),
          [number = least](std::int64_t other) { return other == number; });
      if (least == 0 && !feature.of_none.empty() && !exact.empty()) exact.back().where = feature.of_none;
    }
    const bool is_of_position = feature.each == "position";
    if (feature.from_there && !(is_of_position && least < least_position_told)) {
      const std::string words = feature.from_there(least);
      add(bounded, words.empty() ? words : words + gap_text(vectors, least, feature.of), true,
          [number = least](std::int64_t other) { return other >= number; });
      if (is_of_position) bounded.back().first_position = least;
    }
    if (feature.up_to)
      add(bounded, feature.up_to(most), true, [number = most](std::int64_t other) { return other <= number; });
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
  const std::int64_t first_wrong = std::ranges::min(wrong, {}, &JudgedVector::position)->position;
  const auto is_power = [first_wrong](const JudgedVector& v) {
    return v.position >= first_wrong && v.position > 0 && std::has_single_bit(static_cast<std::uint64_t>(v.position));
  };
  if (std::ranges::all_of(wrong, [&](const JudgedVector* vector) { return is_power(*vector); })) {
    const std::string words = fmt::format("positions that are powers of two from {} on", first_wrong);
    repeated.insert(repeated.begin(), {words, "at " + words, true, is_power, true});
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
    const auto is_head_left = [step](const JudgedVector& v) { return v.head >= v.heads - v.heads % step; };
    if (are_all(is_head_left))
      repeated.push_back({fmt::format("heads after the last whole {}", step),
                          fmt::format("in heads after the last whole {}", step), true, is_head_left});
  }
  const double least = std::ranges::min(wrong, {}, &JudgedVector::size)->size;
  double right = 0;
  for (const JudgedVector& vector : vectors) {
    if (!vector.is_wrong && vector.size < least) right = std::max(right, vector.size);
  }
  if (least > 0 && std::isfinite(least)) {
    const std::string words =
        fmt::format("vectors whose greatest value is {:.3g} or more (right up to {:.3g})", least, right);
    bounded.push_back({words, "in " + words, true, [least](const JudgedVector& v) { return v.size >= least; }});
  }
  std::vector<WrongPlace> all;
  for (std::vector<WrongPlace>* list : {&exact, &bounded, &repeated}) std::ranges::move(*list, std::back_inserter(all));
  return all;
}

// The first place that has all wrong vectors and no right one, or the first two that have them together.
std::optional<WrongPlace> dividing_place(const std::vector<JudgedVector>& vectors) {
  const std::vector<WrongPlace> places = places_of_wrong(vectors);
  for (const Hidden hidden : {Hidden::at_0, Hidden::among_great_values}) {
    for (const WrongPlace& place : places) {
      if (divides(vectors, hidden, place.holds)) return place;
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t j = i + 1; j < places.size(); ++j) {
        const auto both = [one = places[i].holds, other = places[j].holds](const JudgedVector& vector) {
          return one(vector) && other(vector);
        };
        const bool are_of_one = places[i].is_of_position && places[j].is_of_position;
        if (are_of_one || (places[i].is_repeated && places[j].is_repeated) || !divides(vectors, hidden, both)) continue;
        return WrongPlace{fmt::format("{}, {},", places[i].words, places[j].where),
                          "",
                          places[i].is_many,
                          both,
                          false,
                          false,
                          places[i].first_position ? places[i].first_position : places[j].first_position,
                          places[i].positions_apart ? places[i].positions_apart : places[j].positions_apart};
      }
    }
  }
  return std::nullopt;
}

// The same once positions that are told of are surely those: more are asked between the first wrong one and the right
// ones before, and beyond, or of those that come again and again.
std::optional<WrongPlace> confirmed_place(VectorJudge& judge) {
  std::optional<WrongPlace> place = dividing_place(judge.vectors());
  constexpr int most_steps = 16;
  for (int round = 0; round < most_steps && place && place->positions_apart; ++round) {
    const std::int64_t step = *place->positions_apart;
    const std::int64_t wrong = std::ranges::find_if(judge.vectors(), &JudgedVector::is_wrong)->position;
    std::vector<std::int64_t> more{-wrong};
    for (const std::int64_t times : {-3, -2, -1, 1, 2, 3, 5, 8}) {
      more.push_back(wrong + times * step);
      more.push_back(wrong + times * step + 1);
    }
    for (const std::int64_t part : {2, 3, 5, 7}) more.push_back(wrong + step / part);
    judge.ask_at(more);
    place = dividing_place(judge.vectors());
    if (place && place->positions_apart == step) return place;
  }
  constexpr int most_rounds = 24;
  for (int round = 0; round < most_rounds && place && place->first_position; ++round) {
    const std::int64_t border = *place->first_position;
    std::int64_t right = -1;
    for (const JudgedVector& vector : judge.vectors()) {
      if (!vector.is_wrong && vector.position < border) right = std::max(right, vector.position);
    }
    std::vector<std::int64_t> more{border, border + 1, border + 2, border + 3, border + 5, 2 * border + 1};
    constexpr std::int64_t parts = 8;
    for (std::int64_t i = 1; i < parts; ++i) more.push_back(right + (border - right) * i / parts);
    judge.ask_at(more);
    const bool is_last = right + 1 == border;
    place = dividing_place(judge.vectors());
    if (is_last) break;
  }
  return place;
}

std::vector<Question> questions_of(const Spec& claim, const std::vector<std::string>& tokens) {
  const auto accuracy = property_named("accuracy");
  std::vector<Question> questions;
  for (const std::string& token : tokens)
    questions.push_back(values_of(model_of(claim)->question_fields(), read_token(token, accuracy->fields(claim))));
  return questions;
}

// Those whose channels are known, the ordinary ones where there are any.
std::vector<const JudgedVector*> looked_into_of(const std::vector<JudgedVector>& vectors) {
  std::vector<const JudgedVector*> looked_into;
  for (const bool are_ordinary : {true, false}) {
    for (const JudgedVector& vector : vectors) {
      if (!vector.wrong_channels.empty() && vector.is_ordinary == are_ordinary) looked_into.push_back(&vector);
    }
    if (!looked_into.empty()) break;
  }
  return looked_into;
}

// What values have in common, of those that were looked into: "are not rotated"; empty where they have nothing.
std::string common_text(const std::vector<const JudgedVector*>& looked_into, WrongValues JudgedVector::*values,
                        bool is_many) {
  const auto all = [&](const auto& is) {
    return std::ranges::all_of(looked_into, [&](const JudgedVector* vector) { return is(vector->*values); });
  };
  const std::string_view are = is_many ? "are" : "is";
  if (all([](const WrongValues& one) { return one.are_zero; }))
    return is_many ? "come back as zeros" : "comes back as zeros";
  if (all([](const WrongValues& one) { return one.are_given; })) return fmt::format("{} not rotated", are);
  const auto times = (looked_into.front()->*values).times;
  if (!times || !all([&](const WrongValues& one) { return one.times == times; })) return {};
  if (*times == -1) return is_many ? "have the other sign" : "has the other sign";
  return fmt::format("{} {:.6g} times what {} should be", are, *times, is_many ? "they" : "it");
}

// The channels that any wrong vector has wrong, where each has half of them at least: a small error beside a great
// value is within its bound.
std::optional<NamedChannels> common_channels(const Spec& claim, const std::vector<const JudgedVector*>& looked_into) {
  std::set<std::int64_t> any;
  for (const JudgedVector* one : looked_into) any.insert(one->wrong_channels.begin(), one->wrong_channels.end());
  const bool are_ordinary = std::ranges::all_of(looked_into, [](const JudgedVector* one) { return one->is_ordinary; });
  const bool have_most = are_ordinary && std::ranges::all_of(looked_into, [&](const JudgedVector* one) {
                           return 2 * one->wrong_channels.size() >= any.size();
                         });
  if (!have_most) return std::nullopt;
  return named_channels(claim, {any.begin(), any.end()});
}

// Whether no vector is right but those of which nothing follows, or nearly all that were asked are wrong, or neither.
enum class Extent { all, nearly_all, some };

Extent extent_of(const std::vector<JudgedVector>& vectors) {
  std::int64_t wrong = 0;
  std::int64_t telling = 0;
  for (const JudgedVector& vector : vectors) {
    if (may_hide(vector, Hidden::among_great_values)) continue;
    ++telling;
    if (vector.is_wrong) ++wrong;
  }
  return wrong == telling ? Extent::all : 20 * wrong > 19 * telling ? Extent::nearly_all : Extent::some;
}

std::string told_of(const Spec& claim, const std::optional<WrongPlace>& place, Extent extent,
                    const std::vector<const JudgedVector*>& looked_into) {
  constexpr std::string_view rest = "and the rest is right";
  const bool are_many = !place || place->is_many;
  const std::string whole = common_text(looked_into, &JudgedVector::whole, are_many);
  if (place && !whole.empty()) return fmt::format("{} {}, {}", place->words, whole, rest);
  if (!place && extent == Extent::all && !whole.empty()) return "all values " + whole;
  const auto channels = common_channels(claim, looked_into);
  if (!channels || channels->words.empty())
    return place ? fmt::format("{} {} wrong, {}", place->words, place->is_many ? "are" : "is", rest) : std::string();
  std::string how = common_text(looked_into, &JudgedVector::values, channels->are_many);
  if (how.empty()) how = channels->are_many ? "are wrong" : "is wrong";
  const std::string_view after = !place ? "" : place->words.ends_with(',') ? " " : ": ";
  return fmt::format("{}{}{} {}, {}", place ? place->words : "", after, channels->words, how, rest);
}

}  // namespace

std::optional<DiagnosedDifference> wrong_places(const Subject& subject, const Spec& claim, const Clues& clues) {
  if (clues.proposer == nullptr) return std::nullopt;
  VectorJudge judge(subject, claim, *clues.proposer);
  judge.ask_ordinary();
  for (const Question& question : questions_of(claim, clues.failing)) judge.ask_around(question);
  if (std::ranges::none_of(judge.vectors(), &JudgedVector::is_wrong)) return std::nullopt;
  const Extent extent = extent_of(judge.vectors());
  std::optional<WrongPlace> place;
  if (extent != Extent::all) {
    place = confirmed_place(judge);
    if (!place && extent == Extent::some) return std::nullopt;
  }
  const std::vector<const JudgedVector*> looked_into = looked_into_of(judge.vectors());
  if (looked_into.empty()) return std::nullopt;
  std::string words = told_of(claim, place, extent, looked_into);
  if (words.empty()) return std::nullopt;
  return DiagnosedDifference{std::move(words), "", DiagnosedStage::other};
}

}  // namespace sextant::identify
