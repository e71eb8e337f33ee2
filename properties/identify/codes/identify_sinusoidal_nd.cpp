// Over 400 lines: tables of two axes are searched as those of any number, and share all but their grid.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/identify/codes/axis_formulas.hpp"
#include "properties/identify/codes/call_extents.hpp"
#include "properties/identify/differences.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/rotations/frequency_format.hpp"
#include "properties/identify/rotations/identify_axes.hpp"
#include "properties/identify/tried_claims.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// A claim of any number of axes as one of two, where that says it.
std::optional<Sinusoidal2d> as_2d(const SinusoidalNd& nd, Sinusoidal2d table) {
  if (nd.first != First::sin || nd.denominator != Denominator::dim || nd.channel_order != ChannelOrder::blocked ||
      nd.position_offset != 0 || nd.coordinates != Coordinates::index || !nd.scales.empty())
    return std::nullopt;
  table.base = nd.base;
  table.layout = nd.layout;
  table.axis_order = nd.axis_order.empty() ? AxisOrder::height_first : AxisOrder::width_first;
  return table;
}

// What a base and the units of the axes explain.
struct NdSeries {
  SinusoidalNd table;
  FrequencyFormat format = FrequencyFormat::float32;
  int digits = 0;
  bool is_pinned = true;
  Range base;
  bool multiplies = false;                     // by the claim's scales
  bool lacks_turn = false;                     // coordinates run up to 1
  std::optional<RoundNumber> turns = {};       // that coordinates run up to, where the claim has one
  std::optional<std::size_t> divides_by = {};  // the axis whose last position every axis is divided by
};

class SinusoidalNdIdentifier {
 public:
  SinusoidalNdIdentifier(CountedSession& session, const Spec& claim, const SinusoidalNd& table)
      : session_(session), claim_(claim), table_(table) {}

  Identification run() {
    for (std::int64_t axis = 0; axis < axes(table_); ++axis) ask(axis);
    if (!find_layout()) {
      found_.table.emplace_back("no two channels of a known layout are the sine and cosine of one axis' angle");
      tell_channels();
    } else if (take_offset()) {
      name_series();
      if (!found_.spec) {
        tell_frequencies();
        tell_exponents();
      }
    }
    found_.calls = session_.calls();
    return std::move(found_);
  }

 private:
  // Along one axis, the others' coordinates being 0.
  void ask(std::int64_t axis) {
    const std::int64_t extent = table_.extents[static_cast<std::size_t>(axis)];
    std::vector<std::int64_t> along = doubling_positions(extent);
    if (along.back() < extent - 1) along.push_back(extent - 1);
    std::vector<std::int64_t> all(along.size() * table_.extents.size(), 0);
    std::ranges::copy(along, all.begin() + axis * std::ssize(along));
    answers_.push_back(encode(session_, claim_, all));
    positions_.push_back(std::move(along));
  }

  double at(std::int64_t axis, std::int64_t row, std::int64_t channel) const {
    return answers_[static_cast<std::size_t>(axis)].at(row * table_.dim + channel);
  }

  // The pairs of an axis that are not cut off, along an axis.
  Rows rows_of(const SinusoidalNd& layout, std::int64_t axis, std::int64_t along) const {
    Rows rows;
    for (std::int64_t row = 0; row < std::ssize(positions_[static_cast<std::size_t>(along)]); ++row) {
      auto& values = rows.emplace_back();
      for (std::int64_t pair = 0; pair < pairs(layout, axis); ++pair) {
        const Channels channels = channels_of_pair(layout, axis, pair);
        if (channels.first >= table_.dim || channels.second >= table_.dim) continue;
        values.push_back({.sin = at(along, row, channels.first), .cos = at(along, row, channels.second)});
      }
    }
    return rows;
  }

