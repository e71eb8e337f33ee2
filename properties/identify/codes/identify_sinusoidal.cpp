// Over 400 lines: one search, whose steps share what has been told of the layout so far.

#include "properties/identify/codes/identify_sinusoidal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "properties/identify/codes/axis_formulas.hpp"
#include "properties/identify/codes/channel_formulas.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/rotations/claimed_frequencies.hpp"
#include "properties/identify/rotations/float32_turns.hpp"
#include "properties/identify/rotations/frequency_format.hpp"
#include "properties/identify/rotations/positions_used.hpp"
#include "properties/model/model.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// The pairs of a table's rows as a layout has them.
Rows pairs_of(const Tensor& table, const Sinusoidal& layout) {
  Rows rows;
  for (std::int64_t row = 0; row < table.shape[0]; ++row) {
    auto& values = rows.emplace_back();
    for (std::int64_t pair = 0; pair < pairs(layout); ++pair) {
      const Channels at = channels_of_pair(layout, pair);
      values.push_back({.sin = table.at(row * layout.dim + at.first), .cos = table.at(row * layout.dim + at.second)});
    }
  }
  return rows;
}

// Whether every pair has the same norm everywhere, as sine and cosine of one angle have.
bool is_on_circle(const Rows& rows, const Norm& norm) {
  return std::ranges::all_of(rows, [&](const auto& row) {
    return std::ranges::all_of(row, [&](const PairValues& value) {
      const double size = std::hypot(value.sin, value.cos);
      return !std::isfinite(size) || std::fabs(size - norm.size) <= 2 * norm.size * norm.noise;
    });
  });
}

struct SeriesFit {
  Sinusoidal table;
  FrequencyFormat format;
  int digits;
  bool is_pinned;
  Range base;
};

class SinusoidalIdentifier {
 public:
  SinusoidalIdentifier(CountedSession& session, const Spec& claim, const Sinusoidal& table)
      : session_(session), claim_(claim), table_(table) {}

  Identification run() {
    find();
    if (!found_.spec && found_.faults.empty()) tell_coordinates();
    found_.calls = session_.calls();
    return std::move(found_);
  }

 private:
  void find() {
    positions_ = doubling_positions(claim_.max_position);
    answer_ = encode(session_, claim_, positions_);
    if (is_constant()) {
      found_.faults.emplace_back("every position of a call has the same code", DiagnosedStage::position);
    } else if (!find_layout() && !take_padding_elsewhere()) {
      tell_formula();
      found_.table.emplace_back("no two channels of a known layout are the sine and cosine of one angle");
      tell_channels();
    } else if (found_.faults.empty()) {
      measure();
    }
  }

  // Of calls of many positions, where nothing else was told of channels and frequencies.
  void tell_coordinates() {
    std::string words = words_of_axis_formulas(claim_, rows_of(AskedAnswers(session_, claim_), claim_));
    if (words.empty()) return;
    found_.faults.emplace_back(std::move(words), DiagnosedStage::position);
  }

  bool is_constant() const {
    for (std::int64_t i = table_.dim; i < answer_.elements(); ++i) {
      if (answer_.at(i) != answer_.at(i % table_.dim)) return false;
    }
    return true;
  }

  // The claim's layout if it is one of those that fit.
  bool find_layout() {
    std::vector<Sinusoidal> layouts{table_};
    for (const Layout layout : {Layout::interleaved, Layout::concatenated}) {
      if (layout == Layout::interleaved && table_.dim % 2 == 1) continue;
      for (const First first : {First::sin, First::cos}) {
        layouts.push_back(table_);
        layouts.back().layout = layout;
        layouts.back().first = first;
      }
    }
    for (const Sinusoidal& layout : layouts) {
      positions_ = doubling_positions(claim_.max_position);
      rows_ = pairs_of(answer_, layout);
      norm_ = norm_of(rows_, claim_.dtype);
      // Of a layout that is not theirs, norms say nothing of the noise.
      norm_.noise = std::min(norm_.noise, 0x1p-5);
      if (!is_on_circle(rows_, norm_)) continue;
      keep_whole_positions();
      turns_ = measured_turns(positions_, rows_, norm_);
      // Cosines taken for sines turn backwards.
      const auto backward = std::ranges::count_if(turns_, [](const MeasuredTurn& turn) { return turn.radians < 0; });
      if (2 * backward > std::ssize(turns_)) continue;
      layout_ = layout;
      return true;
    }
    return false;
  }

