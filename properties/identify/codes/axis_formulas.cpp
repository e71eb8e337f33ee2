// Over 400 lines: a list of other formulas of an axis, and what is asked to tell them apart.
#include "properties/identify/codes/axis_formulas.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/codes/coordinate_maps.hpp"
#include "properties/identify/codes/fourier_rows.hpp"
#include "properties/identify/rotations/measured_turns.hpp"
#include "properties/identify/round_numbers.hpp"

namespace sextant::identify {
namespace {

// What an axis' channels are: sines and cosines of f_i (times p + plus), of each pair's frequency, and where they lie.
struct AxisCode {
  std::vector<double> frequencies;
  double times = 1;
  double plus = 0;
  double scale = 1;           // of values
  std::vector<Channels> own;  // of each pair: the sine's and the cosine's
  struct Order {
    std::string words;
    std::vector<Channels> pairs;
  };
  std::vector<Order> orders = {};         // other orders of the same channels
  std::optional<Sinusoidal> series = {};  // whose exponents may be others; nothing of features
};

std::string_view words_of(First first) { return first == First::sin ? "sines" : "cosines"; }

// The words of a layout and a first function that the claim has not.
std::string words_of_order(const Sinusoidal& claimed, const Sinusoidal& other) {
  std::string words;
  if (other.layout != claimed.layout)
    words = other.layout == Layout::interleaved ? "sines and cosines lie side by side, not in two halves"
                                                : "sines and cosines lie in two halves, not side by side";
  if (other.first != claimed.first)
    words += fmt::format("{}{} come first, where the claim has {} first", words.empty() ? "" : ", and ",
                         words_of(other.first), words_of(claimed.first));
  return words;
}

// `unit` is what a count of the pair of frequency 1 turns by; channels are in the order of the claim's own of the axis.
AxisCode axis_code(const Sinusoidal& code, double unit, const std::function<Channels(std::int64_t pair)>& own) {
  AxisCode made;
  made.plus = static_cast<double>(code.position_offset);
  made.scale = code.scale;
  made.series = code;
  std::vector<std::int64_t> channels(index(2 * pairs(code)));
  for (std::int64_t pair = 0; pair < pairs(code); ++pair) {
    made.frequencies.push_back(
        unit * std::pow(code.base, -static_cast<double>(pair) /
                                       std::max(1.0, static_cast<double>(pairs(code) - code.downscale_freq_shift))));
    const Channels within = channels_of_pair(code, pair);
    const Channels at = own(pair);
    channels[index(within.first)] = at.first;
    channels[index(within.second)] = at.second;
    made.own.push_back(at);
  }
  for (const Layout layout : {code.layout, Layout::interleaved, Layout::concatenated}) {
    for (const First first : {First::sin, First::cos}) {
      Sinusoidal other = code;
      other.dim = 2 * pairs(code);
      other.layout = layout;
      other.first = first;
      AxisCode::Order order{words_of_order(code, other), {}};
      if (order.words.empty()) continue;
      for (std::int64_t pair = 0; pair < pairs(code); ++pair) {
        const Channels within = channels_of_pair(other, pair);
        order.pairs.push_back({channels[index(within.first)], channels[index(within.second)]});
      }
      made.orders.push_back(std::move(order));
    }
  }
  return made;
}

std::vector<AxisCode> axis_codes(const Fourier& features) {
  std::vector<AxisCode> list;
  if (is_given(features)) return list;
  const double unit = features.angle_unit == AngleUnit::radian      ? 1
                      : features.angle_unit == AngleUnit::half_turn ? std::numbers::pi
                                                                    : 2 * std::numbers::pi;
  for (std::int64_t axis = 0; axis < features.axes; ++axis) {
    AxisCode& made = list.emplace_back();
    made.times = features.positions.step;
    if (features.coordinates != FourierCoordinates::index) {
      const auto extent = static_cast<double>(features.extents[index(axis)]);
      const bool are_centres = features.coordinates == FourierCoordinates::centres;
      made.plus = (are_centres ? 1 / extent : 0) - 1;
      made.times *= 2 / (are_centres ? extent : extent - 1);
    }
    AxisCode::Order exchanged{
        fmt::format("{} come first, where the claim has {} first",
                    words_of(features.first == First::sin ? First::cos : First::sin), words_of(features.first)),
        {}};
    for (std::int64_t band = 0; band < features.bands; ++band) {
      made.frequencies.push_back(unit * frequency_of_band(features, band));
      made.own.push_back(channels_of(features, axis, band));
      exchanged.pairs.push_back({made.own.back().second, made.own.back().first});
    }
    made.orders.push_back(std::move(exchanged));
  }
  return list;
}

std::vector<AxisCode> axis_codes(const Spec& claim) {
  if (const auto* features = held<Fourier>(claim)) return axis_codes(*features);
  std::vector<AxisCode> list;
  if (const auto* table = held<Sinusoidal>(claim)) {
    list.push_back(
        axis_code(*table, angles_per_step(*table), [&](std::int64_t pair) { return channels_of_pair(*table, pair); }));
    return list;
  }
  const auto* flat = held<Sinusoidal2d>(claim);
  const auto* nd = held<SinusoidalNd>(claim);
  if (flat == nullptr && nd == nullptr) return list;
  const SinusoidalNd table = flat != nullptr ? as_nd(*flat) : *nd;
  for (std::int64_t axis = 0; axis < axes(table); ++axis) {
    const CountUnit unit = unit_of_axis(table, axis);
    list.push_back(axis_code(code_of_axis(table, axis),
                             (unit.of == CountUnit::Of::turn ? 2 * std::numbers::pi : 1) / (unit.whole + unit.part),
                             [&, axis](std::int64_t pair) { return channels_of_pair(table, axis, pair); }));
  }
  return list;
}

enum class AxisFunction { sine, cosine };

class AxisFormulas {
 public:
  AxisFormulas(const Spec& claim, const AxisCode& code, std::int64_t axis, std::span<const CodeRow> rows)
      : claim_(claim), code_(code), axis_(axis), rows_(rows), unit_(std::ldexp(1, -format_of(claim.dtype).precision)) {}

