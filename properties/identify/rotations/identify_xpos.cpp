#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/rotations/identify_rope.hpp"
#include "properties/identify/rotations/other_lengths.hpp"
#include "properties/identify/rotations/positions_used.hpp"
#include "properties/identify/rotations/rope_rules.hpp"
#include "properties/identify/rotations/rotation_layout.hpp"

namespace sextant::identify {
namespace {

// Of values with this exponent or less precision is lost, or they overflow, before long.
int most_exponent(Dtype dtype) { return dtype == Dtype::float16 ? 8 : 60; }

class XposIdentifier {
 public:
  XposIdentifier(CountedSession& session, const Spec& claim, const Xpos& xpos)
      : session_(session), claim_(claim), xpos_(xpos), rope_claim_(claim) {
    rope_claim_.encoding = xpos.rope;
  }

  Identification run() {
    // What scales pairs need not be 1 anywhere, so that channels that do not turn may still be scaled.
    const RotationStructure structure = structure_of(session_, rope_claim_, xpos_.rope);
    std::vector<RotationLayout> layouts = layouts_of(structure, xpos_.rope);
    if (layouts.empty() || structure.pairs.empty()) {
      found_.table.push_back(
          fmt::format("{} pairs turn, in no known layout: {}", structure.pairs.size(), pairs_text(structure)));
    } else {
      rope_ = layouts.front().rope;
      for (const std::size_t pair : layouts.front().order) pairs_.push_back(structure.pairs[pair]);
      found_.seen.push_back(fmt::format("{} pairs turn: {}", structure.pairs.size(), pairs_text(structure)));
      measure();
    }
    found_.calls = session_.calls();
    return std::move(found_);
  }

 private:
  // (1, 0) of each pair at positions below `length`, the last of them among them.
  Rows rows_at(std::vector<std::int64_t> positions) {
    return turned_rows(session_, rope_claim_, xpos_.rope, pairs_, positions).first;
  }

  static double size_of(const PairValues& value) { return std::hypot(value.sin, value.cos); }

  bool is_usable(const std::vector<PairValues>& row) const {
    const double most = std::ldexp(1, most_exponent(claim_.dtype));
    return std::ranges::all_of(
        row, [&](const PairValues& value) { return size_of(value) >= 1 / most && size_of(value) <= most; });
  }

  void measure() {
    // As far as sizes are held: the longest call of which all are.
    std::vector<std::int64_t> positions = doubling_positions(claim_.max_position);
    Rows rows;
    while (positions.size() > 4) {
      rows = rows_at(positions);
      if (std::ranges::all_of(rows, [&](const auto& row) { return is_usable(row); })) break;
      positions.pop_back();
    }
    last_ = positions.back();
    take_scales(rows);
    if (!found_.table.empty()) return;
    take_centre();
    for (auto& row : rows) {
      for (PairValues& value : row) {
        const double size = size_of(value);
        value = {.sin = value.sin / size, .cos = value.cos / size};
      }
    }
    const Norm norm = norm_of(rows, claim_.dtype);
    if (is_turned(rows.front(), norm)) found_.faults.emplace_back("position 0 is turned");
    turns_ = measured_turns(positions, rows, norm);
    const auto backward = std::ranges::count_if(turns_, [](const MeasuredTurn& turn) { return turn.radians < 0; });
    rope_.direction = 2 * backward > std::ssize(turns_) ? Direction::clockwise : Direction::counterclockwise;
    for (MeasuredTurn& turn : turns_) turn.radians = std::fabs(turn.radians);
    const std::vector<RuleFit> fits = fitting_rules(rope_, {.lists = {{last_ + 1, turns_, norm.range}},
                                                            .switching_length = std::nullopt,
                                                            .claimed = xpos_.rope.rope_scaling});
    if (fits.empty()) {
      tell_pairs();
      return;
    }
    const RuleFit& best = fits.front();
    xpos_.rope = best.rope;
    if (const auto words = words_of(best.format); !words.empty())
      found_.arithmetic.emplace_back(std::string(words), DiagnosedStage::frequency);
    found_.spec = claim_;
    found_.spec->encoding = xpos_;
    const FittedAnswers fitted = fitted_answers(session_, *found_.spec);
    found_.spec = fitted.spec;
    found_.of_bound = fitted.of_bound;
    if (!fitted.hold)
      found_.faults.push_back(
          counts_lengths_from_start()
              ? Fault("lengths are counted from the call's start: its first position is taken for 0")
              : misfit("not every value is as near to it as its accuracy class claims"));
    const bool is_clear = best.is_pinned && is_pinned_ && (fits.size() < 2 || fits[1].digits > best.digits);
    found_.confidence = !found_.faults.empty() ? Confidence::low : is_clear ? Confidence::high : Confidence::medium;
  }

