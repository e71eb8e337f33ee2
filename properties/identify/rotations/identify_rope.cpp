// Over 400 lines: one search, whose steps (structure, frequencies, rule, accuracy) each need what those before found.
#include "properties/identify/rotations/identify_rope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "lib/numeric/dtype.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/rotations/claimed_frequencies.hpp"
#include "properties/identify/rotations/float32_turns.hpp"
#include "properties/identify/rotations/positions_used.hpp"
#include "properties/identify/rotations/rope_rules.hpp"
#include "properties/identify/rotations/rotation_faults.hpp"
#include "properties/identify/rotations/rotation_layout.hpp"
#include "properties/identify/rotations/rounded_products.hpp"
#include "properties/identify/rotations/rounded_values.hpp"
#include "properties/identify/rotations/wrong_channels.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// The rows of a structure in the order of a layout's frequencies.
Rows in_order(const Rows& rows, const std::vector<std::size_t>& order) {
  Rows sorted;
  for (const auto& row : rows) {
    auto& one = sorted.emplace_back();
    for (const std::size_t pair : order) one.push_back(row[pair]);
  }
  return sorted;
}

// Whether the second column is the first turned by a quarter, in every row: each pair is turned as a whole.
bool is_rotation(const TurnedRows& rows, const Norm& norm) {
  for (std::size_t at = 0; at < rows.first.size(); ++at) {
    for (std::size_t i = 0; i < rows.first[at].size(); ++i) {
      const double apart =
          std::hypot(rows.first[at][i].sin - rows.second[at][i].sin, rows.first[at][i].cos - rows.second[at][i].cos);
      if (std::isfinite(apart) && apart > norm.size * norm.noise) return false;
    }
  }
  return true;
}

// The same with the two members of each pair written to each other's channels.
TurnedRows with_members_exchanged(const TurnedRows& rows) {
  TurnedRows exchanged = rows;
  for (std::size_t at = 0; at < rows.first.size(); ++at) {
    for (std::size_t i = 0; i < rows.first[at].size(); ++i) {
      const PairValues& first = rows.first[at][i];
      const PairValues& second = rows.second[at][i];
      exchanged.first[at][i] = {.sin = first.cos, .cos = first.sin};
      exchanged.second[at][i] = {.sin = -second.cos, .cos = -second.sin};
    }
  }
  return exchanged;
}

class RopeIdentifier {
 public:
  RopeIdentifier(CountedSession& session, const Spec& claim, const Rope& rope, ValueErrors errors)
      : session_(session), claim_(claim), rope_(rope), errors_(errors) {}

  Identification run() {
    structure_ = structure_of(session_, claim_, rope_);
    std::vector<RotationLayout> layouts = layouts_of(structure_, rope_);
    if (!layouts.empty()) {
      layout_ = layouts.front();
      for (const RotationLayout& other : std::span(layouts).subspan(1)) {
        if (other.order == layout_->order) others_.push_back(other.rope);
      }
    }
    describe_structure();
    if (structure_.pairs.empty()) {
      name_no_turning();
    } else {
      measure();
    }
    found_.calls = session_.calls();
    return std::move(found_);
  }

 private:
  void describe_structure() {
    if (!structure_.pairs.empty())
      found_.seen.push_back(fmt::format("{} pairs turn: {}", structure_.pairs.size(), pairs_text(structure_)));
    if (!structure_.kept.empty()) found_.seen.push_back(fmt::format("{} channels do not turn", structure_.kept.size()));
    if (!layout_) compare_pairs();
    if (!structure_.tangled.empty())
      found_.seen.push_back(fmt::format("{} channels are mixed otherwise than in pairs", structure_.tangled.size()));
  }

  // Of pairs of no known layout, the first that is not the claimed one.
  void compare_pairs() {
    if (const std::string words = words_of_unused(); !words.empty()) {
      found_.faults.emplace_back(words, DiagnosedStage::rotation);
      return;
    }
    // Channels that are mixed otherwise, or are nearly all lost, show no pairs.
    if (!structure_.tangled.empty() || std::ssize(structure_.lost) + 1 >= rope_.head_dim) return;
    if (!structure_.lost.empty())
      found_.faults.push_back(fmt::format("{} channels come back as zeros", structure_.lost.size()));
    for (std::int64_t i = 0; i < pairs(rope_); ++i) {
      const Channels claimed = channels_of_pair(rope_, rope_.pairing, i);
      const auto seen = std::ranges::find_if(structure_.pairs, [&](const TurnedPair& pair) {
        return pair.input.first == claimed.first || pair.input.second == claimed.first;
      });
      if (seen == structure_.pairs.end()) {
        found_.faults.push_back(fmt::format("channels {} and {} are claimed to turn together, and are not seen to",
                                            claimed.first, claimed.second));
        return;
      }
      if (seen->input.first == claimed.first && seen->input.second == claimed.second) continue;
      found_.faults.push_back(fmt::format("channels {} and {} turn together, where the claim has {} and {}",
                                          seen->input.first, seen->input.second, claimed.first, claimed.second));
      return;
    }
  }