  bool is_zero(std::int64_t channel) const {
    for (std::int64_t row = 0; row < answer_.shape[0]; ++row) {
      if (answer_.at(row * table_.dim + channel) != 0) return false;
    }
    return true;
  }

  // The channel of zeros that pads an odd width before the pairs or between their halves.
  bool take_padding_elsewhere() {
    if (table_.dim % 2 == 0) return false;
    const Tensor seen = answer_;
    for (const std::int64_t padding : {std::int64_t{0}, pairs(table_)}) {
      if (!is_zero(padding)) continue;
      for (std::int64_t row = 0; row < seen.shape[0]; ++row) {
        const std::int64_t start = row * table_.dim;
        for (std::int64_t channel = padding; channel + 1 < table_.dim; ++channel)
          answer_.set(start + channel, seen.at(start + channel + 1));
        answer_.set(start + table_.dim - 1, 0);
      }
      const bool is_it = find_layout();
      answer_ = seen;
      if (!is_it) continue;
      found_.faults.emplace_back(padding == 0
                                     ? "the channel that pads an odd width comes first, where the claim has it last"
                                     : "the channel that pads an odd width stands between the halves, not behind them",
                                 DiagnosedStage::table);
      return true;
    }
    return false;
  }

  // What pads an odd width in place of zeros.
  void take_padding() {
    const std::int64_t last = table_.dim - 1;
    if (table_.dim % 2 == 0 || is_zero(last)) return;
    const auto value = [&](std::int64_t row, std::int64_t channel) { return answer_.at(row * table_.dim + channel); };
    bool is_constant = true;
    bool is_repeated = true;
    for (std::int64_t row = 0; row < answer_.shape[0]; ++row) {
      is_constant = is_constant && value(row, last) == value(0, last);
      is_repeated = is_repeated && value(row, last) == value(row, last - 1);
    }
    found_.faults.emplace_back(
        is_repeated   ? std::string("the channel that pads an odd width repeats the one before, where the claim has 0")
        : is_constant ? fmt::format("the channel that pads an odd width is {:g}, where the claim has 0", value(0, last))
                      : std::string("the channel that pads an odd width is not 0"),
        DiagnosedStage::table);
  }

  // What every channel of the claim's layout is, whatever pairs they make.
  void tell_formula() {
    std::string words = words_of_channels(doubling_positions(claim_.max_position), answer_, table_);
    if (!words.empty()) found_.faults.emplace_back(std::move(words), DiagnosedStage::other);
  }

  // Positions that are divided by a call's tokens: two calls that have position 1 among another number of them.
  bool are_divided_by_tokens() {
    const auto phase_in = [&](std::int64_t tokens) {
      std::vector<std::int64_t> asked(static_cast<std::size_t>(tokens), 0);
      asked.front() = 1;
      const PairValues first = pairs_of(encode(session_, claim_, asked), layout_).front().front();
      return std::atan2(first.sin, first.cos);
    };
    const double w = angles_per_step(table_);
    const auto is_by = [&](std::int64_t divided) {
      return std::fabs(phase_in(divided) - w / static_cast<double>(divided)) < 0x1p-10 * w;
    };
    return is_by(4) && is_by(9);
  }