  // Whether channels from there on, one a pair, are this function of the axis.
  bool are_in_part(std::int64_t first, AxisFunction function) const {
    std::vector<Channels> at;
    const std::int64_t none = INT64_MAX;
    for (std::int64_t pair = 0; pair < std::ssize(code_.frequencies); ++pair)
      at.push_back(function == AxisFunction::sine ? Channels{first + pair, none} : Channels{none, first + pair});
    return are_own(at);
  }

  // Nothing where the channels are as nothing that is tried; empty where they are as claimed.
  std::optional<std::string> words() const {
    if (are_own(code_.own)) return "";
    for (const AxisCode::Order& order : code_.orders) {
      if (are_own(order.pairs)) return order.words;
    }
    if (auto words = words_of_coordinates(code_.own)) return words;
    if (auto words = words_of_exponents(code_.own)) return words;
    for (const AxisCode::Order& order : code_.orders) {
      auto words = words_of_coordinates(order.pairs);
      if (!words) words = words_of_exponents(order.pairs);
      if (words) return fmt::format("{}; {}", order.words, *words);
    }
    return std::nullopt;
  }

 private:
  using Angle = std::function<double(double pair, AxisFunction function, const CodeRow& row)>;

  // Of a series alone.
  double divisor() const { return static_cast<double>(pairs(*code_.series) - code_.series->downscale_freq_shift); }
  double frequency(double numerator) const {
    return code_.frequencies.front() * (numerator == 0 ? 1 : std::pow(code_.series->base, -numerator / divisor()));
  }
  double count_at(double position) const { return code_.times * position + code_.plus; }
  double count(const CodeRow& row) const { return count_at(static_cast<double>(row.place[index(axis_)])); }
  double own_frequency(double pair) const { return code_.frequencies[static_cast<std::size_t>(pair)]; }
  static bool is_in(const CodeRow& row, std::int64_t channel) { return channel < std::ssize(row.channels); }

