// Over 400 lines: one search for a place, and what is said of the vectors there.
#include "properties/diagnose/places/wrong_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/diagnose/places/angles_there.hpp"
#include "properties/diagnose/places/dividing_place.hpp"
#include "properties/diagnose/places/judged_vectors.hpp"
#include "properties/diagnose/places/other_weights.hpp"
#include "properties/diagnose/places/positions_beyond.hpp"
#include "properties/diagnose/places/readings_of_places.hpp"
#include "properties/diagnose/places/taken_places.hpp"
#include "properties/diagnose/places/wrong_attention.hpp"
#include "properties/identify/codes/axis_formulas.hpp"
#include "properties/identify/codes/binary_digits.hpp"
#include "properties/identify/rotations/wrong_channels.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Where few positions are wrong, those that have their divisor or half of it: what comes again and again is no position
// of its own.
void ask_multiples(VectorJudge& judge) {
  std::set<std::int64_t> wrong;
  for (const JudgedVector& vector : judge.vectors()) {
    if (vector.is_wrong) wrong.insert(vector.position);
  }
  constexpr std::size_t few = 3;
  std::int64_t divisor = 0;
  for (const std::int64_t position : wrong) divisor = std::gcd(divisor, position);
  if (wrong.size() > few || divisor < 4) return;
  std::vector<std::int64_t> more;
  for (std::int64_t times = 1; times <= 9; ++times) more.push_back(times * divisor / 2);
  for (const std::int64_t times : {5, 6, 7, 8}) more.push_back(times * divisor);
  judge.ask_at(more);
}

// The same once positions that are told of are surely those: more are asked between the first wrong one and the right
// ones before, and beyond, or of those that come again and again.
std::optional<WrongPlace> confirmed_place(VectorJudge& judge, const std::function<bool(const JudgedVector&)>& counts) {
  ask_multiples(judge);
  judge.ask_further();
  std::optional<WrongPlace> place = dividing_place(judge.vectors(), counts, judge.step());
  // A size may part a few vectors by chance.
  for (int round = 0; round < 2 && place && place->least_size; ++round) {
    if (round == 0) judge.ask_scaled(*place->least_size);
    judge.ask_sizes(*place->least_size);
    place = dividing_place(judge.vectors(), counts, judge.step());
  }
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
    place = dividing_place(judge.vectors(), counts, judge.step());
    if (place && place->positions_apart == step) return place;
  }
  constexpr int most_rounds = 24;
  std::optional<std::array<std::int64_t, 4>> known;
  for (int round = 0; round < most_rounds && place && place->first_position; ++round) {
    const std::int64_t border = *place->first_position;
    const std::int64_t end = place->last_position.value_or(border);
    // Farther than twice the last one and more nothing is sought.
    const std::int64_t farthest = 4 * std::max<std::int64_t>(end, 16);
    std::int64_t right = -1;
    std::int64_t beyond = farthest;
    for (const JudgedVector& vector : judge.vectors()) {
      if (vector.is_wrong || !counts(vector)) continue;
      if (vector.position < border) right = std::max(right, vector.position);
      if (vector.position > end) beyond = std::min(beyond, vector.position);
    }
    if (known == std::array{right, border, end, beyond}) break;
    known = {right, border, end, beyond};
    std::vector<std::int64_t> more{border, border + 1, border + 2, border + 3, border + 5, 2 * border + 1};
    constexpr std::int64_t parts = 8;
    for (std::int64_t i = 1; i < parts; ++i) {
      more.push_back(right + (border - right) * i / parts);
      if (!place->last_position) continue;
      more.push_back(border + (end - border) * i / parts);
      more.push_back(end + (beyond - end) * i / parts);
    }
    judge.ask_at(more);
    const bool is_last = right + 1 == border && (!place->last_position || end + 1 == beyond);
    place = dividing_place(judge.vectors(), counts, judge.step());
    if (is_last) break;
  }
  return place;
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

std::string words_of_shift(std::int64_t shift, bool is_many) {
  const std::string_view verb = is_many ? "have the values of" : "has the value of";
  const std::string_view direction = shift < 0 ? "before" : "behind";
  if (shift == 1 || shift == -1) return fmt::format("{} the {} {}", verb, is_many ? "channels" : "channel", direction);
  return fmt::format("{} the {} {} {} {}", verb, is_many ? "channels" : "channel", std::abs(shift), "places",
                     direction);
}