  bool is_layout(const SinusoidalNd& layout) {
    std::vector<std::vector<MeasuredTurn>> turns;
    std::vector<Rows> all;
    for (std::int64_t axis = 0; axis < axes(layout); ++axis) {
      for (std::int64_t along = 0; along < axes(layout); ++along) {
        const Rows rows = rows_of(layout, axis, along);
        if (rows.front().empty()) return false;
        const auto is_on_circle = [&](const PairValues& value) {
          return std::fabs(std::hypot(value.sin, value.cos) - 1) <= noise();
        };
        for (const auto& row : rows) {
          if (!std::ranges::all_of(row, is_on_circle)) return false;
          if (along == axis) continue;
          const auto stays = [](const PairValues& a, const PairValues& b) { return a.sin == b.sin && a.cos == b.cos; };
          if (!std::ranges::equal(row, rows.front(), stays)) return false;
        }
        if (along == axis) all.push_back(rows);
      }
      Norm norm = norm_of(all.back(), claim_.dtype);
      norm.noise = noise();
      turns.push_back(measured_turns(positions_[static_cast<std::size_t>(axis)], all.back(), norm));
      const auto backward =
          std::ranges::count_if(turns.back(), [](const MeasuredTurn& turn) { return turn.radians < 0; });
      if (2 * backward > std::ssize(turns.back())) return false;
    }
    turns_ = std::move(turns);
    rows_ = std::move(all);
    return true;
  }

  double noise() const { return 8 * std::ldexp(1, -format_of(claim_.dtype).precision); }

  bool find_layout() {
    std::vector<std::vector<std::int64_t>> shares{table_.channels};
    const std::int64_t equal = table_.dim / axes(table_) / 2 * 2;
    // The last axis has the rest, or none has; or there are so many more that the row's end is cut off.
    shares.emplace_back(table_.channels.size(), equal).back() += table_.dim / 2 * 2 - axes(table_) * equal;
    shares.emplace_back(table_.channels.size(), equal);
    shares.emplace_back(table_.channels.size(), equal + 2);
    std::vector<std::int64_t> order = order_of_axes(table_);
    std::vector<std::vector<std::int64_t>> orders{order};
    std::ranges::sort(order);
    do orders.push_back(order);
    while (std::ranges::next_permutation(order).found);
    for (const auto& channels : shares) {
      for (const auto& axis_order : orders) {
        for (const ChannelOrder channel_order :
             {table_.channel_order, ChannelOrder::blocked, ChannelOrder::alternating}) {
          for (const Layout layout : {table_.layout, Layout::interleaved, Layout::concatenated}) {
            for (const First first : {table_.first, First::sin, First::cos}) {
              SinusoidalNd tried = table_;
              tried.channels = channels;
              tried.axis_order = axis_order;
              if (std::ranges::is_sorted(axis_order)) tried.axis_order.clear();
              tried.channel_order = channel_order;
              tried.layout = layout;
              tried.first = first;
              if (!is_valid(tried) || !is_layout(tried)) continue;
              layout_ = tried;
              found_.seen.push_back(fmt::format(
                  "channels of axes {}, {}; sines and cosines {}, {} first", fmt::join(order_of_axes(tried), ", "),
                  channel_order == ChannelOrder::blocked ? "one after another" : "pair by pair",
                  layout == Layout::interleaved ? "side by side" : "in two halves",
                  first == First::sin ? "sines" : "cosines"));
              return true;
            }
          }
        }
      }
    }
    return false;
  }

  bool is_valid(const SinusoidalNd& table) const {
    Spec spec = claim_;
    spec.encoding = table;
    try {
      validate(spec);
      return true;
    } catch (const SpecError&) {
      return false;
    }
  }

  bool starts_at(std::int64_t offset) const {
    for (std::size_t axis = 0; axis < turns_.size(); ++axis) {
      for (std::size_t i = 0; i < turns_[axis].size(); ++i) {
        const double angle = turns_[axis][i].radians * static_cast<double>(offset);
        const double off = 2 * noise() + std::fabs(static_cast<double>(offset)) * turns_[axis][i].uncertainty;
        const PairValues& value = rows_[axis].front()[i];
        if (!(std::fabs(std::remainder(std::atan2(value.sin, value.cos) - angle, 2 * std::numbers::pi)) <= off))
          return false;
      }
    }
    return true;
  }

