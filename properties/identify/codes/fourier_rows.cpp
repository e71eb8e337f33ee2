#include "properties/identify/codes/fourier_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sextant::identify {
namespace {

// The answers to the calls that were asked, as rows of channels beside the coordinates of each.
class FourierRows {
 public:
  FourierRows(const AskedAnswers& asked, const Spec& claim, const Fourier& features)
      : features_(features), width_(width(features)), unit_(std::ldexp(1, -format_of(claim.dtype).precision)) {
    for (std::size_t call = 0; call < asked.calls().size(); ++call) {
      const std::vector<std::int64_t>& positions = asked.calls()[call].positions;
      const std::int64_t tokens = std::ssize(positions) / features.axes;
      for (std::int64_t token = 0; token < tokens; ++token) {
        Row& row = rows_.emplace_back();
        for (std::int64_t axis = 0; axis < features.axes; ++axis)
          row.positions.push_back(features.positions.at(positions[static_cast<std::size_t>(axis * tokens + token)]));
        for (std::int64_t channel = 0; channel < width_; ++channel)
          row.channels.push_back(asked.answers()[call].at(token * width_ + channel));
      }
    }
  }

  // Of those whose angle is known to less than a quarter of a radian, sine and cosine of this frequency; some are.
  bool have_frequency(std::int64_t axis, std::int64_t band, double frequency) const {
    const Channels at = channels_of(features_, axis, band);
    std::int64_t told = 0;
    for (const Row& row : rows_) {
      const double angle = angle_unit() * frequency * coordinate(row, axis);
      // Sums and products of float32, and its functions, are off by a few of its roundings each.
      const double off = 32 * unit_ + std::fabs(angle) * 0x1p-21;
      if (off > 0.25) continue;
      if (std::fabs(row.channel(at.first) - std::sin(angle)) > off) return false;
      if (std::fabs(row.channel(at.second) - std::cos(angle)) > off) return false;
      if (std::fabs(angle) > 8 * off) ++told;
    }
    return told > 2;
  }

  bool is_still(std::int64_t axis, std::int64_t band) const {
    const Channels at = channels_of(features_, axis, band);
    return std::ranges::all_of(rows_, [&](const Row& row) {
      return std::fabs(row.channel(at.first)) <= 8 * unit_ && std::fabs(row.channel(at.second) - 1) <= 8 * unit_;
    });
  }

  // What stands for an axis' coordinate in the row.
  bool have_in_row(std::int64_t axis, const std::function<double(const std::vector<double>& coordinates,
                                                                 const std::vector<double>& positions)>& of) const {
    const std::int64_t channel = *identity_channel(features_, axis);
    return std::ranges::all_of(rows_, [&](const Row& row) {
      std::vector<double> coordinates;
      for (std::int64_t a = 0; a < features_.axes; ++a) coordinates.push_back(coordinate(row, a));
      const double expected = of(coordinates, row.positions);
      return std::fabs(row.channel(channel) - expected) <= 8 * unit_ * std::max(1.0, std::fabs(expected));
    });
  }

  double angle_unit() const {
    return features_.angle_unit == AngleUnit::radian      ? 1
           : features_.angle_unit == AngleUnit::half_turn ? std::numbers::pi
                                                          : 2 * std::numbers::pi;
  }

 private:
  struct Row {
    std::vector<double> positions;
    std::vector<double> channels;
    double channel(std::int64_t number) const { return channels[static_cast<std::size_t>(number)]; }
  };

  double coordinate(const Row& row, std::int64_t axis) const {
    const double p = row.positions[static_cast<std::size_t>(axis)];
    if (features_.coordinates == FourierCoordinates::index) return p;
    const auto extent = static_cast<double>(features_.extents[static_cast<std::size_t>(axis)]);
    return features_.coordinates == FourierCoordinates::centres ? (2 * p + 1) / extent - 1 : 2 * p / (extent - 1) - 1;
  }