// What values have in common, of those that were looked into: "are not rotated"; empty where they have nothing.
std::string common_text(const std::vector<const JudgedVector*>& looked_into, WrongValues JudgedVector::*values,
                        bool is_many) {
  if (looked_into.empty()) return {};
  const auto all = [&](const auto& is) {
    return std::ranges::all_of(looked_into, [&](const JudgedVector* vector) { return is(vector->*values); });
  };
  const std::string_view are = is_many ? "are" : "is";
  if (all([](const WrongValues& one) { return one.are_zero; }))
    return is_many ? "come back as zeros" : "comes back as zeros";
  if (all([](const WrongValues& one) { return one.are_given; })) return fmt::format("{} not rotated", are);
  const auto shift = (looked_into.front()->*values).of_channel;
  if (shift && all([&](const WrongValues& one) { return one.of_channel == shift; }))
    return words_of_shift(*shift, is_many);
  const auto rounded = (looked_into.front()->*values).rounded;
  if (rounded && all([&](const WrongValues& one) { return one.rounded == rounded; }))
    return fmt::format("{} results that are rounded to {}", is_many ? "have" : "has", name_of(*rounded));
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

// The same of positions that are rounded, wherever they may be: right ones that rounding changes, and no value shows,
// part them by chance where it takes two places together.
std::optional<WrongPlace> plain_place(VectorJudge& judge, const std::function<bool(const JudgedVector&)>& counts) {
  if (auto place = confirmed_place(judge, counts); place && place->words.find(", ") == std::string::npos) return place;
  return std::nullopt;
}

// The first of taken_places() which wrong vectors are the right ones of, as far as they were compared; and whether they
// are told of by the place that they have.
struct FoundElsewhere {
  enum class Where { at_place, everywhere };
  std::size_t number;
  std::optional<WrongPlace> place;
  Where where = Where::at_place;
};

// Whether as many positions are wrong, and off by as many different numbers, as tell the other place from others.
bool tells_apart(const VectorJudge& judge, const TakenPlace& other) {
  std::set<Place> positions;
  std::set<Place> moves;
  for (const JudgedVector& vector : judge.vectors()) {
    if (!vector.is_compared) continue;
    const AskedPlaces& asked = judge.places_of(vector);
    const auto taken = other.at(asked, vector.batch, vector.token);
    if (!taken) continue;
    Place move = asked.at(vector.batch, vector.token);
    positions.insert(move);
    for (std::size_t axis = 0; axis < move.size(); ++axis) move[axis] -= (*taken)[axis];
    moves.insert(move);
  }
  return positions.size() >= other.fewest_positions && moves.size() >= other.fewest_moves;
}

// What is right where the other place is a vector's own says nothing of it.
std::optional<FoundElsewhere> found_elsewhere(VectorJudge& judge, const std::optional<WrongPlace>& known) {
  PlaceSet common = PlaceSet().set();
  PlaceSet any;
  std::int64_t compared = 0;
  std::array<std::int64_t, PlaceSet().size()> times_right{};
  for (const JudgedVector& vector : judge.vectors()) {
    if (!vector.is_compared) continue;
    common &= vector.others.right | vector.others.unclaimed;
    any |= vector.others.right;
    for (std::size_t i = 0; i < times_right.size(); ++i) times_right[i] += vector.others.right[i] ? 1 : 0;
    ++compared;
  }
  common &= any;
  // Of one that is mostly beyond the claim little is known.
  for (std::size_t i = 0; i < times_right.size(); ++i) {
    if (2 * times_right[i] < compared) common.reset(i);
  }
  for (std::size_t i = 0; i < taken_places().size(); ++i) {
    if (common[i] && !tells_apart(judge, taken_places()[i])) common.reset(i);
  }
  if (common.none()) return std::nullopt;
  std::optional<FoundElsewhere> first;
  for (std::size_t i = 0; i < taken_places().size(); ++i) {
    if (!common[i]) continue;
    const auto counts = [&](const JudgedVector& vector) {
      if (vector.is_wrong) return true;
      const AskedPlaces& places = judge.places_of(vector);
      const auto other = taken_places()[i].at(places, vector.batch, vector.token);
      return other && *other != places.at(vector.batch, vector.token);
    };
    const bool is_rounded = taken_places()[i].fewest_positions > 1;
    const bool is_any_right = std::ranges::any_of(judge.vectors(), [&](const JudgedVector& vector) {
      return !may_hide(vector, Hidden::at_0) && !vector.is_wrong && counts(vector);
    });
    // Where all are wrong whose other place is not their own, that says where.
    if (!is_any_right) return FoundElsewhere{i, known, FoundElsewhere::Where::everywhere};
    if (auto place = is_rounded ? plain_place(judge, counts) : confirmed_place(judge, counts))
      return FoundElsewhere{i, std::move(place)};
    if (known && !is_rounded) return FoundElsewhere{i, known};
    // Fewer may be so by chance.
    constexpr std::int64_t enough = 4;
    if (!first && compared >= enough) first = FoundElsewhere{i, std::nullopt};
  }
  return first;
}

// Whether a vector has such a neighbour: what has none is no part of a rule that takes its place.
bool has_neighbour(const JudgedVector& vector, Neighbour which) {
  switch (which) {
    case Neighbour::token_before:
    case Neighbour::first_token: return vector.token > 0;
    case Neighbour::token_after: return vector.token + 1 < vector.tokens;
    case Neighbour::head_before:
    case Neighbour::first_head: return vector.head > 0;
    case Neighbour::head_after: return vector.head + 1 < vector.heads;
    case Neighbour::first_row: return vector.batch > 0;
  }
  return true;
}

// Which vector's right answer each wrong one is, and where, `known` if no place is nearer; empty where they have none
// in common.
std::string words_of_neighbour(VectorJudge& judge, const std::optional<WrongPlace>& known) {
  constexpr std::array<std::string_view, neighbours> names{
      "the token before",       "the token after",        "the head before",      "the head after",
      "the token's first head", "the call's first token", "the batch's first row"};
  std::bitset<neighbours> common = std::bitset<neighbours>().set();
  std::int64_t compared = 0;
  for (const JudgedVector& vector : judge.vectors()) {
    if (!vector.is_compared) continue;
    common &= vector.of_neighbours;
    ++compared;
  }
  if (compared == 0) return {};
  for (std::size_t i = 0; i < neighbours; ++i) {
    if (!common[i]) continue;
    std::optional<WrongPlace> place = known;
    if (!place) {
      place = confirmed_place(judge, [i](const JudgedVector& vector) {
        return vector.is_wrong || (has_neighbour(vector, static_cast<Neighbour>(i)) && !vector.like_neighbours[i]);
      });
    }
    if (!place) continue;
    return fmt::format("{} {} of {}, and the rest is right", place->words,
                       place->is_many ? "come back as those" : "comes back as that", names[i]);
  }
  return {};
}

std::string_view without_comma(std::string_view words) {
  if (words.ends_with(',')) words.remove_suffix(1);
  return words;
}

std::string told_of(const FoundElsewhere& found) {
  const TakenPlace& other = taken_places()[found.number];
  if (!found.place && found.where == FoundElsewhere::Where::everywhere)
    return fmt::format("tokens {}, and the rest is right", other.of_many);
  if (!found.place) return fmt::format("where values are wrong, tokens {}", other.of_many);
  std::string_view words = other.of_one.empty() || found.place->is_many ? other.of_many : other.of_one;
  constexpr std::string_view of_positions = "have positions that ";
  if (found.place->words.starts_with("positions") && words.starts_with(of_positions))
    words.remove_prefix(of_positions.size());
  return fmt::format("{} {}, and the rest is right", found.place->words, words);
}

// Whether no vector is right but those of which nothing follows, or nearly all that were asked are wrong, and none of
// several tells of a call that is right as a whole, or neither.
enum class Extent { all, nearly_all, some };

Extent extent_of(std::span<const JudgedVector> vectors) {
  struct Count {
    std::int64_t wrong = 0;
    std::int64_t telling = 0;
  };
  Count all;
  std::map<std::size_t, Count> of_calls;
  for (const JudgedVector& vector : vectors) {
    if (may_hide(vector, Hidden::among_great_values)) continue;
    for (Count* count : {&all, &of_calls[vector.call]}) {
      ++count->telling;
      if (vector.is_wrong) ++count->wrong;
    }
  }
  constexpr std::int64_t several = 4;
  const bool is_a_call_right = std::ranges::any_of(
      of_calls, [](const auto& of_call) { return of_call.second.wrong == 0 && of_call.second.telling >= several; });
  return all.wrong == all.telling                                ? Extent::all
         : 20 * all.wrong > 19 * all.telling && !is_a_call_right ? Extent::nearly_all
                                                                 : Extent::some;
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
  return fmt::format("{}{}{} {}, {}", place ? without_comma(place->words) : "", place ? ": " : "", channels->words, how,
                     rest);
}

// What makes the vectors of a place wrong, where that explains all of them that were compared.
std::optional<DiagnosedDifference> cause_there(const Subject& subject, const Spec& claim, const VectorJudge& judge,
                                               const WrongPlace& place) {
  if (std::string words = words_of_fields_left_out(claim, judge, place); !words.empty())
    return DiagnosedDifference{std::move(words), "", DiagnosedStage::other};
  // Channels that are 0 may be those of another position by chance, as digits are.
  const bool are_zeros = std::ranges::all_of(looked_into_of(judge.vectors()),
                                             [](const JudgedVector* one) { return one->values.are_zero; });
  if (are_zeros) return std::nullopt;
  if (std::string words = words_of_positions_beyond(claim, judge, place); !words.empty())
    return DiagnosedDifference{std::move(words), "I10", DiagnosedStage::position};
  if (std::string words = words_of_angles_there(subject, claim, place); !words.empty())
    return DiagnosedDifference{std::move(words), "", DiagnosedStage::position};
  if (const std::string words = words_of_weight_there(claim, judge.compared()); !words.empty())
    return DiagnosedDifference{fmt::format("{}: {}, and the rest is right", place.words, words), "",
                               DiagnosedStage::other};
  return std::nullopt;
}

// Which other formula the wrong codes that were compared have, each axis by itself.
std::string words_of_codes_there(const Spec& claim, const VectorJudge& judge) {
  std::vector<CodeRow> rows;
  for (const ComparedVector& one : judge.compared()) {
    CodeRow& row = rows.emplace_back();
    row.place = one.alone.positions;
    for (std::int64_t channel = 0; channel < one.got.elements(); ++channel) row.channels.push_back(one.got.at(channel));
  }
  std::string words = words_of_axis_formulas(claim, rows);
  return words.empty() ? words_of_digits(claim, rows) : words;
}

}  // namespace

