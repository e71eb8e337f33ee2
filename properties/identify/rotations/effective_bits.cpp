#include "properties/identify/rotations/effective_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "properties/identify/rotations/measured_turns.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// The worst error that was seen, and the least that would have been.
struct Bits {
  double seen = 0;
  double least = HUGE_VAL;

  void add(double error, double open) {
    if (error > open) seen = std::max(seen, error);
    least = std::min(least, open);
  }

  std::string text(std::string_view of) const {
    if (seen > 0) return fmt::format("{} {:.1f} bits", of, -std::log2(seen));
    return fmt::format("{} at least {:.1f} bits", of, -std::log2(least));
  }
};

// No powers of two, which are exact in every format.
constexpr std::int64_t scattered[] = {3, 7, 23, 101, 251, 511, 1001, 1999, 4095, 9001, 20011, 33027, 66003, 100003};

}  // namespace

std::vector<std::string> effective_bits(Session& session, const Spec& spec) {
  const auto encoded = model_of(spec)->encoded_pairs();
  if (!encoded || spec.min_position > 0) return {};
  std::vector<std::int64_t> doubling = doubling_positions(spec.max_position);
  std::vector<std::int64_t> ordinary;
  for (const std::int64_t position : scattered) {
    if (position < spec.max_position - 1) ordinary.push_back(position);
  }
  // Both calls are of one length, on which frequencies may depend.
  const std::size_t powers = doubling.size();
  const std::size_t others = ordinary.size();
  doubling.push_back(spec.max_position - 1);
  ordinary.push_back(spec.max_position - 1);
  Rows rows = encoded->ask(session, doubling);
  Rows scattered_rows = encoded->ask(session, ordinary);
  rows.resize(powers);
  doubling.resize(powers);
  const Norm norm = norm_of(rows, spec.dtype);
  if (norm.noise > 0x1p-4) return {};
  const std::vector<MeasuredTurn> turns = measured_turns(doubling, rows, norm);
  const std::vector<double> claimed = encoded->frequencies(spec.max_position);
  const double size = encoded->radius(reference::first_precision).upper();

  Bits frequency;
  std::vector<double> used;  // frequencies, as far as they are seen to differ from the claimed ones
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double seen = turns[i].radians * encoded->orientation();
    const double off = std::fabs(seen - claimed[i]);
    frequency.add(off / claimed[i], turns[i].uncertainty / claimed[i]);
    used.push_back(off > turns[i].uncertainty ? seen : claimed[i]);
  }
  Bits table;
  const double unit = std::ldexp(1, -format_of(spec.dtype).precision);
  for (const auto& row : rows) {
    for (const PairValues& value : row) table.add(std::fabs(std::hypot(value.sin, value.cos) / size - 1), 2 * unit);
  }
  Bits angle;
  Bits position;
  bool is_of_position = true;
  for (std::size_t row = 0; row < others; ++row) {
    const auto place = static_cast<double>(encoded->place(ordinary[row]));
    double moved_least = HUGE_VAL;
    double moved_most = -HUGE_VAL;
    for (std::size_t i = 0; i < used.size(); ++i) {
      const double open = norm.noise + std::fabs(place) * turns[i].uncertainty;
      if (open > 0.5) continue;
      const PairValues& value = scattered_rows[row][i];
      const double apart = std::remainder(std::atan2(value.sin, value.cos) - used[i] * place, 2 * std::numbers::pi);
      const double turned = std::fabs(used[i] * place);
      // Of angles that are less than what is open nothing is seen.
      if (turned <= 16 * open) continue;
      angle.add(std::fabs(apart) / turned, open / turned);
      // The same number of positions in every pair, as far as it is told, beside the roundings of a float32 angle.
      if (std::fabs(apart) > 1) continue;
      const double off = open + turned * 0x1p-21;
      moved_least = std::min(moved_least, (apart + off) / used[i]);
      moved_most = std::max(moved_most, (apart - off) / used[i]);
    }
    if (moved_most == -HUGE_VAL) continue;
    is_of_position = is_of_position && moved_most <= moved_least;
    const double moved = moved_most > 0 ? moved_most : moved_least < 0 ? -moved_least : 0;
    position.add(moved / std::fabs(place), 1 / std::fabs(place) * 0x1p-4);
  }
  std::vector<std::string> words;
  // Angles that are off by so much a position, whatever the frequency, come from positions that are off.
  if (angle.seen > 0 && position.seen > 0 && is_of_position) {
    words.push_back(position.text("position"));
  } else if (angle.seen == 0 && others > 0) {
    words.push_back(fmt::format("position at least {:.1f} bits", std::log2(static_cast<double>(ordinary[others - 1]))));
  }
  words.push_back(frequency.text("frequency"));
  if (std::isfinite(angle.least)) words.push_back(angle.text("angle"));
  words.push_back(table.text("table"));
  return words;
}

}  // namespace sextant::identify