  Fourier features_;
  std::int64_t width_;
  double unit_;
  std::vector<Row> rows_;
};

// The bands whose frequencies the bands of an axis have, -1 and `bands` being one more at either end; nothing where one
// has none.
std::optional<std::vector<std::int64_t>> bands_of(const FourierRows& rows, const Fourier& features, std::int64_t axis) {
  std::vector<std::int64_t> list;
  for (std::int64_t band = 0; band < features.bands; ++band) {
    // Its own first, and then the nearest.
    std::optional<std::int64_t> found;
    for (std::int64_t apart = 0; apart <= features.bands && !found; ++apart) {
      for (const std::int64_t other : {band + apart, band - apart}) {
        const bool is_one = other >= -1 && other <= features.bands && !found;
        if (is_one && rows.have_frequency(axis, band, frequency_of_band(features, other))) found = other;
      }
    }
    if (!found) return std::nullopt;
    list.push_back(*found);
  }
  return list;
}

// "axis 1", "axes 1 and 2", or nothing of all.
std::string axes_text(const std::vector<std::int64_t>& axes, std::int64_t all) {
  if (std::ssize(axes) == all) return {};
  return axes.size() == 1 ? fmt::format("axis {}", axes.front()) : fmt::format("axes {}", fmt::join(axes, ", "));
}

std::string words_of_other_bands(const Fourier& features, const std::vector<std::vector<std::int64_t>>& lists) {
  const std::vector<std::int64_t>* odd = nullptr;
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < features.axes; ++axis) {
    const std::vector<std::int64_t>& bands = lists[static_cast<std::size_t>(axis)];
    bool is_own = true;
    for (std::int64_t band = 0; band < features.bands; ++band)
      is_own = is_own && bands[static_cast<std::size_t>(band)] == band;
    if (is_own) continue;
    if (odd != nullptr && *odd != bands) return {};
    odd = &bands;
    axes.push_back(axis);
  }
  if (odd == nullptr) return {};
  const std::string on = axes_text(axes, features.axes);
  const std::string who = on.empty() ? "all axes have" : on + (axes.size() == 1 ? " has" : " have");
  for (const std::int64_t by : {1, -1}) {
    bool is_shifted = true;
    for (std::int64_t band = 0; band < features.bands; ++band)
      is_shifted = is_shifted && (*odd)[static_cast<std::size_t>(band)] == band + by;
    if (is_shifted) return fmt::format("{} in each band the frequency of the {}", who, by > 0 ? "next" : "one before");
  }
  for (const std::int64_t by : {1, -1}) {
    bool is_turned = features.bands > 2;
    for (std::int64_t band = 0; band < features.bands; ++band)
      is_turned = is_turned && (*odd)[static_cast<std::size_t>(band)] == (band + by + features.bands) % features.bands;
    if (is_turned)
      return fmt::format("{} in each band the frequency of the {}, and in the {} that of the {}", who,
                         by > 0 ? "next" : "one before", by > 0 ? "last" : "first", by > 0 ? "first" : "last");
  }
  std::string words;
  for (std::int64_t band = 0; band < features.bands; ++band) {
    const std::int64_t other = (*odd)[static_cast<std::size_t>(band)];
    if (other == band) continue;
    words += fmt::format("{}band {} has the frequency of band {}", words.empty() ? "" : ", ", band, other);
  }
  return on.empty() ? words : fmt::format("on {} {}", on, words);
}