  // Of positions of which the fractional ones are encoded as 0 is, the whole ones are measured.
  void keep_whole_positions() {
    const auto fractions = static_cast<std::ptrdiff_t>(fractions_like_0(positions_, rows_, table_.positions.step));
    const auto drop = [&](auto& list) { list.erase(list.begin() + 1, list.begin() + 1 + fractions); };
    drop(positions_);
    drop(rows_);
  }

  // With an offset, doubling positions are no powers of two, so that narrow formats round their angles: those are asked
  // that are once it is added. What is encoded as 0 is known.
  void measure_at_powers() {
    if (!is_turned(rows_.front(), norm_)) return;
    const PairValues& slowest = rows_.front().back();
    const double turned = std::round(std::atan2(slowest.sin, slowest.cos) / turns_.back().radians);
    if (turned != 1 && turned != 2) return;  // of others the first step would be longer than half a turn
    const auto offset = static_cast<std::int64_t>(turned);
    std::vector<std::int64_t> places;
    std::vector<std::int64_t> asked;
    for (const std::int64_t place : positions_) {
      if (place < offset) continue;
      places.push_back(place);
      asked.push_back(place - offset);
    }
    Rows rows = pairs_of(encode(session_, claim_, asked), layout_);
    rows.insert(rows.begin(), std::vector<PairValues>(rows.front().size(), {.sin = 0, .cos = norm_.size}));
    places.insert(places.begin(), 0);
    turns_ = measured_turns(places, rows, norm_);
  }

  void measure() {
    measure_at_powers();
    const bool interleaved = layout_.layout == Layout::interleaved;
    found_.seen.push_back(fmt::format("{} frequencies; sines and cosines {}, {} first", turns_.size(),
                                      interleaved ? "side by side" : "in two halves",
                                      layout_.first == First::sin ? "sines" : "cosines"));
    double worst = 0;
    for (const MeasuredTurn& turn : turns_) worst = std::max(worst, turn.uncertainty / std::fabs(turn.radians));
    found_.seen.push_back(
        fmt::format("frequencies from {:.8g} to {:.8g} radians a position, each known to within {:.1e} of its value",
                    turns_.back().radians, turns_.front().radians, worst));
    if (!norm_.range.holds(1)) found_.seen.push_back(fmt::format("values up to {:.7g}", norm_.size));
    layout_.scale = norm_.range.holds(table_.scale) ? table_.scale
                    : norm_.range.holds(1)          ? 1
                                                    : roundest_in(norm_.range).value;
    take_offset();
    take_padding();
    name_series();
    if (!found_.spec) name_other_units();
    // Of more than half a turn a step nothing is measured.
    const std::vector<double> claimed = model_of(claim_)->encoded_pairs()->frequencies(claim_.max_position);
    const bool are_measured = std::ranges::all_of(claimed, [](double w) { return std::fabs(w) < std::numbers::pi; });
    if (!found_.spec && found_.faults.empty()) tell_formula();
    if (!found_.spec && found_.faults.empty() && are_measured) {
      auto words = rounded_wavelengths(turns_, claimed);
      if (!words) words = odd_frequencies(turns_, claimed);
      if (words) found_.faults.emplace_back(std::move(*words), DiagnosedStage::frequency);
    }
    if (!found_.spec) tell_frequencies();
  }

  // Angles of a thousand times the claim's, or a thousandth, or of turns in place of radians, which may be more than
  // half a turn a step.
  void name_other_units() {
    constexpr double turn = 2 * std::numbers::pi;
    for (const double times : {1000.0, 1e-3, turn, 1 / turn, std::numbers::pi}) {
      Sinusoidal tried = layout_;
      tried.base = table_.base;
      tried.downscale_freq_shift = table_.downscale_freq_shift;
      tried.angle_scale = table_.angle_scale * times;
      Spec spec = claim_;
      spec.encoding = tried;
      const FittedAnswers fitted = fitted_answers(session_, spec);
      if (!fitted.hold || fitted.spec.accuracy != claim_.accuracy) continue;
      found_.faults.clear();  // of frequencies that are not its own
      found_.spec = spec;
      found_.confidence = Confidence::medium;
      return;
    }
  }