  bool take_offset() {
    for (const std::int64_t offset :
         {table_.position_offset, std::int64_t{0}, std::int64_t{1}, 2 * table_.position_offset}) {
      if (!starts_at(offset)) continue;
      layout_.position_offset = offset;
      if (offset != 0) found_.seen.push_back(fmt::format("coordinate 0 is encoded as {}", offset));
      return true;
    }
    found_.table.emplace_back("coordinate 0 has phases of no one coordinate");
    tell_frequencies();
    return false;
  }

  static Range around(FrequencyFormat format, std::size_t pair, const MeasuredTurn& turn) {
    const double off = left_open(format, pair, turn);
    return {std::max(turn.radians - off, 1e-300), turn.radians + off};
  }

  // What a count is divided by, an axis: 1; 2 pi of the extent's end; the claim's; or round numbers.
  bool take_units(NdSeries& series) const {
    std::vector<Range> units;
    for (const auto& turns : turns_) {
      const Range first = around(series.format, 0, turns.front());
      units.push_back({1 / first.high, 1 / first.low});
    }
    series.table.coordinates = Coordinates::index;
    series.table.epsilon = 0;
    series.table.scales.clear();
    const auto all_hold = [&](auto unit_of) {
      for (std::size_t axis = 0; axis < units.size(); ++axis) {
        if (!units[axis].holds(unit_of(axis))) return false;
      }
      return true;
    };
    if (all_hold([](std::size_t) { return 1.0; })) return true;
    if (!table_.scales.empty() && all_hold([&](std::size_t axis) { return table_.scales[axis]; })) {
      series.table.scales = table_.scales;
      return true;
    }
    if (!table_.scales.empty() && all_hold([&](std::size_t axis) { return 1 / table_.scales[axis]; })) {
      for (const double scale : table_.scales) series.table.scales.push_back(1 / scale);
      series.multiplies = true;
      series.digits += 1;
      return true;
    }
    // Of normalized coordinates 2 pi units is extent - 1 + offset + epsilon.
    Range epsilons{-HUGE_VAL, HUGE_VAL};
    for (std::size_t axis = 0; axis < units.size(); ++axis) {
      const double last = static_cast<double>(table_.extents[axis] - 1 + layout_.position_offset);
      epsilons = common(
          epsilons, {2 * std::numbers::pi * units[axis].low - last, 2 * std::numbers::pi * units[axis].high - last});
    }
    if (!epsilons.is_empty()) {
      series.table.coordinates = Coordinates::normalized;
      series.table.epsilon = table_.epsilon;
      if (!epsilons.holds(series.table.epsilon))
        series.table.epsilon = epsilons.holds(0) ? 0 : epsilons.holds(1e-6) ? 1e-6 : roundest_in(epsilons).value;
      series.digits += 1;
      series.is_pinned = epsilons.high - epsilons.low < 1e-3;
      return series.table.epsilon >= 0;
    }
    // A claim's normalized coordinates that are divided by their last one, and multiplied by no turn.
    const auto last_of = [&](std::size_t axis) {
      return static_cast<double>(table_.extents[axis] - 1 + layout_.position_offset) + table_.epsilon;
    };
    if (table_.coordinates == Coordinates::normalized && all_hold(last_of)) {
      for (std::size_t axis = 0; axis < units.size(); ++axis) series.table.scales.push_back(last_of(axis));
      series.lacks_turn = true;
      series.digits += 1;
      return true;
    }
    // So many turns on every axis, where the claim has one.
    if (table_.coordinates == Coordinates::normalized) {
      Range times{0, HUGE_VAL};
      for (std::size_t axis = 0; axis < units.size(); ++axis) {
        const double one_turn = last_of(axis) / (2 * std::numbers::pi);
        times = common(times, {one_turn / units[axis].high, one_turn / units[axis].low});
      }
      if (!times.is_empty() && times.low > 0) {
        series.turns = roundest_in(times);
        for (std::size_t axis = 0; axis < units.size(); ++axis)
          series.table.scales.push_back(last_of(axis) / (2 * std::numbers::pi) / series.turns->value);
        series.digits += series.turns->digits;
        series.is_pinned = is_pinned(times, *series.turns);
        return true;
      }
    }
    // A turn over the last position of one axis, whatever the axis.
    for (std::size_t of = 0; table_.coordinates == Coordinates::normalized && of < units.size(); ++of) {
      const double unit = last_of(of) / (2 * std::numbers::pi);
      if (!all_hold([&](std::size_t) { return unit; })) continue;
      series.table.scales.assign(units.size(), unit);
      series.divides_by = of;
      series.digits += 1;
      return true;
    }
    for (const Range& unit : units) {
      const RoundNumber scale = roundest_in(unit);
      series.table.scales.push_back(scale.value);
      series.digits += scale.digits;
      series.is_pinned = series.is_pinned && is_pinned(unit, scale);
    }
    return true;
  }

