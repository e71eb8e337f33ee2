#include "properties/identify/rotations/measured_turns.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace sextant::identify {

Norm norm_of(const Rows& rows, Dtype dtype) {
  double sum = 0;
  double count = 0;
  for (const auto& row : rows) {
    for (const PairValues& value : row) {
      const double size = std::hypot(value.sin, value.cos);
      if (!std::isfinite(size)) continue;  // of a position that overflowed
      sum += size;
      ++count;
    }
  }
  Norm norm;
  const double unit = std::ldexp(1, -format_of(dtype).precision);
  norm.least = dtype == Dtype::float16 ? 0x1p-24 : 0;
  if (count == 0) return {1, 4 * unit, {1, 1}, norm.least};
  norm.size = sum / count;
  // Of each pair how far its norms are apart, in the middle: one that is odd says nothing of the others.
  std::vector<double> spreads;
  for (std::size_t pair = 0; pair < rows.front().size(); ++pair) {
    Range seen{HUGE_VAL, 0};
    for (const auto& row : rows) {
      const double size = std::hypot(row[pair].sin, row[pair].cos);
      if (std::isfinite(size)) seen = {std::min(seen.low, size), std::max(seen.high, size)};
    }
    spreads.push_back((seen.high - seen.low) / norm.size);
  }
  std::ranges::nth_element(spreads, spreads.begin() + std::ssize(spreads) / 2);
  const double spread = spreads[spreads.size() / 2];
  norm.noise = 4 * std::max(unit, spread);
  // The mean of values each rounded twice.
  const double off = norm.size * std::max(unit, spread / 4);
  norm.range = {norm.size - off, norm.size + off};
  return norm;
}

std::vector<std::int64_t> doubling_positions(std::int64_t end) {
  std::vector<std::int64_t> positions{0};
  constexpr std::int64_t longest = std::int64_t{1} << 20;
  for (std::int64_t position = 1; position < end && position <= longest; position *= 2) positions.push_back(position);
  return positions;
}

std::size_t fractions_like_0(const std::vector<std::int64_t>& positions, const Rows& rows, double step) {
  constexpr std::size_t fewest = 4;
  const auto per_whole = std::llround(1 / step);
  std::size_t fractions = 0;
  for (std::size_t at = 1; at < positions.size() && positions[at] < per_whole; ++at) {
    const bool is_like_0 = std::ranges::equal(rows[at], rows.front(), [](const PairValues& a, const PairValues& b) {
      return a.sin == b.sin && a.cos == b.cos;
    });
    if (!is_like_0) return 0;
    ++fractions;
  }
  return positions.size() < fractions + fewest ? 0 : fractions;
}

std::vector<MeasuredTurn> measured_turns(const std::vector<std::int64_t>& positions, const Rows& rows,
                                         const Norm& norm) {
  // A sine that is exactly 0 may have been below the least number of float16.
  constexpr double least_seen = 0x1p-24;
  const bool starts_turned = is_turned(rows.front(), norm);
  const Rows relative = starts_turned ? from_first(rows) : rows;
  std::vector<MeasuredTurn> turns;
  for (std::size_t pair = 0; pair < rows.front().size(); ++pair) {
    MeasuredTurn turn;
    // No frequency in use is above half a turn a position.
    turn.uncertainty = std::numbers::pi;
    for (std::size_t at = 1; at < positions.size(); ++at) {
      const PairValues& value = relative[at][pair];
      const auto step = static_cast<double>(positions[at]);
      const double phase = std::atan2(value.sin, value.cos);
      const double angle = std::max(std::fabs(phase), std::fabs(turn.radians * step));
      const double off = starts_turned
                             ? 2 * norm.noise
                             : norm.noise * std::min(angle, 1.0) + norm.least + (value.sin == 0 ? least_seen : 0);
      if (at > 1 && step * turn.uncertainty + off >= std::numbers::pi / 2) break;
      const double residue = std::remainder(phase - turn.radians * step, 2 * std::numbers::pi);
      // Not (... <= ...), so that a NaN ends it too.
      if (!(std::fabs(residue) <= step * turn.uncertainty + off)) {
        turn.departs = positions[at];
        break;
      }
      if (off / step < turn.uncertainty) {
        turn.radians += residue / step;
        turn.uncertainty = off / step;
      }
    }
    turns.push_back(turn);
  }
  return turns;
}

Rows from_first(const Rows& rows) {
  Rows turned = rows;
  for (auto& row : turned) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const PairValues& first = rows.front()[i];
      const PairValues value = row[i];
      const double size = std::hypot(first.sin, first.cos);
      row[i] = {.sin = (value.sin * first.cos - value.cos * first.sin) / size,
                .cos = (value.cos * first.cos + value.sin * first.sin) / size};
    }
  }
  return turned;
}

bool is_turned(const std::vector<PairValues>& row, const Norm& norm) {
  return std::ranges::any_of(
      row, [&](const PairValues& value) { return std::fabs(std::atan2(value.sin, value.cos)) > norm.noise; });
}

namespace {

double phase_of(const PairValues& value) { return std::atan2(value.sin, value.cos); }

}  // namespace

std::optional<double> place_of_phases(const std::vector<PairValues>& row, const std::vector<double>& frequencies,
                                      double noise) {
  std::vector<std::size_t> order(frequencies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t pair) { return frequencies[pair]; });
  double place = phase_of(row[order.front()]) / frequencies[order.front()];
  for (const std::size_t pair : order) {
    const double apart = std::remainder(phase_of(row[pair]) - frequencies[pair] * place, 2 * std::numbers::pi);
    // What a frequency's rounding adds to a phase goes with it.
    if (std::fabs(apart) > 1) return std::nullopt;
    place += apart / frequencies[pair];
  }
  for (const std::size_t pair : order) {
    const double off = noise + std::fabs(place) * frequencies[pair] * 0x1p-20;
    if (std::fabs(std::remainder(phase_of(row[pair]) - frequencies[pair] * place, 2 * std::numbers::pi)) > off)
      return std::nullopt;
  }
  return place;
}

}  // namespace sextant::identify
