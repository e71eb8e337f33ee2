#include "properties/survey/told_stage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "lib/numeric/dtype.hpp"
#include "lib/numeric/ulp.hpp"
#include "properties/gen/position.hpp"
#include "properties/identify/rotations/measured_turns.hpp"
#include "properties/model/ordinary_vectors.hpp"
#include "properties/survey/row_errors.hpp"
#include "reference/stages.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Stage;

constexpr std::int64_t most_columns_told = 64;
constexpr reference::Precision stage_precision{192};
// Entries of bfloat16 change a pair's norm by 2^-8 of it at most, either way, which comes to half of that.
constexpr double most_noise_of_tables = 0x1p-4;
// Entries of bfloat16 are off by 2^-9 of themselves, and truncated ones by 2^-8, and so are the pairs that they make.
constexpr double most_stretch_of_tables = 0x1p-8;

constexpr std::array added_stages{Stage::frequency, Stage::angle, Stage::table, Stage::rotation, Stage::rounding};

// The squares of the steps' errors, added up.
struct StageSums {
  std::array<double, 5> squares{};

  void add(const reference::StageErrors& errors) {
    const auto square = [](const Enclosure& error) { return abs(error).upper() * abs(error).upper(); };
    const std::array more{square(errors.frequency), square(errors.angle), square(errors.table), square(errors.rotation),
                          square(errors.rounding)};
    for (std::size_t i = 0; i < more.size(); ++i) squares[i] += more[i];
  }

  Stage largest() const {
    if (std::ranges::all_of(squares, [](double square) { return square == 0; })) return Stage::rounding;
    return added_stages[static_cast<std::size_t>(std::ranges::max_element(squares) - squares.begin())];
  }
};

// Which stages leave every value within its bound once what they add is taken away.
class Explained {
 public:
  void add(const reference::StageErrors& errors, double bound) {
    const std::array<const Enclosure*, 5> parts{&errors.frequency, &errors.angle, &errors.table, &errors.rotation,
                                                &errors.rounding};
    for (std::size_t left_out = 0; left_out < parts.size(); ++left_out) {
      Enclosure rest(std::int64_t{0}, stage_precision);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != left_out) rest = rest + *parts[i];
      }
      by_[left_out] = by_[left_out] && abs(rest).lower() <= bound;
    }
  }

  bool by(Stage stage) const {
    return by_[static_cast<std::size_t>(std::ranges::find(added_stages, stage) - added_stages.begin())];
  }

 private:
  std::array<bool, 5> by_{true, true, true, true, true};
};

class StageTeller {
 public:
  StageTeller(Session& session, EncodedPairs& encoded, const Spec& spec, const AnsweredGrid& grid)
      : session_(session), encoded_(encoded), spec_(spec), grid_(grid) {}

  std::optional<Stage> tell() {
    if (grid_.positions.front() != 0 || !is_finite(grid_.rows)) return std::nullopt;
    claimed_ = encoded_.frequencies(grid_.positions.back() + 1);
    if (std::ranges::any_of(claimed_, [](double w) { return w > std::numbers::pi; })) return std::nullopt;
    vectors_ = ordinary_vectors(encoded_.count(), spec_.dtype);
    turned_ = encoded_.ask_turned(session_, grid_.positions, vectors_);
    if (turned_ && !is_finite(*turned_)) return std::nullopt;
    measure_frequencies();
    if (std::ranges::any_of(grid_.rows, is_zero)) return std::nullopt;
    if (norm_.noise > most_noise_of_tables) return turned_ ? Stage::rotation : Stage::table;
    const double claimed_size = encoded_.radius(stage_precision).upper();
    if (std::fabs(norm_.size - claimed_size) > most_stretch_of_tables * claimed_size) return std::nullopt;
    // Sines of the other sign, or exchanged with cosines, turn every pair back.
    if (std::ranges::all_of(turns_,
                            [](const identify::MeasuredTurn& turn) { return turn.radians < -turn.uncertainty; }))
      return turned_ ? Stage::rotation : Stage::table;
    return sum_up();
  }

 private:
  static bool is_finite(const Rows& rows) {
    return std::ranges::all_of(rows, [](const auto& row) {
      return std::ranges::all_of(
          row, [](const PairValues& value) { return std::isfinite(value.sin) && std::isfinite(value.cos); });
    });
  }

  static bool is_zero(const std::vector<PairValues>& row) {
    return std::ranges::all_of(row, [](const PairValues& value) { return value.sin == 0 && value.cos == 0; });
  }

  // In a call as long as the grid's, on whose length frequencies may depend.
  void measure_frequencies() {
    std::vector<std::int64_t> positions = identify::doubling_positions(grid_.positions.back());
    const std::size_t count = positions.size();
    positions.push_back(grid_.positions.back());
    Rows rows = encoded_.ask(session_, positions);
    positions.resize(count);
    rows.resize(count);
    norm_ = identify::norm_of(rows, spec_.dtype);
    turns_ = identify::measured_turns(positions, rows, norm_);
    // As the claim has them: positive.
    for (identify::MeasuredTurn& turn : turns_) turn.radians *= encoded_.orientation();
  }