  // Whether frequencies, by counts or by coordinates, are numbers of the series' format.
  bool are_of(const NdSeries& series) const {
    for (std::size_t axis = 0; axis < turns_.size(); ++axis) {
      const double unit = series.table.scales.empty() ? 1 : series.table.scales[axis];
      if (!are_numbers_of(series.format, turns_[axis], 1) && !are_numbers_of(series.format, turns_[axis], unit))
        return false;
    }
    return true;
  }

  std::optional<NdSeries> series_of(FrequencyFormat format, Denominator denominator) const {
    NdSeries series{layout_, format, digits_of(format), true, {1, HUGE_VAL}};
    series.table.denominator = denominator;
    if (!take_units(series) || !are_of(series)) return std::nullopt;
    Range logs{0, HUGE_VAL};
    for (std::size_t axis = 0; axis < turns_.size(); ++axis) {
      const double count = static_cast<double>(pairs(layout_, static_cast<std::int64_t>(axis)));
      const double divisor = denominator == Denominator::dim ? count : count - 1;
      if (divisor <= 0) return std::nullopt;
      const Range first = around(format, 0, turns_[axis].front());
      for (std::size_t i = 1; i < turns_[axis].size(); ++i) {
        const Range w = around(format, i, turns_[axis][i]);
        const double power = divisor / static_cast<double>(i);
        logs = common(logs, {-std::log(w.high / first.low) * power, -std::log(w.low / first.high) * power});
      }
    }
    if (logs.is_empty()) return std::nullopt;
    if (!std::isfinite(logs.high)) {
      series.is_pinned = false;  // one pair an axis shows no base
    } else {
      series.base = {std::exp(logs.low), std::exp(logs.high)};
      const RoundNumber base = roundest_in(series.base);
      series.table.base = base.value;
      series.digits += base.digits + (denominator == Denominator::dim ? 0 : 1);
      series.is_pinned = series.is_pinned && is_pinned_base(series.base, base);
    }
    return is_valid(series.table) ? std::optional(series) : std::nullopt;
  }