  double log_zeta(std::size_t pair) const {
    const auto n = static_cast<double>(rotary_width(rope_));
    return std::log((2 * static_cast<double>(pair) / n + 0.4) / 1.4);
  }

  // |ln size| grows by |ln zeta_i| / scale_base a position, whose quotient by |ln zeta_i| is the same of all pairs.
  void take_scales(const Rows& rows) {
    const double off = 4 * std::ldexp(1, -format_of(claim_.dtype).precision);
    Range bases{0, HUGE_VAL};
    std::optional<double> sign;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const double grown = std::log(size_of(rows.back()[i]) / size_of(rows.front()[i]));
      const double expected = log_zeta(i) * static_cast<double>(last_);
      // Of a pair whose zeta is near 1 nothing is seen.
      if (std::fabs(grown) <= 4 * off) continue;
      if (!sign) sign = grown * expected > 0 ? 1 : -1;
      if (grown * expected * *sign < 0) bases = {1, 0};
      bases = common(bases,
                     {std::fabs(expected) / (std::fabs(grown) + off), std::fabs(expected) / (std::fabs(grown) - off)});
    }
    if (!sign) {
      found_.table.emplace_back("pairs keep their length at every position: a rope, not an xPos");
      return;
    }
    if (bases.is_empty()) {
      if (const auto gamma = other_gamma(rows, off))
        found_.faults.emplace_back(
            fmt::format("scales are powers of (2i/n + {0:g}) / {1:g}, where the claim has 0.4: "
                        "gamma {0:g}",
                        *gamma, 1 + *gamma));
      found_.table.emplace_back("lengths do not grow as powers of zeta_i = (2i/n + 0.4) / 1.4");
      for (std::size_t i = 0; i < pairs_.size(); ++i)
        found_.table.push_back(fmt::format("channels {:>3} and {:>3}: {:.7g} times as long at {} as at 0",
                                           pairs_[i].input.first, pairs_[i].input.second,
                                           size_of(rows.back()[i]) / size_of(rows.front()[i]), last_));
      return;
    }
    const RoundNumber base = roundest_in(bases);
    xpos_.scale_base = bases.holds(xpos_.scale_base) ? xpos_.scale_base : base.value;
    is_pinned_ = is_pinned(bases, base) && bases.holds(base.value) && xpos_.scale_base == base.value;
    xpos_.role = *sign > 0 ? Role::query : Role::key;
    found_.seen.push_back(fmt::format("lengths {} as zeta^(p / {:.6g}): scale_base {:.8g} to {:.8g}",
                                      *sign > 0 ? "fall" : "rise", xpos_.scale_base, bases.low, bases.high));
  }

  // The g of zeta_i = (2i/n + g) / (1 + g) under which every pair's length grows by the claim's scale_base. `off` is
  // what logarithms of lengths are off by.
  std::optional<double> other_gamma(const Rows& rows, double off) const {
    const auto n = static_cast<double>(rotary_width(rope_));
    const auto grown = [&](std::size_t pair) {
      return std::log(size_of(rows.back()[pair]) / size_of(rows.front()[pair]));
    };
    const double to_power = xpos_.scale_base / static_cast<double>(last_);
    for (const double sign : {1.0, -1.0}) {
      // Of pair 0 zeta is g / (1 + g).
      const double zeta = std::exp(sign * grown(0) * to_power);
      if (!(zeta > 0.01 && zeta < 0.99)) continue;
      const double unrounded = zeta / (1 - zeta);
      const double gamma = roundest_in({unrounded * (1 - 0x1p-12), unrounded * (1 + 0x1p-12)}).value;
      bool is_it = pairs_.size() > 2 && gamma != 0.4;
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const double expected = std::log((2 * static_cast<double>(i) / n + gamma) / (1 + gamma)) / to_power;
        is_it = is_it && std::fabs(sign * grown(i) - expected) <= 4 * off + 0x1p-20 * std::fabs(expected);
      }
      if (is_it) return gamma;
    }
    return std::nullopt;
  }

