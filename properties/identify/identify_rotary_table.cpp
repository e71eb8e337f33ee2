#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/identify_rope.hpp"
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

}  // namespace

Identification identify_rotary_table(CountedSession& session, const Spec& claim, const RotaryTable& claimed) {
  Identification found;
  const std::vector<std::int64_t> positions = doubling_positions(claim.max_position);
  const Rows rows = rows_of(table(session, claim, positions), pairs(claimed));
  const Norm norm = norm_of(rows, claim.dtype);
  std::vector<MeasuredTurn> turns = measured_turns(positions, rows, norm);
  if (is_turned(rows.front(), norm)) found.faults.emplace_back("position 0 is turned");
  // No sense of rotation is claimed of a table.
  const auto backward = std::ranges::count_if(turns, [](const MeasuredTurn& turn) { return turn.radians < 0; });
  if (backward > 0) found.faults.push_back(fmt::format("the sines of {} pairs have the other sign", backward));
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
  if (const auto words = words_of(best.format); !words.empty()) found.arithmetic.emplace_back(words);
  Spec spec = claim;
  spec.encoding = RotaryTable{best.rope};
  const FittedAnswers fitted = fitted_answers(session, spec);
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