  void name_series() {
    std::vector<NdSeries> all;
    const auto shows_it = [](const std::vector<MeasuredTurn>& turns) { return shows_float64(turns); };
    for (const FrequencyFormat format : frequency_formats) {
      if (format == FrequencyFormat::float64 && !std::ranges::all_of(turns_, shows_it)) continue;
      for (const Denominator denominator : {Denominator::dim, Denominator::half_minus_one}) {
        if (const auto series = series_of(format, denominator)) all.push_back(*series);
      }
    }
    prefer_float64(all);
    if (all.empty()) return;
    std::ranges::stable_sort(all, {}, &NdSeries::digits);
    const NdSeries& best = all.front();
    found_.spec = claim_;
    found_.spec->encoding = best.table;
    if (std::isfinite(best.base.high))
      found_.seen.push_back(interval_text("base", best.table.base, best.base, best.is_pinned));
    if (const auto words = words_of(best.format); !words.empty())
      found_.arithmetic.emplace_back(std::string(words), DiagnosedStage::frequency);
    // Words for the scales alone, where nothing else differs.
    SinusoidalNd as_claimed = best.table;
    as_claimed.scales = table_.scales;
    Spec rest = claim_;
    rest.encoding = as_claimed;
    if (best.multiplies && to_json(rest) == to_json(claim_))
      found_.convention.emplace_back("coordinates are multiplied by their scales, where the claim divides by them",
                                     DiagnosedStage::position);
    as_claimed.coordinates = table_.coordinates;
    as_claimed.epsilon = table_.epsilon;
    rest.encoding = as_claimed;
    if (best.lacks_turn && to_json(rest) == to_json(claim_))
      found_.convention.emplace_back("normalized coordinates run up to 1, not to 2 pi", DiagnosedStage::position);
    if (best.turns && to_json(rest) == to_json(claim_))
      found_.convention.emplace_back(
          fmt::format("normalized coordinates run up to {:.6g} of a turn, not to a whole one, 2 pi", best.turns->value),
          DiagnosedStage::position);
    if (best.divides_by && to_json(rest) == to_json(claim_))
      found_.convention.emplace_back(
          fmt::format("all axes are divided by the last position of axis {}, not each by its own", *best.divides_by),
          DiagnosedStage::position);
    for (const NdSeries& other : all) {
      if (other.table.denominator == best.table.denominator || other.format != best.format ||
          other.digits > best.digits + 3)
        continue;
      Spec equal = claim_;
      equal.encoding = other.table;
      found_.equal.push_back(describe(equal));
    }
    FittedAnswers fitted = fitted_answers(session_, *found_.spec);
    // An epsilon that angles of float32 hardly show.
    if (best.table.epsilon != 0 && (!fitted.hold || fitted.spec.accuracy != claim_.accuracy)) {
      Spec without = claim_;
      SinusoidalNd other = best.table;
      other.epsilon = 0;
      without.encoding = other;
      FittedAnswers fitted_without = fitted_answers(session_, without);
      if (fitted_without.hold && fitted_without.spec.accuracy == claim_.accuracy) fitted = std::move(fitted_without);
    }
    tell_rest();
    found_.spec = fitted.spec;
    found_.of_bound = fitted.of_bound;
    if (!fitted.hold && found_.faults.empty())
      found_.faults.push_back(misfit("not every value is as near to it as its accuracy class claims"));
    found_.confidence = !found_.faults.empty()                   ? Confidence::low
                        : best.is_pinned && found_.equal.empty() ? Confidence::high
                                                                 : Confidence::medium;
  }

  // Channels beyond the axes', which are 0 as claimed.
  void tell_rest() {
    const std::int64_t filled = filled_channels(layout_);
    bool is_zero = true;
    bool is_repeated = true;
    for (std::int64_t axis = 0; axis < axes(layout_); ++axis) {
      for (std::int64_t row = 0; row < answers_[static_cast<std::size_t>(axis)].shape[0]; ++row) {
        for (std::int64_t channel = filled; channel < table_.dim; ++channel) {
          is_zero = is_zero && at(axis, row, channel) == 0;
          is_repeated = is_repeated && at(axis, row, channel) == at(axis, row, channel - filled);
        }
      }
    }
    if (is_zero) return;
    found_.faults.emplace_back(
        fmt::format("what of a row lies beyond the axes' channels, from {} on, {}, where the claim has 0", filled,
                    is_repeated ? "repeats the row's beginning" : "is not 0"),
        DiagnosedStage::table);
  }

  // Of the claim's own base and coordinates.
  void tell_exponents() {
    constexpr double angles_exactly = 0x1p-20;
    for (std::int64_t axis = 0; axis < axes(layout_); ++axis) {
      const auto& turns = turns_[static_cast<std::size_t>(axis)];
      const CountUnit unit = unit_of_axis(table_, axis);
      const double of_count = (unit.of == CountUnit::Of::turn ? 2 * std::numbers::pi : 1) / (unit.whole + unit.part);
      for (std::size_t i = 0; i < turns.size(); ++i) {
        const double power = -2 * static_cast<double>(i) / static_cast<double>(table_.dim);
        const double expected = of_count * std::pow(table_.base, power);
        if (!(std::fabs(turns[i].radians - expected) <= turns[i].uncertainty + angles_exactly * expected)) return;
      }
    }
    found_.faults.emplace_back("exponents are divided by the row's width, not by each axis' own",
                               DiagnosedStage::frequency);
  }

