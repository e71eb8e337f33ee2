#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/rotations/claimed_frequencies.hpp"
#include "properties/identify/rotations/identify_rope.hpp"
#include "properties/identify/rotations/positions_used.hpp"
#include "properties/identify/rotations/rope_rules.hpp"
#include "reference/rope.hpp"
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

double factor_of(const Rope& rope) {
  return reference::RopeReference(rope).attention_factor(reference::first_precision).upper();
}

// The same numbers, of which two beside each other are a cosine and a sine.
Rows side_by_side(const Rows& rows) {
  Rows read;
  for (const auto& row : rows) {
    std::vector<double> values;
    for (const PairValues& value : row) values.push_back(value.cos);
    for (const PairValues& value : row) values.push_back(value.sin);
    auto& pairs = read.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) pairs.push_back({.sin = values[2 * i + 1], .cos = values[2 * i]});
  }
  return read;
}

// Whether every pair is as long, but for a few roundings, and position 0 is turned by nothing.
bool are_turns(const Rows& rows, Dtype dtype) {
  const double unit = std::ldexp(1, -format_of(dtype).precision);
  const Norm norm = norm_of(rows, dtype);
  return norm.noise <= 16 * unit && !is_turned(rows.front(), norm);
}

// Rows that are read in another way than they were written, set right, and how they were.
std::string take_other_rows(Rows& rows, Dtype dtype, double factor) {
  if (are_turns(rows, dtype)) return {};
  if (Rows read = side_by_side(rows); rows.front().size() > 1 && are_turns(read, dtype)) {
    rows = std::move(read);
    return "cosines and sines alternate, where the first half of a row are cosines";
  }
  if (factor == 1) return {};
  const double unit = std::ldexp(1, -format_of(dtype).precision);
  for (const auto& [words, cosine, sine] : {std::tuple("the attention factor is in cosines alone", 1.0, factor),
                                            std::tuple("the attention factor is in sines alone", factor, 1.0)}) {
    Rows with = rows;
    for (auto& row : with) {
      for (PairValues& value : row) value = {.sin = value.sin * sine, .cos = value.cos * cosine};
    }
    if (!are_turns(with, dtype) || std::fabs(norm_of(with, dtype).size / factor - 1) > 8 * unit) continue;
    rows = std::move(with);
    return words;
  }
  return {};
}

// What frequencies of no rule are, in words: the claim's without its scaling, or those of a row's other columns.
std::string words_of_frequencies(const RotaryTable& claimed, const std::vector<MeasuredTurn>& turns, const Norm& norm,
                                 std::int64_t length) {
  Rope plain = claimed.rope;
  plain.rope_scaling = DefaultScaling{};
  const bool is_scaled = !std::holds_alternative<DefaultScaling>(claimed.rope.rope_scaling);
  const double factor = factor_of(claimed.rope);
  if (is_scaled && factor != 1 && std::fabs(norm.size / factor - 1) <= norm.noise &&
      have_frequencies(turns, frequencies_of(plain, length)))
    return fmt::format("frequencies are not scaled by {}, though its attention factor is there",
                       name_of(claimed.rope.rope_scaling));
  const std::vector<double> own = frequencies_of(claimed.rope, length);
  std::vector<double> of_tiled;
  std::vector<double> of_repeated;
  for (std::size_t i = 0; i < own.size(); ++i) {
    of_tiled.push_back(own[2 * i % own.size()]);
    of_repeated.push_back(own[i / 2]);
  }
  if (own.size() > 2 && have_frequencies(turns, of_tiled))
    return "a row stands there twice over, and is read as each value twice running";
  if (own.size() > 2 && have_frequencies(turns, of_repeated))
    return "each value stands there twice running, and is read as a row twice over";
  return {};
}

// Sines, or cosines, that turn faster or slower than the claim's, where the other function does not: "sines turn 1.001
// times as fast as is claimed, and cosines as claimed"; `norm` is the claim's.
std::string words_of_one_function(const std::vector<std::int64_t>& positions, const Rows& rows,
                                  const std::vector<double>& own, const Norm& norm) {
  // How many times as fast a sine turns, from those of less than a right angle.
  std::vector<double> times;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t pair = 0; pair < own.size(); ++pair) {
      const double angle = own[pair] * static_cast<double>(positions[row]);
      if (!(angle > 0.25 && angle < 1)) continue;
      const PairValues& value = rows[row][pair];
      times.push_back(std::asin(std::clamp(value.sin / norm.size, -1.0, 1.0)) / angle);
      times.push_back(std::acos(std::clamp(value.cos / norm.size, -1.0, 1.0)) / angle);
    }
  }
  const auto are = [&](double of_sines, double of_cosines, double known_to) {
    std::size_t told = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t pair = 0; pair < own.size(); ++pair) {
        const auto is = [&](double faster, double seen, double (*function)(double)) {
          const double angle = own[pair] * static_cast<double>(positions[row]) * faster;
          const double off = norm.size * (16 * norm.noise + std::fabs(angle) * known_to);
          if (off > norm.size / 4) return true;
          ++told;
          return std::fabs(seen - norm.size * function(angle)) <= off;
        };
        const PairValues& value = rows[row][pair];
        if (!is(of_sines, value.sin, std::sin) || !is(of_cosines, value.cos, std::cos)) return false;
      }
    }
    return told > 4 * own.size();
  };
  // A ratio is known as an angle is, of which noise is a part.
  constexpr double angles_exactly = 0x1p-21;
  const double known_to = 64 * norm.noise + angles_exactly;
  for (const double faster : times) {
    if (!(std::fabs(faster - 1) > 4 * known_to)) continue;
    const auto words = [&](std::string_view one, std::string_view other) {
      return fmt::format("{} turn {:.6g} times as fast as is claimed, and {} as claimed", one, faster, other);
    };
    if (are(faster, 1, known_to)) return words("sines", "cosines");
    if (are(1, faster, known_to)) return words("cosines", "sines");
  }
  return {};
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
  if (auto words = take_other_rows(rows, claim.dtype, factor_of(claimed.rope)); !words.empty())
    found.faults.emplace_back(std::move(words), DiagnosedStage::table);
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
  if (found.faults.empty() && !is_exchanged) {
    // Sizes of pairs that are no turns say nothing of the noise.
    Norm of_claim = norm;
    of_claim.size = factor_of(claimed.rope);
    of_claim.noise = std::ldexp(1, -format_of(claim.dtype).precision);
    auto words = words_of_one_function(positions, rows, frequencies_of(claimed.rope, claim.max_position), of_claim);
    if (!words.empty()) {
      found.faults.emplace_back(std::move(words), DiagnosedStage::frequency);
      found.calls = session.calls();
      return found;
    }
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
  found.seen.push_back(fmt::format(
      "{} pairs; frequencies from {:.8g} to {:.8g} radians a position, each known to within {:.1e} of its value",
      turns.size(), turns.back().radians, turns.front().radians, worst));
  if (!norm.range.holds(1)) found.seen.push_back(fmt::format("values up to {:.7g}", norm.size));
  RopeSeen seen;
  seen.claimed = claimed.rope.rope_scaling;
  // A rule that looks at a length is told the claim's end, whatever is asked.
  seen.lists.push_back({claim.max_position, turns, norm.range});
  const std::vector<RuleFit> fits = fitting_rules(claimed.rope, seen);
  if (fits.empty()) {
    if (std::string words = words_of_frequencies(claimed, turns, norm, claim.max_position);
        !words.empty() && found.faults.empty())
      found.faults.emplace_back(std::move(words), DiagnosedStage::frequency);
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