  // Whether channels are sine and cosine of these angles, of those that are known to less than a quarter of a radian.
  bool are(const std::vector<Channels>& at, const Angle& angle) const {
    std::int64_t told = 0;
    const double size = std::fabs(code_.scale);
    for (const CodeRow& row : rows_) {
      for (std::size_t pair = 0; pair < at.size(); ++pair) {
        for (const AxisFunction function : {AxisFunction::sine, AxisFunction::cosine}) {
          const std::int64_t channel = function == AxisFunction::sine ? at[pair].first : at[pair].second;
          if (!is_in(row, channel)) continue;
          const double expected = angle(static_cast<double>(pair), function, row);
          const double off = 32 * unit_ + std::fabs(expected) * 0x1p-20;
          if (!(off < 0.25)) continue;
          const double value = function == AxisFunction::sine ? std::sin(expected) : std::cos(expected);
          const double seen = row.channels[index(channel)];
          if (!(std::fabs(seen - code_.scale * value) <= off * size)) return false;
          ++told;
        }
      }
    }
    return told > 8;
  }

  bool are_own(const std::vector<Channels>& at) const {
    return are(at, [&](double pair, AxisFunction, const CodeRow& row) { return own_frequency(pair) * count(row); });
  }

  // The claim's frequencies, at the coordinates that the phases show.
  std::optional<std::string> words_of_coordinates(const std::vector<Channels>& at) const {
    const std::vector<double>& frequencies = code_.frequencies;
    const double slowest = *std::ranges::min_element(frequencies);
    const double finest = *std::ranges::max_element(frequencies);
    if (!(slowest > 0)) return std::nullopt;
    std::vector<TakenCoordinate> seen;
    for (const CodeRow& row : rows_) {
      std::vector<PairValues> values;
      for (const Channels& one : at) {
        if (!is_in(row, one.first) || !is_in(row, one.second)) return std::nullopt;
        const double scale = code_.scale;
        values.push_back(
            {.sin = row.channels[index(one.first)] / scale, .cos = row.channels[index(one.second)] / scale});
        if (!(std::fabs(std::hypot(values.back().sin, values.back().cos) - 1) <= 16 * unit_)) return std::nullopt;
      }
      // Beyond half a turn of the slowest pair no place is known, nor where it is that of another axis.
      const bool is_near = std::ranges::all_of(row.place, [&](std::int64_t position) {
        return std::fabs(slowest * count_at(static_cast<double>(position))) < 3;
      });
      if (!is_near) continue;
      const auto place = place_of_phases(values, frequencies, 32 * unit_);
      if (!place) return std::nullopt;
      seen.push_back({row.place, (*place - code_.plus) / code_.times});
    }
    const auto map = coordinate_map(seen, {.axis = axis_,
                                           .extents = extents_of(),
                                           .noise = 64 * unit_ / finest / code_.times,
                                           .relative = 0x1p-18,
                                           .step = position_grid_of(claim_.encoding).step,
                                           .unit = coordinate_unit(),
                                           .plus = code_.plus / code_.times});
    if (!map) return std::nullopt;
    const bool is_it = are(at, [&](double pair, AxisFunction, const CodeRow& row) {
      return own_frequency(pair) * count_at(map->of(row.place));
    });
    return is_it ? std::optional(map->words) : std::nullopt;
  }

  // What a step of the positions adds to the coordinate: of a series the pair of frequency 1 has it.
  double coordinate_unit() const { return code_.series ? code_.frequencies.front() : code_.times; }

  std::vector<std::int64_t> extents_of() const {
    if (const auto* nd = held<SinusoidalNd>(claim_)) return nd->extents;
    if (const auto* flat = held<Sinusoidal2d>(claim_)) return {flat->height, flat->width};
    if (const auto* features = held<Fourier>(claim_)) return features->extents;
    return {};
  }