  void tell_frequencies() {
    for (std::size_t axis = 0; axis < turns_.size(); ++axis) {
      for (std::size_t i = 0; i < turns_[axis].size(); ++i) {
        const Channels at = channels_of_pair(layout_, static_cast<std::int64_t>(axis), static_cast<std::int64_t>(i));
        found_.table.push_back(fmt::format("channels {:>3} and {:>3}: axis {}, {:.9g} +- {:.1e} radians a position",
                                           at.first, at.second, axis, turns_[axis][i].radians,
                                           turns_[axis][i].uncertainty));
      }
    }
  }

  void tell_channels() {
    for (std::int64_t channel = 0; channel < table_.dim; ++channel) {
      std::string values;
      for (std::int64_t axis = 0; axis < axes(table_); ++axis)
        values += fmt::format("{}axis {} at 0 and 1 {:.6g}, {:.6g}", axis == 0 ? "" : "; ", axis, at(axis, 0, channel),
                              at(axis, positions_[static_cast<std::size_t>(axis)].size() > 1 ? 1 : 0, channel));
      found_.table.push_back(fmt::format("channel {:>3}: {}", channel, values));
    }
  }

  CountedSession& session_;
  Spec claim_;
  SinusoidalNd table_;
  SinusoidalNd layout_;                               // what has been told so far
  std::vector<Tensor> answers_;                       // along each axis
  std::vector<std::vector<std::int64_t>> positions_;  // likewise
  std::vector<Rows> rows_;                            // of each axis' own pairs
  std::vector<std::vector<MeasuredTurn>> turns_;      // likewise
  Identification found_;
};

}  // namespace