  // The position at which pairs keep their length, in a call whose last position is given, as far as lengths at
  // position 0 tell it: ln size is off by a rounding of either member, and |ln zeta_i| / scale_base more at each
  // position.
  Range centre_in(std::int64_t last) {
    const Rows rows = rows_at({0, last});
    const double sign = xpos_.role == Role::query ? 1 : -1;
    const double off = 4 * std::ldexp(1, -format_of(claim_.dtype).precision);
    Range centre{-HUGE_VAL, HUGE_VAL};
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const double zeta = log_zeta(i);
      if (zeta == 0) continue;
      const double at = -sign * std::log(size_of(rows.front()[i])) * xpos_.scale_base / zeta;
      const double around = off * xpos_.scale_base / std::fabs(zeta);
      centre = common(centre, {at - around, at + around});
    }
    return centre;
  }

  // In calls of 101, 152 and 203 positions, half of which are 50.5, 76 and 101.5.
  void take_centre() {
    if (claim_.max_position < 204) return;
    constexpr std::int64_t lengths[] = {101, 152, 203};
    std::vector<Range> seen;
    for (const std::int64_t length : lengths) seen.push_back(centre_in(length - 1));
    const auto middle = [](const Range& range) { return std::int64_t{std::llround(range.middle())}; };
    const auto fits = [&](const decltype(xpos_.centre)& centre) {
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const auto* half = std::get_if<HalfOfCall>(&centre);
        const std::int64_t at = half != nullptr ? centre_at(*half, lengths[i]) : std::get<std::int64_t>(centre);
        if (!seen[i].holds(static_cast<double>(at))) return false;
      }
      return true;
    };
    const std::vector<decltype(xpos_.centre)> tried{xpos_.centre, HalfOfCall::floor, HalfOfCall::ceil,
                                                    middle(seen.front())};
    const auto found = std::ranges::find_if(tried, fits);
    const std::string at = fmt::format("lengths are kept at position {} in a call of 101", middle(seen[0]));
    if (found == tried.end()) {
      found_.faults.push_back(fmt::format("{} positions, at {} in one of 152, and at {} in one of 203", at,
                                          middle(seen[1]), middle(seen[2])));
    } else {
      xpos_.centre = *found;
    }
    // Of wide ranges others are in them.
    is_pinned_ = is_pinned_ && std::ranges::all_of(seen, [](const Range& range) { return range.high - range.low < 1; });
    found_.seen.push_back(
        fmt::format("{}, at {} in one of 152, at {} in one of 203", at, middle(seen[1]), middle(seen[2])));
  }

  // Whether pairs at position 50 have other lengths where a call begins with it, and then those of position 0.
  bool counts_lengths_from_start() {
    if (claim_.max_position <= 100) return false;
    const Rows whole = rows_at({0, 50, 100});
    const Rows later = rows_at({50, 100});
    const double off = 16 * std::ldexp(1, -format_of(claim_.dtype).precision);
    const auto is_as_long = [&](const std::vector<PairValues>& a, const std::vector<PairValues>& b) {
      return std::ranges::equal(a, b, [&](const PairValues& one, const PairValues& other) {
        return std::fabs(size_of(one) / size_of(other) - 1) <= off;
      });
    };
    return is_as_long(later.front(), whole[0]) && !is_as_long(whole[1], whole[0]);
  }

  void tell_pairs() {
    found_.table.emplace_back("the frequencies are those of no known rule");
    for (std::size_t i = 0; i < turns_.size(); ++i)
      found_.table.push_back(fmt::format("channels {:>3} and {:>3}: {:.9g} +- {:.1e} radians a position",
                                         pairs_[i].input.first, pairs_[i].input.second, turns_[i].radians,
                                         turns_[i].uncertainty));
  }

  CountedSession& session_;
  Spec claim_;
  Xpos xpos_;  // what has been told so far
  Spec rope_claim_;
  Rope rope_;
  std::vector<TurnedPair> pairs_;  // in the order of the frequencies
  std::int64_t last_ = 0;
  std::vector<MeasuredTurn> turns_;
  bool is_pinned_ = false;
  Identification found_;
};

}  // namespace

Identification identify_xpos(CountedSession& session, const Spec& claim, const Xpos& xpos) {
  return XposIdentifier(session, claim, xpos).run();
}

}  // namespace sextant::identify