  std::optional<Stage> sum_up() {
    StageSums sums;
    std::int64_t untold = 0;
    std::int64_t told = 0;
    const double size = encoded_.radius(stage_precision).upper();
    const ErrorBudget budget = encoded_.budget(spec_.accuracy);
    const std::int64_t stride = (encoded_.count() + most_columns_told - 1) / most_columns_told;
    std::int64_t beyond = 0;  // rows from the first on that is not as claimed
    for (std::size_t row = 0; row < grid_.rows.size() && beyond < 4; ++row) {
      bool is_claimed = true;
      for (std::int64_t pair = 0; pair < encoded_.count(); pair += stride) {
        const auto i = static_cast<std::size_t>(pair);
        const double bound = std::max(encoded_.bound(budget, grid_.truth[row], i, Component::sine, size),
                                      encoded_.bound(budget, grid_.truth[row], i, Component::cosine, size));
        const auto errors = errors_at(row, pair);
        if (!errors) {
          ++untold;
          continue;
        }
        ++told;
        for (const reference::StageErrors* one : {&errors->first, &errors->second}) {
          sums.add(*one);
          is_claimed = is_claimed &&
                       abs(one->frequency + one->angle + one->table + one->rotation + one->rounding).lower() <= bound;
          explained_.add(*one, bound);
        }
      }
      if (!is_claimed || beyond > 0) ++beyond;
    }
    const Stage largest = sums.largest();
    return told > untold && explained_.by(largest) ? std::optional(largest) : std::nullopt;
  }

  // Nothing where the frequency leaves open what turns the angle has made.
  std::optional<reference::PairStageErrors> errors_at(std::size_t row, std::int64_t pair) {
    const auto i = static_cast<std::size_t>(pair);
    const std::int64_t place = encoded_.place(grid_.positions[row]);
    const identify::MeasuredTurn& turn = turns_[i];
    const double open = std::fabs(static_cast<double>(place)) * turn.uncertainty;
    const bool is_claimed = std::fabs(turn.radians - claimed_[i]) <= turn.uncertainty;
    if (open > 0.5) return std::nullopt;
    const PairValues& seen = grid_.rows[row][i];
    const Enclosure factor = encoded_.radius(stage_precision);
    const double size = factor.upper();
    reference::SeenIntermediates had;
    PairValues expected{grid_.truth[row].sin[i].high, grid_.truth[row].cos[i].high};
    double apart = angle_error(seen, grid_.truth[row], i);
    if (!is_claimed) {
      had.frequency = turn.radians;
      const double angle = turn.radians * static_cast<double>(place);
      expected = {size * std::sin(angle), size * std::cos(angle)};
      apart = std::remainder(std::atan2(seen.sin, seen.cos) - angle, 2 * std::numbers::pi);
    }
    if (std::fabs(apart) > norm_.noise + open) {
      had.angle = std::atan2(seen.sin, seen.cos);
      expected = {size * std::sin(*had.angle), size * std::cos(*had.angle)};
    }
    const auto is_rounded = [&](double value, double from) {
      return std::fabs(value - from) <= ulp(spec_.dtype, value) * (1 + 0x1p-20);
    };
    if (!is_rounded(seen.sin, expected.sin) || !is_rounded(seen.cos, expected.cos)) had.table = {seen.sin, seen.cos};
    const Enclosure angle = encoded_.angle(grid_.positions[row], pair, stage_precision);
    const reference::Rotation real{angle, sin(angle), cos(angle)};
    const auto exactly = [](double x) { return Enclosure(x, stage_precision); };
    if (!turned_)
      return reference::stage_errors(real, factor, place, had, {exactly(1), exactly(0)},
                                     {seen.cos, seen.sin, spec_.dtype});
    const double unseen = std::max(ulp(spec_.dtype, seen.sin), ulp(spec_.dtype, seen.cos));
    const PairValues& x = vectors_[i];
    const PairValues& y = (*turned_)[row][i];
    return reference::stage_errors(real, factor, place, had, {exactly(x.cos), exactly(x.sin)},
                                   {y.cos, y.sin, spec_.dtype, unseen});
  }

  Session& session_;
  EncodedPairs& encoded_;
  const Spec& spec_;
  const AnsweredGrid& grid_;
  std::vector<double> claimed_;
  std::vector<PairValues> vectors_;
  std::optional<Rows> turned_;  // those
  identify::Norm norm_;
  std::vector<identify::MeasuredTurn> turns_;
  Explained explained_;
};

}  // namespace

std::optional<Stage> told_stage(Session& session, EncodedPairs& encoded, const Spec& spec, const AnsweredGrid& grid) {
  return StageTeller(session, encoded, spec, grid).tell();
}

}  // namespace sextant