namespace {

// Cells that are counted from an axis' other end, or from its middle.
std::vector<OtherReading> other_origins(const Spec& claim, const SinusoidalNd& table) {
  std::vector<OtherReading> list;
  const auto last = [&](std::int64_t axis) { return table.extents[static_cast<std::size_t>(axis)] - 1; };
  const auto add_ends = [&](std::string words, const std::vector<std::int64_t>& of) {
    const auto taken_for = [of, extents = table.extents](std::int64_t axis, std::span<const std::int64_t> place) {
      const std::int64_t position = place[static_cast<std::size_t>(axis)];
      return std::ranges::count(of, axis) == 0 ? position : extents[static_cast<std::size_t>(axis)] - 1 - position;
    };
    list.push_back({std::move(words), DiagnosedStage::position, claim, {.positions = taken_for}});
  };
  std::vector<std::int64_t> all(static_cast<std::size_t>(axes(table)));
  std::iota(all.begin(), all.end(), 0);
  for (const std::int64_t axis : all)
    add_ends(fmt::format("{} is counted from its other end: position 0 is encoded as {}",
                         all.size() == 1 ? std::string("the axis") : fmt::format("axis {}", axis), last(axis)),
             {axis});
  if (all.size() > 1)
    add_ends(fmt::format("all axes are counted from their other ends: position 0 of axis 0 is encoded as {}", last(0)),
             all);
  if (table.coordinates != Coordinates::index) return list;
  // p - (e - 1)/2 is (2p - (e - 1))/2.
  SinusoidalNd halves = table;
  if (halves.scales.empty()) halves.scales.assign(all.size(), 1);
  for (double& scale : halves.scales) scale *= 2;
  const std::int64_t offset = std::exchange(halves.position_offset, 0);
  Spec doubled = claim;
  doubled.encoding = halves;
  list.push_back(
      {fmt::format("cells are counted from the grid's middle: position 0 of axis 0 is encoded as {}",
                   static_cast<double>(offset) - static_cast<double>(last(0)) / 2),
       DiagnosedStage::position,
       doubled,
       {.positions = [offset, extents = table.extents](std::int64_t axis, std::span<const std::int64_t> place) {
         const auto at = static_cast<std::size_t>(axis);
         return 2 * (place[at] + offset) - (extents[at] - 1);
       }}});
  return list;
}

// Where nothing else explains the answers; the table is the claim's, of any number of axes.
void take_other_places(CountedSession& session, const Spec& claim, const SinusoidalNd& table, Identification& found) {
  const bool is_misfit =
      std::ranges::any_of(found.faults, [](const Fault& one) { return one.kind == FaultKind::misfit; });
  if (!is_misfit && (found.spec || !found.faults.empty())) return;
  const auto blame = [&](std::string words) {
    found.faults.clear();
    found.faults.emplace_back(std::move(words), DiagnosedStage::position);
    if (is_misfit) found.spec = claim;
  };
  const AskedAnswers asked(session, claim);
  const std::vector<OtherReading> origins = other_origins(claim, table);
  if (const OtherReading* one = first_reading(asked, origins))
    blame(one->words);
  else if (std::string words = other_places(asked, claim); !words.empty())
    blame(std::move(words));
  else if (std::string by_axis = words_of_axis_formulas(claim, rows_of(asked, claim)); !by_axis.empty())
    blame(std::move(by_axis));
  else if (std::string by_call = words_of_call_extents(session, claim); !by_call.empty())
    blame(std::move(by_call));
  found.calls = session.calls();
}

// "cells are numbered with rows of 14, where the grid has rows of 20": the code of (0, c) is that of (c / 14, c % 14).
std::string other_width(CountedSession& session, const Spec& claim, const Sinusoidal2d& table) {
  constexpr std::int64_t most = 64;
  const std::int64_t columns = std::min({table.width, claim.max_position, most});
  if (columns < 3) return {};
  // The codes of cells [from, columns), numbered with rows of `width`.
  const auto cells = [&](std::int64_t width, std::int64_t from) {
    std::vector<std::int64_t> places;
    for (std::int64_t c = from; c < columns; ++c) places.push_back(c / width);
    for (std::int64_t c = from; c < columns; ++c) places.push_back(c % width);
    return encode(session, claim, places);
  };
  const Tensor first = cells(columns, 0);
  // A width that is seen within the first row: where its code is that of a cell of the second.
  for (std::int64_t width = 2; width < columns; ++width) {
    const std::int64_t last_row = (columns - 1) / width;
    if (last_row >= std::min(table.height, claim.max_position)) continue;
    const Tensor later = cells(width, width);
    if (std::ranges::equal(std::span(first.data).last(later.data.size()), later.data))
      return fmt::format("cells are numbered with rows of {}, where the grid has rows of {}", width, table.width);
  }
  return {};
}

}  // namespace

Identification identify_sinusoidal_nd(CountedSession& session, const Spec& claim, const SinusoidalNd& table) {
  Identification found = SinusoidalNdIdentifier(session, claim, table).run();
  take_other_places(session, claim, table, found);
  return found;
}

Identification identify_sinusoidal_2d(CountedSession& session, const Spec& claim, const Sinusoidal2d& table) {
  Spec general = claim;
  general.encoding = as_nd(table);
  general.max_position = std::max(table.height, table.width);
  Identification found = SinusoidalNdIdentifier(session, general, as_nd(table)).run();
  // A grid that is numbered cell by cell with the wrong width is no code of rows and columns.
  if (!found.spec || found.confidence == Confidence::low) {
    if (const std::string words = other_width(session, claim, table); !words.empty()) {
      found.faults = {Fault(words, DiagnosedStage::position)};
      found.arithmetic.clear();
      found.table.clear();
      found.spec.reset();
    }
    found.calls = session.calls();
  }
  take_other_places(session, claim, as_nd(table), found);
  if (!found.spec) return found;
  if (const auto named = as_2d(*held<SinusoidalNd>(*found.spec), table)) {
    Spec spec = claim;
    spec.accuracy = found.spec->accuracy;
    spec.evaluation = found.spec->evaluation;
    spec.encoding = *named;
    found.spec = spec;
    return found;
  }
  // No claim of two axes says it: what differs is told of the claim of any number of axes that does.
  if (found.convention.empty()) {
    for (const DiagnosedDifference& one : differences(general, *found.spec))
      found.convention.emplace_back(one.words, one.stage);
  }
  return found;
}

}  // namespace sextant::identify