  // The base that the frequencies of a row near 0 have, whose angles are less than half a turn.
  std::optional<double> seen_base(const std::vector<Channels>& at) const {
    const CodeRow* nearest = nullptr;
    for (const CodeRow& row : rows_) {
      const double own = std::fabs(count(row));
      if (own > 0 && (nearest == nullptr || own < std::fabs(count(*nearest)))) nearest = &row;
    }
    if (nearest == nullptr || at.size() < 3 || divisor() <= 0) return std::nullopt;
    const auto phase = [&](std::size_t pair) {
      return std::atan2(nearest->channels[index(at[pair].first)] / code_.scale,
                        nearest->channels[index(at[pair].second)] / code_.scale) /
             count(*nearest);
    };
    const std::size_t middle = at.size() / 2;
    for (const Channels& one : at) {
      if (!is_in(*nearest, one.first) || !is_in(*nearest, one.second)) return std::nullopt;
    }
    const double ratio = phase(0) / phase(middle);
    if (!(ratio > 0)) return std::nullopt;
    const double base = std::pow(ratio, divisor() / static_cast<double>(middle));
    if (!(base > 1 && base < 1e12)) return std::nullopt;
    constexpr double slack = 0x1p-12;
    for (const double known : bases_in_use) {
      if (std::fabs(known - base) <= slack * base) return known;
    }
    return roundest_in({base * (1 - slack), base * (1 + slack)}).value;
  }

  // The claim's coordinates, of other frequencies.
  std::optional<std::string> words_of_exponents(const std::vector<Channels>& at) const {
    if (!code_.series || divisor() <= 0) return std::nullopt;
    struct Exponents {
      std::string words;
      std::function<double(double pair, AxisFunction function)> numerator;
    };
    const double n = static_cast<double>(2 * pairs(*code_.series));
    const double width = width_of_row();
    const bool is_sine_second = code_.series->first == First::cos;
    const auto times = [&](double divided) {
      return [factor = divisor() / divided](double pair, AxisFunction) { return pair * factor; };
    };
    std::vector<Exponents> list{
        {"exponents count channels, not pairs: each channel has its own frequency, so that sine and cosine of a pair "
         "have two",
         [=](double pair, AxisFunction function) {
           return pair + ((function == AxisFunction::sine) == is_sine_second ? 0.5 : 0);
         }},
        {"exponents are those of the next pair: they begin at 1, not at 0",
         [](double pair, AxisFunction) { return pair + 1; }},
        {"exponents are (2i + 1) / n of pair i, where the claim has 2i / n",
         [](double pair, AxisFunction) { return pair + 0.5; }},
        {"frequencies come in reverse order: the first pair has the slowest",
         [last = n / 2 - 1](double pair, AxisFunction) { return last - pair; }},
        {fmt::format("exponents are twice the claim's, as with base {:.10g}", std::pow(code_.series->base, 2)),
         [](double pair, AxisFunction) { return 2 * pair; }},
        {fmt::format("exponents are half the claim's, as with base {:.10g}", std::sqrt(code_.series->base)),
         [](double pair, AxisFunction) { return pair / 2; }}};
    const auto add_divided = [&](double by, const std::string& what) {
      if (by > 0 && by != divisor())
        list.push_back(
            {fmt::format("exponents of pair i are i / {:g}, {}, where the claim has i / {:g}", by, what, divisor()),
             times(by)});
    };
    add_divided(n / 2, "divided by the number of pairs");
    add_divided(n / 2 - 1, "divided by the number of pairs less 1");
    add_divided(width / 2, "divided by half the row's width");
    add_divided(width, "divided by the row's width");
    for (const Exponents& one : list) {
      const bool is_it = are(at, [&](double pair, AxisFunction function, const CodeRow& row) {
        return frequency(one.numerator(pair, function)) * count(row);
      });
      if (is_it) return one.words;
    }
    if (const auto base = seen_base(at)) {
      const bool is_it = are(at, [&](double pair, AxisFunction, const CodeRow& row) {
        return code_.frequencies.front() * std::pow(*base, -pair / divisor()) * count(row);
      });
      if (is_it) return fmt::format("the base is {:.10g}, where the claim has {:.10g}", *base, code_.series->base);
    }
    return std::nullopt;
  }

  double width_of_row() const { return rows_.empty() ? 0 : static_cast<double>(rows_.front().channels.size()); }

