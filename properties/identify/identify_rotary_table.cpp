#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/identify_rope.hpp"
#include "properties/identify/positions_used.hpp"
#include "properties/identify/rope_rules.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// The first of each value where the subject has each twice.
Rows rows_of(const Tensor& table, std::int64_t count) {
  const std::int64_t width = table.shape[1];
  Rows rows;
  for (std::int64_t row = 0; row < table.shape[0]; ++row) {
    auto& values = rows.emplace_back();
    for (std::int64_t pair = 0; pair < count; ++pair)
      values.push_back({.sin = table.at(row * width + count + pair), .cos = table.at(row * width + pair)});
  }
  return rows;
}

Rows exchanged(Rows rows) {
  for (auto& row : rows) {
    for (PairValues& value : row) value = {.sin = value.cos, .cos = value.sin};
  }
  return rows;
}

// What position 0 holds that is not turned by 0: the values of another position, or of none.
std::string start_words(const std::vector<PairValues>& row, const std::vector<MeasuredTurn>& turns) {
  // The slowest pair is turned by the least part of a turn.
  const double offset = std::atan2(row.back().sin, row.back().cos) / turns.back().radians;
  const double whole = std::round(offset);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double apart =
        std::remainder(std::atan2(row[i].sin, row[i].cos) - whole * turns[i].radians, 2 * std::numbers::pi);
    if (!(std::fabs(apart) < 0.01)) return "position 0 is turned, and not as any other position is";
  }
  return fmt::format("{}: position 0 holds the values of position {}",
                     std::fabs(whole) == 1 ? "one position off" : "positions are off by an offset", whole);
}

}  // namespace

Identification identify_rotary_table(CountedSession& session, const Spec& claim, const RotaryTable& claimed) {
  Identification found;
  const std::vector<std::int64_t> positions = doubling_positions(claim.max_position);
  Rows rows = rows_of(table(session, claim, positions), pairs(claimed));
  const Norm norm = norm_of(rows, claim.dtype);
  // At position 0 sines are 0.
  const bool is_exchanged = std::ranges::all_of(rows.front(), [&](const PairValues& value) {
    return std::fabs(value.cos) <= norm.noise * norm.size && value.sin > 0;
  });
  if (is_exchanged) {
    rows = exchanged(rows);
    found.faults.emplace_back("cosines stand where sines are claimed, and sines where cosines are",
                              DiagnosedStage::table);
  }
  std::vector<MeasuredTurn> turns = measured_turns(positions, rows, norm);
  if (is_turned(rows.front(), norm))
    found.faults.emplace_back(start_words(rows.front(), turns), DiagnosedStage::position);
  // No sense of rotation is claimed of a table.
  const auto backward = std::ranges::count_if(turns, [](const MeasuredTurn& turn) { return turn.radians < 0; });
  if (backward == std::ssize(turns)) {
    found.faults.emplace_back("every sine has the other sign", DiagnosedStage::table);
  } else if (backward > 0) {
    found.faults.emplace_back(fmt::format("the sines of {} pairs have the other sign", backward),
                              DiagnosedStage::table);
  }
  PositionsUsed used;
  if (found.faults.empty()) {
    used =
        positions_used({.ask = [&](const std::vector<std::int64_t>& asked,
                                   const AskedShape&) { return rows_of(table(session, claim, asked), pairs(claimed)); },
                        .shape = {1, 1},
                        .first = claim.min_position,
                        .end = claim.max_position},
                       {turns, norm.noise});
    if (!used.as_given && !used.words.empty()) found.faults.emplace_back(used.words, DiagnosedStage::position);
  }
  double worst = 0;
  for (MeasuredTurn& turn : turns) {
    turn.radians = std::fabs(turn.radians);
    worst = std::max(worst, turn.uncertainty / turn.radians);
  }
  found.seen.push_back(
      fmt::format("{} pairs; frequencies from {:.8g} to {:.8g} radians a position, each within {:.1e} of itself",
                  turns.size(), turns.back().radians, turns.front().radians, worst));
  if (!norm.range.holds(1)) found.seen.push_back(fmt::format("values up to {:.7g}", norm.size));
  RopeSeen seen;
  seen.claimed = claimed.rope.rope_scaling;
  // A rule that looks at a length is told the claim's end, whatever is asked.
  seen.lists.push_back({claim.max_position, turns, norm.range});
  const std::vector<RuleFit> fits = fitting_rules(claimed.rope, seen);
  if (fits.empty()) {
    for (std::size_t i = 0; i < turns.size(); ++i)
      found.table.push_back(
          fmt::format("pair {:>3}: {:.9g} +- {:.1e} radians a position", i, turns[i].radians, turns[i].uncertainty));
    found.calls = session.calls();
    return found;
  }
  const RuleFit& best = fits.front();
  if (!best.remark.empty()) found.seen.push_back(best.remark);
  if (const auto words = words_of(best.format); !words.empty())
    found.arithmetic.emplace_back(std::string(words), DiagnosedStage::frequency);
  std::optional<Dtype> narrow = dtype_of(best.format);
  // At powers of two an angle's rounding is that of its frequency.
  if (used.as_given && used.angles) {
    found.arithmetic = {Fault(used.words, DiagnosedStage::angle)};
    narrow = used.angles;
  }
  Spec spec = claim;
  spec.encoding = RotaryTable{best.rope};
  const FittedAnswers fitted = fitted_answers(session, spec, narrow);
  found.spec = fitted.spec;
  found.of_bound = fitted.of_bound;
  const bool is_clear = best.is_pinned && (fits.size() < 2 || fits[1].digits > best.digits);
  found.confidence = !fitted.hold || !found.faults.empty() ? Confidence::low
                     : is_clear                            ? Confidence::high
                                                           : Confidence::medium;
  found.calls = session.calls();
  return found;
}

}  // namespace sextant::identify