  // Of pairs of which one member comes out in both, and the other one nowhere.
  std::string words_of_unused() {
    const auto is_in = [](const std::vector<std::int64_t>& channels, std::int64_t channel) {
      return std::ranges::find(channels, channel) != channels.end();
    };
    std::vector<std::int64_t> firsts;
    std::vector<std::int64_t> seconds;
    for (std::int64_t i = 0; i < pairs(rope_); ++i) {
      const Channels at = channels_of_pair(rope_, rope_.pairing, i);
      if (is_in(structure_.lost, at.first) && is_in(structure_.tangled, at.second)) firsts.push_back(i);
      if (is_in(structure_.tangled, at.first) && is_in(structure_.lost, at.second)) seconds.push_back(i);
    }
    const std::vector<std::int64_t>& unused = firsts.empty() ? seconds : firsts;
    if (unused.empty() || (!firsts.empty() && !seconds.empty())) return {};
    if (!come_out_without(unused, firsts.empty() ? &Channels::second : &Channels::first)) return {};
    const std::string_view member = firsts.empty() ? "second" : "first";
    if (unused.size() == 1) return fmt::format("the {} member of pair {} is not used", member, unused.front());
    if (std::ssize(unused) == pairs(rope_)) return fmt::format("the {} members of pairs are not used", member);
    return fmt::format("the {} members of pairs {} are not used", member, listed_numbers(unused));
  }