  const Spec& claim_;
  const AxisCode& code_;
  std::int64_t axis_;
  std::span<const CodeRow> rows_;
  double unit_;
};

}  // namespace

SinusoidalNd as_nd(const Sinusoidal2d& table) {
  SinusoidalNd nd;
  nd.dim = table.dim;
  nd.extents = {table.height, table.width};
  nd.channels = {table.dim / 2, table.dim / 2};
  if (table.axis_order == AxisOrder::width_first) nd.axis_order = {1, 0};
  nd.base = table.base;
  nd.layout = table.layout;
  return nd;
}

std::vector<CodeRow> rows_of(const AskedAnswers& asked, const Spec& claim) {
  const std::int64_t all_axes = axes_of(claim.encoding);
  constexpr std::int64_t most_of_call = 64;
  std::vector<CodeRow> list;
  for (std::size_t call = 0; call < asked.calls().size(); ++call) {
    const std::vector<std::int64_t>& positions = asked.calls()[call].positions;
    const Tensor& answer = asked.answers()[call];
    const std::int64_t tokens = std::ssize(positions) / all_axes;
    if (tokens == 0) continue;
    const std::int64_t width = answer.elements() / tokens;
    const std::int64_t step = std::max<std::int64_t>(tokens / most_of_call, 1);
    for (std::int64_t token = 0; token < tokens; token += step) {
      CodeRow& row = list.emplace_back();
      for (std::int64_t axis = 0; axis < all_axes; ++axis) row.place.push_back(positions[index(axis * tokens + token)]);
      for (std::int64_t channel = 0; channel < width; ++channel)
        row.channels.push_back(answer.at(token * width + channel));
    }
  }
  return list;
}

namespace {

// Channels in as many equal parts as there are functions of axes, each the sines or the cosines of one axis: the order
// in which they come. Empty where they are none, or each stands where the claim has it.
std::string words_of_parts(const Spec& claim, const std::vector<AxisCode>& codes, std::span<const CodeRow> rows) {
  const std::size_t count = codes.front().frequencies.size();
  const bool are_alike =
      std::ranges::all_of(codes, [&](const AxisCode& code) { return code.frequencies.size() == count && code.series; });
  if (codes.size() < 2 || !are_alike) return {};
  std::vector<std::string> parts;
  bool is_own = true;
  for (std::size_t part = 0; part < 2 * codes.size(); ++part) {
    std::string found;
    for (std::size_t axis = 0; axis < codes.size() && found.empty(); ++axis) {
      const AxisFormulas formulas(claim, codes[axis], static_cast<std::int64_t>(axis), rows);
      for (const AxisFunction function : {AxisFunction::sine, AxisFunction::cosine}) {
        const auto first = static_cast<std::int64_t>(part * count);
        if (!formulas.are_in_part(first, function)) continue;
        found = fmt::format("{} of axis {}", function == AxisFunction::sine ? "sines" : "cosines", axis);
        const Channels& own = codes[axis].own.front();
        is_own = is_own && (function == AxisFunction::sine ? own.first : own.second) == first;
        break;
      }
    }
    if (found.empty() || std::ranges::find(parts, found) != parts.end()) return {};
    parts.push_back(std::move(found));
  }
  return is_own ? std::string() : fmt::format("channels come in another order: {}", fmt::join(parts, ", "));
}

}  // namespace

std::string words_of_axis_formulas(const Spec& claim, std::span<const CodeRow> rows) {
  constexpr std::size_t fewest = 3;
  const std::vector<AxisCode> codes = axis_codes(claim);
  if (codes.empty() || rows.size() < fewest) return {};
  std::vector<std::string> words;
  for (std::size_t axis = 0; axis < codes.size(); ++axis) {
    auto of_axis = AxisFormulas(claim, codes[axis], static_cast<std::int64_t>(axis), rows).words();
    if (!of_axis) return words_of_parts(claim, codes, rows);
    words.push_back(std::move(*of_axis));
  }
  const bool are_alike = std::ranges::all_of(words, [&](const std::string& one) { return one == words.front(); });
  if (are_alike) return words.front();
  std::vector<std::string> told;
  for (std::size_t axis = 0; axis < words.size(); ++axis) {
    if (!words[axis].empty()) told.push_back(fmt::format("axis {}: {}", axis, words[axis]));
  }
  return fmt::format("{}", fmt::join(told, "; "));
}

}  // namespace sextant::identify