  bool starts_at(std::int64_t offset) const {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const double angle = turns_[i].radians * static_cast<double>(offset);
      const double off =
          norm_.noise + std::fabs(static_cast<double>(offset)) * turns_[i].uncertainty + std::fabs(angle) * 0x1p-22;
      const PairValues& value = rows_.front()[i];
      if (!(std::fabs(std::remainder(std::atan2(value.sin, value.cos) - angle, 2 * std::numbers::pi)) <= off))
        return false;
    }
    return true;
  }

  // All pairs a quarter of a turn off at position 0: of sines, or of cosines, with the other sign.
  bool take_sign() {
    const auto are_at = [&](double phase) {
      return std::ranges::all_of(rows_.front(), [&](const PairValues& value) {
        return std::fabs(std::remainder(std::atan2(value.sin, value.cos) - phase, 2 * std::numbers::pi)) <= norm_.noise;
      });
    };
    constexpr double quarter = std::numbers::pi / 2;
    const bool of_sines = are_at(quarter);
    if (!of_sines && !are_at(-quarter)) return false;
    layout_.first = table_.first;
    found_.faults.emplace_back(of_sines ? "every sine has the other sign" : "every cosine has the other sign",
                               DiagnosedStage::table);
    return true;
  }

  // The offset that explains all phases at position 0: the claim's, or one that the slowest pair tells.
  void take_offset() {
    const PairValues& slowest = rows_.front().back();
    const double turned = std::atan2(slowest.sin, slowest.cos) / turns_.back().radians;
    std::vector<std::int64_t> offsets{table_.position_offset, 0, 1, 2, -1};
    if (std::fabs(turned) < 1e6)
      for (std::int64_t near = -3; near <= 3; ++near) offsets.push_back(std::llround(turned) + near);
    const auto found = std::ranges::find_if(offsets, [&](std::int64_t offset) { return starts_at(offset); });
    if (found == offsets.end() && take_sign()) return;
    if (found == offsets.end()) {
      found_.faults.push_back(misfit("position 0 has phases of no one position"));
      return;
    }
    layout_.position_offset = *found;
    if (*found != 0) found_.seen.push_back(fmt::format("position 0 is encoded as position {}", *found));
  }

  // a base^(-i/(h - s)): the scale of angles is the first frequency, and of the shifts that are in use the one under
  // which the base is round.
  void name_series() {
    std::vector<SeriesFit> fits;
    for (const FrequencyFormat format : frequency_formats) {
      if (format == FrequencyFormat::float64 && !shows_float64(turns_)) continue;
      for (const std::int64_t shift : {table_.downscale_freq_shift, std::int64_t{0}, std::int64_t{1}}) {
        if (const auto fit = fit_of(format, shift)) fits.push_back(*fit);
      }
      // Every shift has a base that makes the same frequencies: one that nobody uses is told by a base in use.
      for (std::int64_t shift = 2; shift < pairs(layout_); ++shift) {
        const auto fit = fit_of(format, shift);
        if (fit && fit->is_pinned && std::ranges::find(bases_in_use, fit->table.base) != bases_in_use.end())
          fits.push_back(*fit);
      }
    }
    prefer_float64(fits);
    if (fits.empty()) return;
    std::ranges::stable_sort(fits, {}, &SeriesFit::digits);
    const SeriesFit& best = fits.front();
    found_.spec = claim_;
    found_.spec->encoding = best.table;
    if (pairs(table_) > 1) found_.seen.push_back(interval_text("base", best.table.base, best.base, best.is_pinned));
    if (const auto words = words_of(best.format); !words.empty())
      found_.arithmetic.emplace_back(std::string(words), DiagnosedStage::frequency);
    narrow_ = dtype_of(best.format);
    tell_exponents(best);
    for (const SeriesFit& fit : fits) {
      Spec other = claim_;
      other.encoding = fit.table;
      const bool is_other = fit.table.downscale_freq_shift != best.table.downscale_freq_shift;
      if (is_other && fit.format == best.format && fit.digits <= best.digits + 3)
        found_.equal.push_back(describe(other));
    }
    const bool known_positions = check_positions();
    const FittedAnswers fitted = fitted_answers(session_, *found_.spec, narrow_);
    found_.spec = fitted.spec;
    found_.of_bound = fitted.of_bound;
    if (fitted.hold) found_.recipe = recipe_of(session_, fitted.spec);
    const bool is_less_exact = !fitted.hold || fitted.spec.accuracy != claim_.accuracy;
    if (is_less_exact && found_.faults.empty() && found_.arithmetic.empty() && !tell_members()) tell_reduction();
    if (!fitted.hold && found_.faults.empty() && found_.arithmetic.empty()) {
      found_.faults.push_back(misfit(fitted.where));
      if (best.table.angle_scale != table_.angle_scale && are_divided_by_tokens()) {
        // What frequencies are by the number of tokens is no field.
        found_.faults = {Fault("positions are divided by the number of tokens in a call", DiagnosedStage::position)};
        found_.arithmetic.clear();
        found_.spec.reset();
        return;
      }
    }
    const bool clear = best.is_pinned && found_.equal.empty() && best.digits < 9;
    found_.confidence = !known_positions || !fitted.hold || !found_.faults.empty() ? Confidence::low
                        : clear                                                    ? Confidence::high
                                                                                   : Confidence::medium;
  }

  // What a base or a scale of many digits is called where other exponents of the claim's own explain it.
  void tell_exponents(const SeriesFit& best) {
    constexpr int many_digits = 5;
    const bool is_odd =
        best.digits >= many_digits && (best.table.base != table_.base || best.table.angle_scale != table_.angle_scale);
    if (!is_odd) return;
    std::vector<CodeRow> rows;
    const std::vector<std::int64_t> places = doubling_positions(claim_.max_position);
    for (std::size_t row = 0; row < places.size(); ++row) {
      CodeRow& one = rows.emplace_back();
      one.place = {places[row]};
      for (std::int64_t channel = 0; channel < table_.dim; ++channel)
        one.channels.push_back(answer_.at(static_cast<std::int64_t>(row) * table_.dim + channel));
    }
    if (std::string words = words_of_axis_formulas(claim_, rows); !words.empty())
      found_.convention.emplace_back(std::move(words), DiagnosedStage::frequency);
  }

  std::optional<SeriesFit> fit_of(FrequencyFormat format, std::int64_t shift) const {
    const auto around = [&](std::size_t pair) -> Range {
      const double off = left_open(format, pair, turns_[pair]);
      return {std::max(turns_[pair].radians - off, 1e-300), turns_[pair].radians + off};
    };
    SeriesFit fit{layout_, format, digits_of(format), true, {1, HUGE_VAL}};
    const double step = layout_.positions.step;
    if (!are_numbers_of(format, turns_, 1) && !are_numbers_of(format, turns_, 1 / step) &&
        !are_numbers_of(format, turns_, 1 / (step * table_.angle_scale)))
      return std::nullopt;
    const Range first = around(0);
    const Range scales{first.low / step, first.high / step};
    const RoundNumber scale = scales.holds(1) ? RoundNumber{1, 0} : roundest_in(scales);
    fit.table.angle_scale = scale.value;
    fit.digits += scale.digits;
    fit.is_pinned = scale.value == 1 || is_pinned(scales, scale);
    fit.table.downscale_freq_shift = shift;
    const auto divisor = static_cast<double>(pairs(layout_) - shift);
    if (pairs(layout_) > 1) {
      if (divisor <= 0) return std::nullopt;
      Range log_base{0, HUGE_VAL};
      for (std::size_t i = 1; i < turns_.size(); ++i) {
        const Range w = around(i);
        const double power = divisor / static_cast<double>(i);
        log_base = common(
            log_base, {-std::log(w.high / step / scale.value) * power, -std::log(w.low / step / scale.value) * power});
      }
      if (log_base.is_empty()) return std::nullopt;
      fit.base = {std::exp(log_base.low), std::exp(log_base.high)};
      const RoundNumber base = roundest_in(fit.base);
      fit.table.base = base.value;
      fit.digits += base.digits + (shift == 0 ? 0 : shift == 1 ? 1 : 2);
      fit.is_pinned = fit.is_pinned && is_pinned_base(fit.base, base);
    }
    try {
      Spec spec = claim_;
      spec.encoding = fit.table;
      validate(spec);
    } catch (const SpecError&) {
      return std::nullopt;
    }
    return fit;
  }

  // Of many values, some of which are near 0.
  bool tell_members() {
    std::vector<std::int64_t> asked;
    for (std::int64_t token = 0; token < 64; ++token) asked.push_back((token * 7919 + 11) % claim_.max_position);
    std::string words = words_of_members(encode(session_, claim_, asked), layout_);
    if (words.empty()) return false;
    found_.faults.emplace_back(std::move(words), DiagnosedStage::table);
    return true;
  }

  void tell_reduction() {
    if (std::string words = words_of_float32_turns(session_, *found_.spec); !words.empty())
      found_.arithmetic.emplace_back(std::move(words), DiagnosedStage::angle);
  }

  bool check_positions() {
    if (!found_.faults.empty() || layout_.position_offset != 0) return true;
    const PositionsUsed used = positions_used(
        {.ask = [&](const std::vector<std::int64_t>& positions,
                    const AskedShape&) { return pairs_of(encode(session_, claim_, positions), layout_); },
         .shape = {1, 1},
         .long_call = 260,
         .first = claim_.min_position,
         .end = claim_.max_position,
         .step = layout_.positions.step},
        {turns_, norm_.noise});
    // At powers of two an angle's rounding is that of its frequency.
    if (used.angles) found_.arithmetic.clear(), narrow_ = used.angles;
    if (used.is_vague && tell_members()) return true;
    if (!used.words.empty()) {
      (used.as_given ? found_.arithmetic : found_.faults)
          .emplace_back(used.words, used.as_given ? DiagnosedStage::angle : DiagnosedStage::position,
                        used.is_vague ? FaultKind::vague : FaultKind::cause);
    }
    return used.as_given || !used.words.empty();
  }

  void tell_frequencies() {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const Channels at = channels_of_pair(layout_, static_cast<std::int64_t>(i));
      found_.table.push_back(fmt::format("channels {:>3} and {:>3}: {:.9g} +- {:.1e} radians a position", at.first,
                                         at.second, turns_[i].radians, turns_[i].uncertainty));
    }
  }

  void tell_channels() {
    for (std::int64_t channel = 0; channel < table_.dim; ++channel) {
      std::string values;
      for (std::int64_t row = 0; row < std::min<std::int64_t>(answer_.shape[0], 4); ++row)
        values += fmt::format(" {:.6g}", answer_.at(row * table_.dim + channel));
      found_.table.push_back(fmt::format("channel {:>3}: at positions 0, 1, 2, 4{}", channel, values));
    }
  }

  CountedSession& session_;
  Spec claim_;
  Sinusoidal table_;
  Sinusoidal layout_;  // what has been told so far
  std::vector<std::int64_t> positions_;
  Tensor answer_;
  Rows rows_;
  Norm norm_;
  std::vector<MeasuredTurn> turns_;
  std::optional<Dtype> narrow_;  // of frequencies or angles, where it has 16 bits
  Identification found_;
};

}  // namespace

Identification identify_sinusoidal(CountedSession& session, const Spec& claim, const Sinusoidal& table) {
  return SinusoidalIdentifier(session, claim, table).run();
}

}  // namespace sextant::identify