  // Whether an ordinary call has the same answer whatever these members are.
  bool come_out_without(const std::vector<std::int64_t>& of_pairs, std::int64_t Channels::*member) {
    const std::vector<std::int64_t> positions{1, std::min<std::int64_t>(5, claim_.max_position - 1), 2, 1, 3, 0};
    Tensor x = Tensor::zeros(claim_.dtype, {2, 3, 2, rope_.head_dim});
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, std::cos(static_cast<double>(i)));
    const Tensor with = rotate(session_, claim_, x, positions);
    for (std::int64_t start = 0; start < x.elements(); start += rope_.head_dim) {
      for (const std::int64_t pair : of_pairs) {
        const Channels at = channels_of_pair(rope_, rope_.pairing, pair);
        x.set(start + at.*member, std::sin(static_cast<double>(start + pair)) + 2);
      }
    }
    const Tensor without = rotate(session_, claim_, x, positions);
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      if (with.at(i) != without.at(i)) return false;
    }
    return true;
  }

  void name_no_turning() {
    if (!layout_) {
      found_.table.push_back("no channel turns, and they are not left as a rope of type none leaves them");
      return;
    }
    if (structure_.kept_factor != 1) {
      found_.faults.emplace_back(
          pairs(rope_) == 0 && are_multiplied(structure_.kept_factor)
              ? fmt::format("vectors come back {:.10g} times as long, where rope_type none leaves them as they are",
                            structure_.kept_factor)
              : std::string("channels are changed each by itself, not turned in pairs"));
      return;
    }
    found_.seen.emplace_back("nothing turns at any position asked");
    if (const std::string words = turned_in_larger_calls(); !words.empty()) {
      found_.faults = {Fault(words, DiagnosedStage::position)};
      found_.table.emplace_back("no channel turns in a call of one batch row and one head");
      return;
    }
    if (pairs(rope_) == 0) {
      if (std::string words = words_of_special_values(); !words.empty()) {
        found_.faults.emplace_back(std::move(words));
        return;
      }
    }
    found_.faults = layout_->faults;
    found_.spec = claim_;
    found_.spec->encoding = layout_->rope;
    judge();
    settle(Confidence::high);
  }

  // Ordinary vectors of several rows and heads, each value rounded once.
  bool are_multiplied(double factor) {
    Tensor x = Tensor::zeros(claim_.dtype, {2, 3, 2, rope_.head_dim});
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, std::cos(static_cast<double>(i)));
    const Tensor y = rotate(session_, claim_, x, std::vector<std::int64_t>{1, 2, 3, 5, 0, 1});
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      if (y.at(i) != round_to(claim_.dtype, factor * x.at(i))) return false;
    }
    return true;
  }

  // Of a claim that turns nothing, where ordinary vectors come back as they came.
  std::string words_of_special_values() {
    struct Special {
      double value;
      const char* words;
    };
    constexpr Special specials[] = {{-0.0, "zeros lose their sign: -0 comes back as 0"},
                                    {0.0, "zeros come back as -0"},
                                    {HUGE_VAL, "infinities come back as other numbers"},
                                    {-HUGE_VAL, "infinities come back as other numbers"}};
    for (const Special& special : specials) {
      Tensor x = Tensor::zeros(claim_.dtype, {1, 1, 1, rope_.head_dim});
      for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, special.value);
      const Tensor y = rotate(session_, claim_, x, std::vector<std::int64_t>{1});
      for (std::int64_t i = 0; i < y.elements(); ++i) {
        if (y.at(i) != x.at(i) || std::signbit(y.at(i)) != std::signbit(x.at(i))) return special.words;
      }
    }
    return {};
  }

  // What turns in a call of several batch rows and heads, of a subject that turns nothing in a call of one.
  std::string turned_in_larger_calls() {
    constexpr std::int64_t batches = 2;
    constexpr std::int64_t tokens = 3;
    constexpr std::int64_t heads = 3;
    const std::int64_t width = rope_.head_dim;
    Tensor x = Tensor::zeros(claim_.dtype, {batches, tokens, heads, width});
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, 1);
    const std::int64_t last = claim_.max_position - 1;
    const std::vector<std::int64_t> positions{1, std::min<std::int64_t>(5, last), 2, 3, 1, last};
    const Tensor y = rotate(session_, claim_, x, positions);
    const auto row_of = [&](std::int64_t vector) {
      std::vector<double> values;
      for (std::int64_t c = 0; c < width; ++c) values.push_back(y.at(vector * width + c));
      return values;
    };
    const auto kept = row_of(0);
    bool is_of_head = true;
    bool is_of_batch = true;
    bool is_still = true;
    for (std::int64_t vector = 0; vector < batches * tokens * heads; ++vector) {
      const auto row = row_of(vector);
      is_still = is_still && row == kept;
      is_of_head = is_of_head && row == row_of(vector % heads);
      is_of_batch = is_of_batch && row == row_of(vector / (tokens * heads) * tokens * heads);
    }
    if (is_still) return {};
    if (is_of_head) return "rotates over heads instead of tokens";
    if (is_of_batch) return "rotates over batch rows instead of tokens";
    Tensor one = Tensor::zeros(claim_.dtype, {1, 1, 1, width});
    for (std::int64_t i = 0; i < width; ++i) one.set(i, 1);
    const auto turns_alone = [&](std::int64_t position) {
      const Tensor turned = rotate(session_, claim_, one, std::vector<std::int64_t>{position});
      for (std::int64_t i = 0; i < width; ++i) {
        if (turned.at(i) != one.at(i)) return true;
      }
      return false;
    };
    if (turns_alone(positions.front())) {
      if (!turns_several({5, 6, 7}) && !turns_several({3, 1, 8}))
        return "a token is rotated in a call of its own, and in none of several";
      return "positions of a call of several tokens are not used as they are given";
    }
    if (turns_several({1, 2, 3})) return "positions of a call of several tokens are not used as they are given";
    // Low positions alone were asked in calls of one row and head.
    if (turns_alone(last))
      return fmt::format("low positions are not rotated, and {} is", position_grid_of(claim_.encoding).text(last));
    return "channels turn in a call of several batch rows and heads, and in none of one row and one head";
  }

  // Whether any vector of a call of one row and head comes back otherwise than it came.
  bool turns_several(const std::vector<std::int64_t>& positions) {
    const std::int64_t width = rope_.head_dim;
    if (std::ranges::max(positions) >= claim_.max_position) return false;
    Tensor x = Tensor::zeros(claim_.dtype, {1, std::ssize(positions), 1, width});
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, 1);
    const Tensor turned = rotate(session_, claim_, x, positions);
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      if (turned.at(i) != x.at(i)) return true;
    }
    return false;
  }

  void measure() {
    rows_ = turned_rows(session_, claim_, rope_, structure_.pairs, doubling_positions(claim_.max_position));
    keep_whole_positions();
    norm_ = norm_of(rows_.first, claim_.dtype);
    if (adds_the_vector(rows_.first, claim_.dtype)) {
      found_.faults.emplace_back("the vector itself is added to what it is turned to: y = x + R(x)",
                                 DiagnosedStage::rotation);
      return;
    }
    if (!norm_.range.holds(1) && are_normalized(session_, claim_, rope_)) {
      found_.faults.emplace_back("heads are normalized: results do not grow with them", DiagnosedStage::rotation);
      return;
    }
    // Where norms change by more, that is no noise.
    norm_.noise = std::min(norm_.noise, 0x1p-5);
    if (errors_ == ValueErrors::absolute) norm_.least = norm_.noise;
    if (!is_rotation(rows_, norm_)) {
      if (is_rotation(with_members_exchanged(rows_), norm_)) {
        // At position 0 a reflection leaves the first member in its channel, and an exchange moves it.
        const PairValues& first = rows_.first.front().front();
        found_.faults.emplace_back(
            std::fabs(first.cos) > std::fabs(first.sin)
                ? "pairs are reflected, not turned: what the second member adds has the other sign"
                : "the two members of a pair change places",
            DiagnosedStage::rotation);
        return;
      }
      if (layout_) {
        const TurnedRows rows{rows_.positions, in_order(rows_.first, layout_->order),
                              in_order(rows_.second, layout_->order)};
        if (auto words = table_of_members(rows, claim_.dtype, rope_)) {
          found_.faults.emplace_back(std::move(*words), DiagnosedStage::rotation);
          return;
        }
      }
      has_crossed_signs_ = have_crossed_signs();
      if (!has_crossed_signs_)
        found_.faults.push_back(vague("the two members of a pair are not turned alike", DiagnosedStage::rotation));
    }
    const Rows ordered = layout_ ? in_order(rows_.first, layout_->order) : rows_.first;
    take_offset(ordered);
    turns_ = measured_turns(rows_.positions, ordered, norm_);
    if (layout_ && !starts_turned_) {
      if (auto words = multiplied_beyond_half_turns(turns_, frequencies_of(rope_, rows_.positions.back() + 1))) {
        found_.faults.emplace_back(std::move(*words), DiagnosedStage::frequency);
        tell_pairs();
        return;
      }
    }
    take_direction();
    tell_crossed_signs();
    note_departures();
    if (layout_) name_rule();
    if (!found_.spec) tell_pairs();
  }

  // Whether pairs that are not turned as a whole are but for the sign of what one member gets from the other.
  bool have_crossed_signs() const {
    TurnedRows negated = rows_;
    for (auto& row : negated.second) {
      for (PairValues& pair : row) pair.sin = -pair.sin;
    }
    return is_rotation(negated, norm_);
  }

  // Directions are told of what the second member gets from the first, which is the one that has the claimed sign or
  // the one that has not.
  void tell_crossed_signs() {
    if (!has_crossed_signs_) return;
    const bool is_second = layout_ && layout_->rope.direction != rope_.direction;
    if (is_second) layout_->rope.direction = rope_.direction;
    found_.faults.emplace_back(
        is_second ? "what the second member of a pair gets from the first has the other sign"
                  : "what the first member of a pair gets from the second has the other sign: the minus of rotate_half "
                    "is left out",
        DiagnosedStage::rotation);
  }

  // Of positions of which the fractional ones are turned as 0 is, the whole ones are measured.
  void keep_whole_positions() {
    const auto fractions =
        static_cast<std::ptrdiff_t>(fractions_like_0(rows_.positions, rows_.first, rope_.positions.step));
    const auto drop = [&](auto& list) { list.erase(list.begin() + 1, list.begin() + 1 + fractions); };
    drop(rows_.positions);
    drop(rows_.first);
    drop(rows_.second);
  }

  // What position 0 is turned by: nothing, or all pairs by one offset of the positions.
  void take_offset(const Rows& rows) {
    starts_turned_ = is_turned(rows.front(), norm_);
    if (starts_turned_) found_.seen.emplace_back("position 0 is turned");
    if (starts_turned_) starts_at_ = rows.front();
  }

  void take_direction() {
    // Of pairs that are not seen to turn nothing is known, and nothing is told.
    const auto turned = [&](double sign) {
      return std::ranges::count_if(turns_,
                                   [&](const MeasuredTurn& turn) { return sign * turn.radians > turn.uncertainty; });
    };
    const auto forward = turned(1);
    const auto backward = turned(-1);
    const bool clockwise = forward == 0 && backward == 0 ? rope_.direction == Direction::clockwise : backward > forward;
    sign_ = clockwise ? -1 : 1;
    if (std::min(forward, backward) > 0) tell_other_ways();
    if (layout_) layout_->rope.direction = clockwise ? Direction::clockwise : Direction::counterclockwise;
    if (starts_turned_) take_start(clockwise ? Direction::clockwise : Direction::counterclockwise);
    for (MeasuredTurn& turn : turns_) turn.radians = std::fabs(turn.radians);
  }

  // Pairs that turn otherwise than most do, of turns that still have their signs. More than half a turn a position
  // looks like less the other way; powers of a base are at most a radian.
  void tell_other_ways() {
    std::vector<std::int64_t> others;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      if (-sign_ * turns_[i].radians > turns_[i].uncertainty) others.push_back(static_cast<std::int64_t>(i));
    }
    const bool are_slow =
        std::ranges::all_of(turns_, [](const MeasuredTurn& turn) { return std::fabs(turn.radians) < 1.5; });
    found_.faults.emplace_back(fmt::format("{} of {} pairs turn the other way{}{}", others.size(), turns_.size(),
                                           are_slow ? "" : ", or by more than half a turn a position",
                                           layout_ ? ": " + listed_numbers(others) : std::string()),
                               DiagnosedStage::rotation);
  }

  // What position 0 is turned by, of turns that still have their signs.
  void take_start(Direction direction) {
    const bool is_backward = direction != rope_.direction;
    const auto tell = [&](std::string words) {
      found_.faults.emplace_back(std::move(words), DiagnosedStage::position);
    };
    const double sign = rope_.direction == Direction::clockwise ? -1 : 1;
    const bool are_quarters = std::ranges::all_of(starts_at_, [&](const PairValues& value) {
      return std::fabs(value.cos) <= norm_.noise * std::fabs(value.sin) && sign * value.sin > 0;
    });
    if (are_quarters) {
      // (sin, cos) of an angle is a quarter turned less the angle.
      found_.faults.emplace_back(is_backward ? "cosines and sines are exchanged"
                                             : "every pair is turned by a quarter more than by its position",
                                 DiagnosedStage::table);
      if (is_backward && layout_) layout_->rope.direction = rope_.direction;
      return;
    }
    const auto place = place_of_0(starts_at_, turns_, norm_.noise);
    const auto tell_start = [&] {
      found_.faults.push_back(vague(turns_several({0}) ? "position 0 is turned"
                                                       : "position 0 is turned in a call of several tokens, and not in "
                                                         "one of its own",
                                    DiagnosedStage::position));
    };
    if (!place) {
      tell_start();
    } else if (const std::string words = words_of_place_from_end(*place, is_backward); !words.empty()) {
      if (is_backward && layout_) layout_->rope.direction = rope_.direction;
      tell(words);
    } else if (const auto far = place_of_far_start(); far == *place) {
      tell(fmt::format("positions are counted from the row's first, which is taken for {}", text_of(*place)));
    } else if (far != far_start() + *place) {
      tell_start();
    } else if (!is_backward || *place > 0) {
      tell(text_of(std::abs(*place)) == "1"
               ? fmt::format("one position off: position 0 is turned as {}", text_of(*place))
               : fmt::format("positions are {} off: position 0 is turned as {}", text_of(std::abs(*place)),
                             text_of(*place)));
    } else {
      // Turns of the other sign: phases are (n - p) times the claim's.
      if (layout_) layout_->rope.direction = rope_.direction;
      tell(-*place == rows_.positions.back()
               ? std::string("positions are counted from the call's last, which is taken for position 0")
               : fmt::format("positions are counted backwards: position p is turned as {} - p", text_of(-*place)));
    }
  }

  std::string text_of(std::int64_t count) const { return position_grid_of(claim_.encoding).text(count); }

  std::int64_t far_start() const { return std::min<std::int64_t>(1000, claim_.max_position - 1); }

  // What the first token of a call that begins far from 0 is turned as, of turns that have their signs.
  std::optional<std::int64_t> place_of_far_start() {
    std::vector<std::int64_t> positions(rows_.positions.size(), far_start());
    const Rows rows = turned_rows(session_, claim_, rope_, structure_.pairs, positions).first;
    return place_of_0(layout_ ? in_order(rows, layout_->order).front() : rows.front(), turns_, norm_.noise);
  }

  // Where position 0 is turned as minus the number of a call's tokens, or one more, in calls of other numbers too, of
  // turns that have their signs.
  std::string words_of_place_from_end(std::int64_t place, bool is_backward) {
    const std::int64_t off = std::ssize(rows_.positions) + place;
    if (off != 0 && off != 1) return {};
    std::vector<std::int64_t> fewer = rows_.positions;
    fewer.resize(fewer.size() / 2);
    const Rows rows = turned_rows(session_, claim_, rope_, structure_.pairs, fewer).first;
    const auto again = place_of_0(layout_ ? in_order(rows, layout_->order).front() : rows.front(), turns_, norm_.noise);
    if (!again || std::ssize(fewer) + *again != off) return {};
    const std::string_view from_end = "positions are counted from the call's end: p of n tokens is turned as";
    if (is_backward) return fmt::format("{} {} - p", from_end, off == 0 ? "n" : "n - 1");
    return fmt::format("{} p - {}", from_end, off == 0 ? "n" : "(n - 1)");
  }

  void note_departures() {
    std::int64_t first = INT64_MAX;
    for (const MeasuredTurn& turn : turns_) first = std::min(first, turn.departs.value_or(INT64_MAX));
    departs_ = first != INT64_MAX;
    if (departs_)
      found_.seen.push_back(fmt::format("phases are multiples of one frequency up to position {}", first / 2));
    double worst = 0;
    for (const MeasuredTurn& turn : turns_) worst = std::max(worst, turn.uncertainty / turn.radians);
    found_.seen.push_back(
        fmt::format("frequencies from {:.8g} to {:.8g} radians a position, each known to within {:.1e} of its value",
                    turns_.back().radians, turns_.front().radians, worst));
    if (!norm_.range.holds(1)) found_.seen.push_back(fmt::format("pairs are made {:.7g} times as long", norm_.size));
  }

  // Frequencies in a call of this length.
  FrequencyList list_of(std::int64_t length) {
    std::vector<std::int64_t> positions = doubling_positions(length);
    const std::size_t count = positions.size();
    positions.push_back(length - 1);
    TurnedRows rows = turned_rows(session_, claim_, rope_, structure_.pairs, positions);
    positions.resize(count);
    rows.first.resize(count);
    std::vector<MeasuredTurn> turns = measured_turns(positions, in_order(rows.first, layout_->order), norm_);
    for (MeasuredTurn& turn : turns) turn.radians = std::fabs(turn.radians);
    return {length, std::move(turns), norm_of(rows.first, claim_.dtype).range};
  }

  // The first pairs at a few positions in a call of this length: the same numbers where frequencies are the same.
  Rows early_rows(std::int64_t length) {
    return turned_rows(session_, claim_, rope_, structure_.pairs, {1, 2, 4, 7, std::max<std::int64_t>(length - 1, 7)})
        .first;
  }

  static bool is_same(const Rows& a, const Rows& b) {
    for (std::size_t at = 0; at + 1 < a.size(); ++at) {
      for (std::size_t i = 0; i < a[at].size(); ++i) {
        if (a[at][i].sin != b[at][i].sin || a[at][i].cos != b[at][i].cos) return false;
      }
    }
    return true;
  }

  RopeSeen seen_lists() {
    RopeSeen seen;
    seen.claimed = rope_.rope_scaling;
    const std::int64_t longest = rows_.positions.back() + 1;
    const Rows shortest = early_rows(8);
    const FrequencyList whole{longest, turns_, norm_.range};
    if (is_same(shortest, early_rows(longest))) {
      if (takes_tokens_for_length(shortest))
        found_.faults.push_back(
            is_unscaled_alone()
                ? Fault("the number of tokens in a call is taken for its length", DiagnosedStage::frequency)
                : vague("a call's length is not taken from its greatest position", DiagnosedStage::frequency));
      seen.lists.push_back(whole);
      return seen;
    }
    if (starts_by_rows(shortest, longest)) seen.scope = LengthScope::row;
    if (auto* dynamic = std::get_if<DynamicScaling>(&seen.claimed)) dynamic->length_scope = seen.scope;
    if (auto* longrope = std::get_if<LongropeScaling>(&seen.claimed)) longrope->length_scope = seen.scope;
    std::int64_t same = 8;
    std::int64_t other = longest;
    while (other - same > 1) {
      const std::int64_t middle = same + (other - same) / 2;
      (is_same(shortest, early_rows(middle)) ? same : other) = middle;
    }
    seen.switching_length = same;
    found_.seen.push_back(fmt::format("calls longer than {} have other frequencies", same));
    // Small changes begin to show some way beyond the length where they begin.
    seen.lists.push_back(list_of(std::max<std::int64_t>(same / 2, 2)));
    for (std::int64_t length = 2 * same; length < longest; length *= 2) {
      seen.lists.push_back(list_of(length));
      if (length + length / 2 < longest) seen.lists.push_back(list_of(length + length / 2));
    }
    seen.lists.push_back(whole);
    return seen;
  }

  // Whether a call of more tokens than the claim's border of lengths is turned in another way than one of few, at the
  // same low positions.
  bool takes_tokens_for_length(const Rows& shortest) {
    constexpr std::int64_t most = 8192;
    const auto limit = length_limit(rope_.rope_scaling);
    if (!limit || *limit > most) return false;
    std::vector<std::int64_t> positions(static_cast<std::size_t>(*limit + 2), 1);
    std::ranges::copy(std::vector<std::int64_t>{1, 2, 4, 7}, positions.begin());
    Rows many = turned_vectors(session_, claim_, rope_, structure_.pairs, positions, {});
    many.resize(shortest.size());
    return !is_same(shortest, many);
  }

  // Whether a call of one token beyond the claim's border of lengths is turned as one of few tokens that begins at 1
  // turns it: of a first position plus a number of tokens the two have other lengths.
  bool is_unscaled_alone() {
    const std::int64_t far = std::min(3 * *length_limit(rope_.rope_scaling), claim_.max_position - 1);
    const Rows alone = turned_vectors(session_, claim_, rope_, structure_.pairs, {far}, {});
    const Rows last = turned_vectors(session_, claim_, rope_, structure_.pairs, {1, 2, far}, {});
    return is_same({alone.front(), alone.front()}, {last.back(), last.back()});
  }

  // Whether a short row of a batch is turned as a short call is, beside a long one.
  bool starts_by_rows(const Rows& shortest, std::int64_t longest) {
    const Rows both = turned_vectors(session_, claim_, rope_, structure_.pairs, {1, 2, 4, 7, 1, 2, 4, longest - 1},
                                     {.batches = 2, .heads = 1});
    return is_same(shortest, {both[0], both[1], both[2], both[3], both[3]});
  }

  void name_rule() {
    const RopeSeen seen = seen_lists();
    std::vector<RuleFit> fits = fitting_rules(layout_->rope, seen);
    for (Rope other : others_) {
      other.direction = layout_->rope.direction;
      std::ranges::move(fitting_rules(other, seen), std::back_inserter(fits));
    }
    std::ranges::stable_sort(fits, {}, &RuleFit::digits);
    if (fits.empty()) {
      if (auto words = stepped_angles(rows_.first, norm_.noise)) {
        found_.faults.emplace_back(std::move(*words), DiagnosedStage::angle);
      } else if (auto other = different_frequencies(turns_, rope_, rows_.positions.back() + 1);
                 other && are_off_alike_elsewhere() && turn_so_alone()) {
        found_.faults.emplace_back(std::move(*other), DiagnosedStage::frequency);
      }
      return;
    }
    const RuleFit& best = fits.front();
    found_.spec = claim_;
    found_.spec->encoding = best.rope;
    for (const Fault& fault : layout_->faults) found_.faults.push_back(fault);
    if (!best.remark.empty()) found_.seen.push_back(best.remark);
    if (const std::string family = family_text(best.rope); !family.empty()) found_.equal.push_back(family);
    if (const auto words = words_of(best.format); !words.empty())
      found_.arithmetic.emplace_back(std::string(words), DiagnosedStage::frequency);
    narrow_ = dtype_of(best.format);
    int rival = INT_MAX;
    for (const RuleFit& fit : std::span(fits).subspan(1)) {
      if (fit.format != best.format) continue;
      rival = std::min(rival, fit.digits);
      Spec other = claim_;
      other.encoding = fit.rope;
      if (found_.equal.size() < 3 && fit.digits <= best.digits + 3) found_.equal.push_back(describe(other));
    }
    const bool known_positions = seen.lists.size() > 1 || starts_turned_ || check_positions();
    judge();
    if (!holds_ || found_.spec->accuracy != claim_.accuracy) {
      tell_reduction(best.rope);
      tell_lost_signs();
      tell_rounded_vectors();
    }
    tell_rounded_steps();
    const bool clear = best.is_pinned && rival > best.digits;
    settle(!known_positions ? Confidence::low : clear && !departs_ ? Confidence::high : Confidence::medium);
  }

  // Whether the frequencies are those of tokens in calls of their own too, in which no other token counts. Of a claim
  // with a rule that looks at lengths nothing is asked.
  bool turn_so_alone() {
    if (length_limit(rope_.rope_scaling)) return true;
    for (const std::int64_t position : {3, 11}) {
      if (position >= claim_.max_position) continue;
      const Rows alone = turned_rows(session_, claim_, rope_, structure_.pairs, {position}).first;
      const auto row = in_order(alone, layout_->order).front();
      for (std::size_t i = 0; i < turns_.size(); ++i) {
        const double angle = sign_ * turns_[i].radians * static_cast<double>(position);
        const double off =
            4 * norm_.noise + std::fabs(angle) * 0x1p-10 + turns_[i].uncertainty * static_cast<double>(position);
        if (off < 1 &&
            std::fabs(std::remainder(std::atan2(row[i].sin, row[i].cos) - angle, 2 * std::numbers::pi)) > off)
          return false;
      }
    }
    return true;
  }

  // Of a claim with a rule that looks at lengths: whether the same frequencies are off as much in calls of other
  // lengths, on either side of the rule's border.
  bool are_off_alike_elsewhere() {
    const auto limit = length_limit(rope_.rope_scaling);
    if (!limit) return true;
    const std::int64_t longest = rows_.positions.back() + 1;
    for (const std::int64_t length : {*limit / 2, *limit + *limit / 2, 3 * *limit, longest / 2}) {
      if (length < 16 || length >= longest) continue;
      const FrequencyList list = list_of(length);
      if (!are_off_alike(turns_, frequencies_of(rope_, longest), list.turns, frequencies_of(rope_, length)))
        return false;
    }
    return true;
  }

  bool check_positions() {
    std::vector<MeasuredTurn> turns = turns_;
    std::vector<TurnedPair> pairs;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      turns[i].radians *= sign_;
      pairs.push_back(structure_.pairs[layout_->order[i]]);
    }
    const PositionsUsed used =
        positions_used({.ask =
                            [&](const std::vector<std::int64_t>& positions, const AskedShape& asked) {
                              return turned_vectors(session_, claim_, rope_, pairs, positions, asked);
                            },
                        .shape = {2, errors_ == ValueErrors::absolute ? 3 : 8},
                        .long_call = errors_ == ValueErrors::absolute ? 0 : 260,
                        .first = claim_.min_position,
                        .end = claim_.max_position,
                        .step = rope_.positions.step},
                       {std::move(turns), norm_.noise});
    if (used.as_given) {
      // At powers of two an angle's rounding is that of its frequency.
      if (used.angles) found_.arithmetic.clear(), narrow_ = used.angles;
      if (!used.words.empty()) found_.arithmetic.emplace_back(used.words, DiagnosedStage::angle);
      return true;
    }
    // The tokens of earlier calls had other positions than they were given, which is all that is wrong with them.
    if (!used.words.empty())
      found_.faults = {used.is_vague ? vague(used.words, DiagnosedStage::position)
                                     : Fault(used.words, DiagnosedStage::position)};
    return !used.words.empty();
  }

  // The claim's own frequencies, with phases in the direction that most pairs turn.
  void tell_lost_signs() {
    Rows rows = in_order(rows_.first, layout_->order);
    for (auto& row : rows) {
      for (PairValues& value : row) value.sin *= sign_;
    }
    if (!have_no_signs(rows_.positions, rows, frequencies_of(rope_, rows_.positions.back() + 1), norm_.noise)) return;
    found_.arithmetic.clear();
    found_.faults = {Fault("the sign of sines is lost: pairs turn back beyond half a turn", DiagnosedStage::table)};
    found_.spec = claim_;
  }

  // Unit vectors are numbers of every format.
  void tell_rounded_vectors() {
    std::string words = words_of_rounded_vectors(session_, claim_, rope_, structure_.pairs, norm_.size);
    if (words.empty()) return;
    found_.arithmetic.clear();
    found_.faults = {Fault(std::move(words), DiagnosedStage::rounding)};
    found_.spec->accuracy = claim_.accuracy;
    found_.spec->evaluation = claim_.evaluation;
  }

  // A turn of another length than 2 pi, which is what is wrong with frequencies and angles that look rounded.
  void tell_reduction(const Rope& named) {
    Rows rows = in_order(rows_.first, layout_->order);
    for (auto& row : rows) {
      for (PairValues& value : row) value.sin *= sign_;
    }
    const std::vector<double> frequencies = frequencies_of(named, rows_.positions.back() + 1);
    if (const auto dtype = rounded_less_turns(rows_.positions, rows, frequencies, norm_.noise)) {
      found_.arithmetic = {
          Fault(fmt::format("angles are rounded to {} once whole turns are taken off them", sextant::name_of(*dtype)),
                DiagnosedStage::angle)};
      return;
    }
    const auto words = reduced_angles(rows_.positions, rows, frequencies, norm_.noise);
    if (!words) {
      std::string of_float32 = words_of_float32_turns(session_, *found_.spec);
      if (!of_float32.empty()) found_.arithmetic = {Fault(std::move(of_float32), DiagnosedStage::angle)};
      return;
    }
    found_.faults.clear();
    found_.arithmetic = {Fault(*words, DiagnosedStage::angle)};
  }

  // Against the named claim: its class, how near the bound, and whose bits.
  void judge() {
    FittedAnswers fitted = fitted_answers(session_, *found_.spec, narrow_);
    found_.spec = fitted.spec;
    found_.of_bound = fitted.of_bound;
    holds_ = fitted.hold;
    if (fitted.hold) found_.recipe = recipe_of(session_, fitted.spec);
  }

  // An evaluation that is not the claim's admits answers of which one step is rounded, or none at early positions.
  void tell_rounded_steps() {
    if (!holds_ || errors_ == ValueErrors::absolute) return;
    departs_ = told_rounded_steps(session_, claim_, found_) || departs_;
  }

  void settle(Confidence best) { found_.confidence = holds_ && found_.faults.empty() ? best : Confidence::low; }

  void tell_pairs() {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const TurnedPair& pair = structure_.pairs[layout_ ? layout_->order[i] : i];
      found_.table.push_back(fmt::format("channels {:>3} and {:>3}: {:.9g} +- {:.1e} radians a position",
                                         pair.input.first, pair.input.second, turns_[i].radians,
                                         turns_[i].uncertainty));
    }
    for (const Passthrough& channel : structure_.kept)
      found_.table.push_back(fmt::format("channel  {:>3}: written to {}, not turned", channel.input, channel.output));
    for (const std::int64_t channel : structure_.lost)
      found_.table.push_back(fmt::format("channel  {:>3}: lost", channel));
    for (const std::int64_t channel : structure_.tangled)
      found_.table.push_back(fmt::format("channel  {:>3}: mixed with others than a partner", channel));
  }

  CountedSession& session_;
  Spec claim_;
  Rope rope_;
  ValueErrors errors_;
  RotationStructure structure_;
  std::optional<RotationLayout> layout_;
  std::vector<Rope> others_;  // layouts of the same channels
  TurnedRows rows_;
  Norm norm_;
  std::vector<MeasuredTurn> turns_;  // in the layout's order, positive
  std::optional<Dtype> narrow_;      // of frequencies or angles, where it has 16 bits
  double sign_ = 1;
  std::vector<PairValues> starts_at_;  // what position 0 is turned to, where that is not itself
  bool starts_turned_ = false;
  bool has_crossed_signs_ = false;
  bool departs_ = false;
  bool holds_ = false;
  Identification found_;
};

}  // namespace

Identification identify_rope(CountedSession& session, const Spec& claim, const Rope& rope, ValueErrors errors) {
  return RopeIdentifier(session, claim, rope, errors).run();
}

}  // namespace sextant::identify