// Nothing where the channels are as nothing that is tried; empty where they are as claimed.
std::optional<std::string> words_of_identity(const FourierRows& rows, const Fourier& features) {
  struct InRow {
    std::string words;
    std::function<double(const std::vector<double>& c, const std::vector<double>& p, std::size_t axis)> value;
  };
  const double unit = rows.angle_unit();
  const std::string unit_text = features.angle_unit == AngleUnit::turn ? "2 pi" : "pi";
  const double first = frequency_of_band(features, 0);
  const double last = frequency_of_band(features, features.bands - 1);
  std::vector<InRow> list{{"", [](const auto& c, const auto&, std::size_t a) { return c[a]; }}};
  const auto add = [&](std::string words, auto value) { list.push_back({std::move(words), value}); };
  if (unit != 1)
    add(fmt::format("the coordinates in the row are multiplied by {}, as angles are", unit_text),
        [unit](const auto& c, const auto&, std::size_t a) { return unit * c[a]; });
  if (features.axes > 1) {
    add("the first axis' coordinate stands for every axis' own in the row",
        [](const auto& c, const auto&, std::size_t) { return c.front(); });
    add("the last axis' coordinate stands for every axis' own in the row",
        [](const auto& c, const auto&, std::size_t) { return c.back(); });
    add("the coordinates in the row are in reverse order: the last axis' comes first",
        [](const auto& c, const auto&, std::size_t a) { return c[c.size() - 1 - a]; });
  }
  if (features.coordinates != FourierCoordinates::index) {
    add("the row holds positions, where the claim has coordinates between -1 and 1",
        [](const auto&, const auto& p, std::size_t a) { return p[a]; });
    add("the coordinates in the row run from 0 to 1, where the claim has them from -1 to 1",
        [](const auto& c, const auto&, std::size_t a) { return (c[a] + 1) / 2; });
  }
  add("the coordinates in the row have the other sign",
      [](const auto& c, const auto&, std::size_t a) { return -c[a]; });
  for (const auto& [frequency, which] : {std::pair{first, "first"}, std::pair{last, "last"}}) {
    if (frequency == 1) continue;
    add(fmt::format("the coordinates in the row are multiplied by the {} frequency", which),
        [frequency](const auto& c, const auto&, std::size_t a) { return frequency * c[a]; });
    if (unit != 1)
      add(fmt::format("the coordinates in the row are multiplied by {} and the {} frequency", unit_text, which),
          [times = unit * frequency](const auto& c, const auto&, std::size_t a) { return times * c[a]; });
  }
  add("the channels of coordinates are 0", [](const auto&, const auto&, std::size_t) { return 0.0; });
  for (const InRow& one : list) {
    bool fits = true;
    for (std::int64_t axis = 0; axis < features.axes && fits; ++axis)
      fits = rows.have_in_row(
          axis, [&](const auto& c, const auto& p) { return one.value(c, p, static_cast<std::size_t>(axis)); });
    if (fits) return one.words;
  }
  return std::nullopt;
}

}  // namespace

std::string words_of_fourier_rows(const AskedAnswers& asked, const Spec& claim, const Fourier& features) {
  if (is_given(features)) return {};
  const FourierRows rows(asked, claim, features);
  std::string of_identity;
  if (features.identity != Identity::none) {
    auto words = words_of_identity(rows, features);
    if (!words) return {};
    of_identity = std::move(*words);
  }
  std::vector<std::vector<std::int64_t>> lists;
  for (std::int64_t axis = 0; axis < features.axes; ++axis) {
    auto bands = bands_of(rows, features, axis);
    if (!bands) return {};
    lists.push_back(std::move(*bands));
  }
  const std::string of_bands = words_of_other_bands(features, lists);
  if (of_bands.empty()) return of_identity;
  return of_identity.empty() ? of_bands : fmt::format("{}; {}", of_bands, of_identity);
}

double frequency_of_band(const Fourier& features, std::int64_t band) {
  const double steps = std::max(1.0, static_cast<double>(features.bands - 1));
  const double at = features.lowest + (features.highest - features.lowest) * static_cast<double>(band) / steps;
  return features.ladder == FrequencyLadder::linear ? at : std::exp2(at);
}

std::string words_of_bands_alone(const AskedAnswers& asked, const Spec& claim, const Fourier& features,
                                 std::span<const std::int64_t> bands) {
  if (is_given(features)) return {};
  const FourierRows rows(asked, claim, features);
  const auto on_all_axes = [&](const auto& is) {
    for (std::int64_t axis = 0; axis < features.axes; ++axis) {
      if (!is(axis)) return false;
    }
    return true;
  };
  const auto words_of_band = [&](std::int64_t band) -> std::string {
    if (on_all_axes([&](std::int64_t axis) { return rows.is_still(axis, band); })) return "does not turn";
    const double own = frequency_of_band(features, band);
    std::vector<double> tried{-1};
    for (double times = 0x1p-10; times <= 0x1p10; times *= 2) {
      tried.push_back(times);
      tried.push_back(-times);
    }
    for (const double times : tried) {
      const bool is_it = on_all_axes([&](std::int64_t axis) { return rows.have_frequency(axis, band, times * own); });
      if (is_it)
        return times == -1 ? "turns the other way" : fmt::format("has {:g} times the frequency claimed", times);
    }
    return {};
  };
  std::vector<std::string> told;
  for (const std::int64_t band : bands) {
    const std::string words = words_of_band(band);
    if (words.empty()) return {};
    told.push_back(fmt::format("band {} {}", band, words));
  }
  return fmt::format("{}, and the rest is right", fmt::join(told, ", "));
}

}  // namespace sextant::identify
