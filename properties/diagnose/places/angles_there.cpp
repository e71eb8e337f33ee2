#include "properties/diagnose/places/angles_there.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "lib/spec/position_grid.hpp"
#include "properties/identify/rotations/measured_turns.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

double angle_of(const PairValues& value) { return std::atan2(value.sin, value.cos); }

double apart_by(double angle, double other) { return std::fabs(std::remainder(angle - other, 2 * std::numbers::pi)); }

class AnglesThere {
 public:
  AnglesThere(const Subject& subject, const Spec& claim)
      : claim_(claim), encoded_(model_of(claim)->encoded_pairs()), session_(subject.open(claim)) {}

  bool is_known() const {
    return encoded_ != nullptr && position_grid_of(claim_.encoding).step == 1 && claim_.min_position <= 0 &&
           claim_.dtype == Dtype::float32;
  }

  // What multiplies positions in calls of so many tokens and more.
  std::string of_calls(std::int64_t fewest) {
    struct Seen {
      double tokens;
      double length;
      double ratio;
    };
    std::vector<Seen> seen;
    for (const std::int64_t tokens : {fewest, fewest + 1, 2 * fewest - 1, 2 * fewest + 3, 4 * fewest}) {
      for (const std::int64_t greatest : {std::int64_t{211}, std::int64_t{509}}) {
        if (greatest >= claim_.max_position) return {};
        std::vector<std::int64_t> positions;
        for (std::int64_t token = 0; token < tokens; ++token) positions.push_back((token * 97 + 57) % greatest);
        positions[static_cast<std::size_t>(tokens / 2)] = greatest;
        const Rows rows = encoded_->ask(*session_, positions);
        const std::vector<double> frequencies = encoded_->frequencies(greatest + 1);
        const Norm norm = norm_of(rows, claim_.dtype);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const auto own = static_cast<double>(encoded_->place(positions[i]));
          if (std::fabs(own) < 1) continue;
          const auto place = place_of_phases(rows[i], frequencies, 2 * norm.noise);
          if (!place) return {};
          const double ratio = *place / own;
          if (!seen.empty() && seen.back().tokens == static_cast<double>(tokens) &&
              seen.back().length == static_cast<double>(greatest + 1)) {
            if (!is_near(ratio, seen.back().ratio)) return {};
            continue;
          }
          seen.push_back({static_cast<double>(tokens), static_cast<double>(greatest + 1), ratio});
        }
      }
    }
    if (seen.empty()) return {};
    const auto constant = [&](const auto& of) -> std::optional<double> {
      const double first = of(seen.front());
      if (!std::ranges::all_of(seen, [&](const Seen& one) { return is_near(of(one), first); })) return std::nullopt;
      return roundest_in({first * (1 - slack), first * (1 + slack)}).value;
    };
    if (std::ranges::any_of(seen, [](const Seen& one) { return !(one.ratio > 0) || is_near(one.ratio, 1); })) return {};
    if (const auto by = constant([](const Seen& one) { return one.ratio; }))
      return fmt::format("positions are multiplied by {:.6g}", *by);
    constexpr std::string_view why = ", as where they are interpolated";
    if (const auto by = constant([](const Seen& one) { return one.ratio * one.tokens; }))
      return fmt::format("positions are multiplied by {:.6g} / n in a call of n tokens{}", *by, why);
    if (const auto by = constant([](const Seen& one) { return one.ratio * (one.tokens - 1); }))
      return fmt::format("positions are multiplied by {:.6g} / (n - 1) in a call of n tokens{}", *by, why);
    if (const auto by = constant([](const Seen& one) { return one.ratio * one.length; }))
      return fmt::format("positions are multiplied by {:.6g} / l in a call whose greatest position is l - 1{}", *by,
                         why);
    return {};
  }

  // By which frequencies positions from there on turn, which is the first wrong one.
  std::string of_positions(std::int64_t border) {
    const std::optional<double> base = base_without_rule();
    if (!base || border + 64 >= claim_.max_position) return {};
    constexpr std::int64_t farthest = 4096;
    const std::vector<std::int64_t> distances =
        doubling_positions(std::min(claim_.max_position - border, farthest + 1));
    std::vector<std::int64_t> positions;
    for (const std::int64_t distance : distances) positions.push_back(border + distance);
    const Rows rows = encoded_->ask(*session_, positions);
    Norm norm = norm_of(rows, claim_.dtype);
    // A float32 angle there is off by the roundings of a product and of a sum.
    norm.noise += static_cast<double>(border + farthest) * 0x1p-22;
    if (norm.noise > 0x1p-3) return {};
    const std::vector<double> claimed = encoded_->frequencies(claim_.max_position);
    const std::vector<MeasuredTurn> turns = measured_turns(distances, rows, norm);
    const double sense = encoded_->place(border) < 0 ? -1 : 1;
    std::vector<double> seen;
    for (std::size_t i = 0; i < turns.size(); ++i) seen.push_back(sense * turns[i].radians);
    const auto off_of = [&](std::size_t i) { return turns[i].uncertainty + seen[i] * 0x1p-20; };
    // Each is the claimed one to one power, that of another base's logarithm over the claim's.
    std::optional<double> power;
    bool is_other = false;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (!(seen[i] > 0)) return {};
      is_other = is_other || std::fabs(seen[i] - claimed[i]) > off_of(i);
      if (claimed[i] > 0.5) continue;
      const double own = std::log(seen[i]) / std::log(claimed[i]);
      if (!power) power = own;
    }
    if (!power || !is_other) return {};
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (std::fabs(seen[i] - std::pow(claimed[i], *power)) > off_of(i) + seen[i] * 0x1p-16) return {};
    }
    const std::string which = words_of_power(*base, *power);
    // Whether angles go on from the last right position, or are those of the new frequencies from 0 on.
    const auto has_starts = [&](const auto& start) {
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const double off = 2 * norm.noise + off_of(i) * static_cast<double>(border);
        if (off < 1 && apart_by(sense * angle_of(rows.front()[i]), start(i)) > off) return false;
      }
      return true;
    };
    if (has_starts([&](std::size_t i) { return claimed[i] * static_cast<double>(border - 1) + seen[i]; }))
      return fmt::format("turn on from there by other frequencies, {}", which);
    if (has_starts([&](std::size_t i) { return seen[i] * static_cast<double>(border); }))
      return fmt::format("have other frequencies, {}", which);
    return {};
  }

 private:
  static constexpr double slack = 0x1p-13;
  static bool is_near(double a, double b) { return std::fabs(a - b) <= slack * std::fabs(b); }

  std::optional<double> base_without_rule() const {
    if (const auto* table = held<Sinusoidal>(claim_)) return table->base;
    const auto* rope = held<Rope>(claim_);
    if (rope == nullptr || !std::holds_alternative<DefaultScaling>(rope->rope_scaling)) return std::nullopt;
    return rope->rope_theta;
  }

  std::string words_of_power(double base, double power) const {
    if (const auto* rope = held<Rope>(claim_); rope != nullptr && rope->rotary_dim != rope->head_dim) {
      const double of_head = static_cast<double>(rope->rotary_dim) / static_cast<double>(rope->head_dim);
      if (is_near(power, of_head))
        return fmt::format("base^(-2i / {}), the exponents of the whole head, where the claim has base^(-2i / {})",
                           rope->head_dim, rope->rotary_dim);
    }
    const double other = std::pow(base, power);
    return fmt::format("those of base {:.6g}", roundest_in({other * (1 - slack), other * (1 + slack)}).value);
  }

  Spec claim_;
  std::unique_ptr<EncodedPairs> encoded_;
  std::unique_ptr<Session> session_;
};

}  // namespace

std::string words_of_angles_there(const Subject& subject, const Spec& claim, const WrongPlace& place) {
  const bool is_of_position = place.first_position && !place.last_position && place.is_of_position;
  if (!is_of_position && !place.fewest_tokens) return {};
  AnglesThere angles(subject, claim);
  if (!angles.is_known()) return {};
  std::string words =
      is_of_position ? angles.of_positions(*place.first_position) : angles.of_calls(*place.fewest_tokens);
  if (words.empty()) return {};
  return fmt::format("{}{} {}, and the rest is right", place.words, is_of_position ? "" : ":", words);
}

}  // namespace sextant::identify