std::optional<DiagnosedDifference> wrong_places(const Subject& subject, const Spec& claim, const Clues& clues) {
  if (is_of<Attention>(claim)) return wrong_attention(subject, claim, failing_questions(claim, clues));
  if (clues.proposer == nullptr) return std::nullopt;
  VectorJudge judge(subject, claim, *clues.proposer);
  judge.ask_ordinary();
  for (const Question& question : failing_questions(claim, clues)) judge.ask_around(question);
  const std::size_t usual = judge.vectors().size();
  judge.ask_first();
  if (std::ranges::none_of(judge.vectors(), &JudgedVector::is_wrong)) return std::nullopt;
  const Extent extent = extent_of(judge.vectors());
  std::optional<WrongPlace> place;
  if (extent != Extent::all) {
    place = confirmed_place(judge, [](const JudgedVector&) { return true; });
    if (place) {
      if (auto cause = cause_there(subject, claim, judge, *place)) return cause;
    }
    // Zeros, vectors as they came and multiples are told below.
    if (common_text(looked_into_of(judge.vectors()), &JudgedVector::whole, true).empty()) {
      if (const auto elsewhere = found_elsewhere(judge, place))
        return DiagnosedDifference{told_of(*elsewhere), "", DiagnosedStage::position};
      if (std::string words = words_of_neighbour(judge, place); !words.empty())
        return DiagnosedDifference{std::move(words), "", DiagnosedStage::other};
      if (std::string words = place ? words_of_codes_there(claim, judge) : std::string(); !words.empty())
        return DiagnosedDifference{fmt::format("{}: {}, and the rest is right", without_comma(place->words), words), "",
                                   DiagnosedStage::table};
      if (const auto reading = reading_of_wrong(subject, claim, judge)) {
        auto of_reading = confirmed_place(
            judge, [&](const JudgedVector& vector) { return vector.is_wrong || reading->differs(vector); });
        if (!of_reading) of_reading = place;
        if (of_reading)
          return DiagnosedDifference{
              fmt::format("{}: {}, and the rest is right", without_comma(of_reading->words), reading->words), "",
              reading->stage};
      }
    }
    // Accuracy's first calls have many places at which what is wrong elsewhere is right.
    if (!place && extent_of(std::span(judge.vectors()).first(usual)) == Extent::some) return std::nullopt;
  }
  const std::vector<const JudgedVector*> looked_into = looked_into_of(judge.vectors());
  if (extent == Extent::all && common_text(looked_into, &JudgedVector::whole, true).empty()) {
    if (const auto elsewhere = found_elsewhere(judge, std::nullopt);
        elsewhere && elsewhere->where == FoundElsewhere::Where::everywhere)
      return DiagnosedDifference{fmt::format("all tokens {}", taken_places()[elsewhere->number].of_many), "",
                                 DiagnosedStage::position};
  }
  if (looked_into.empty()) return std::nullopt;
  std::string words = told_of(claim, place, extent, looked_into);
  if (words.empty()) return std::nullopt;
  return DiagnosedDifference{std::move(words), "", DiagnosedStage::other};
}

}  // namespace sextant::identify
