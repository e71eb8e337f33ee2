#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "reports/base64.hpp"
#include "reports/charts/chart.hpp"

namespace sextant {
namespace {

struct Shade {
  double red;
  double green;
  double blue;
};

Shade between(const Shade& a, const Shade& b, double t) {
  return {a.red + (b.red - a.red) * t, a.green + (b.green - a.green) * t, a.blue + (b.blue - a.blue) * t};
}

// Blue, light grey, orange: told apart with any kind of colour vision, and in print. t in [-1, 1].
Shade diverging(double t) {
  constexpr Shade blue{33, 102, 172};
  constexpr Shade grey{244, 244, 240};
  constexpr Shade orange{179, 88, 6};
  return t < 0 ? between(grey, blue, std::min(-t, 1.0)) : between(grey, orange, std::min(t, 1.0));
}

// Not a number: a red that no scale has.
constexpr Shade missing_shade{200, 0, 60};
// Minus infinity in a bias: a key that the query must not see. A grey that the scale has not, on a light page as on a
// dark one.
constexpr Shade masked_shade{128, 131, 134};

// A picture of one pixel a value, as an uncompressed bitmap: BITMAPFILEHEADER and BITMAPINFOHEADER, then rows from the
// top (negative height) of blue, green, red, each padded to four bytes.
template <class ColourAt>
std::string bitmap(std::int64_t rows, std::int64_t columns, ColourAt colour_at) {
  std::string data;
  const auto append = [&](std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) data += static_cast<char>((value >> (8 * i)) & 0xFFU);
  };
  const auto line = static_cast<std::uint64_t>((columns * 3 + 3) / 4 * 4);
  const std::uint64_t pixels = line * static_cast<std::uint64_t>(rows);
  data += "BM";
  append(54 + pixels, 4);
  append(0, 4);
  append(54, 4);
  append(40, 4);
  append(static_cast<std::uint64_t>(columns), 4);
  append(static_cast<std::uint64_t>(-rows), 4);
  append(1, 2);
  append(24, 2);
  append(0, 4);
  append(pixels, 4);
  append(2835, 4);
  append(2835, 4);
  append(0, 8);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const Shade colour = colour_at(row, column);
      for (const double part : {colour.blue, colour.green, colour.red})
        data += static_cast<char>(static_cast<unsigned char>(std::lround(part)));
    }
    data.append(line - static_cast<std::uint64_t>(columns) * 3, '\0');
  }
  return data;
}

// What stands beside a row.
struct RowLabel {
  std::int64_t row;
  std::string text;
};

struct Labels {
  std::string extent;  // what the columns and rows are
  std::string low;     // what the scale's ends mean
  std::string high;
  std::vector<RowLabel> rows = {};
  std::optional<RowLabel> mark = std::nullopt;  // a line behind this row, and what it says
};

template <class ColourAt>
std::string picture(std::int64_t rows, std::int64_t columns, const Labels& labels, ColourAt colour_at) {
  constexpr double scale_width = 200;
  const double height = std::clamp(static_cast<double>(rows) * 4, 60.0, 240.0) + (labels.rows.empty() ? 0 : 60);
  const double left = labels.rows.empty() ? 0 : 66;
  const double top = labels.rows.empty() ? 0 : 8;  // for half of the first label
  const auto y_of = [&](double row) { return top + height * row / static_cast<double>(rows); };
  const std::string scale = bitmap(
      1, 64, [](std::int64_t, std::int64_t column) { return diverging(static_cast<double>(column) / 31.5 - 1); });
  std::string svg = fmt::format(R"(<svg class="plot" viewBox="0 0 {} {}" role="img">)", chart_width, top + height + 66);
  svg += fmt::format(R"(<image class="pixels" x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none" )"
                     R"(href="data:image/bmp;base64,{}"/>)",
                     left, top, chart_width - left, height, base64(bitmap(rows, columns, colour_at)));
  const auto label_y = [&](const RowLabel& label) { return y_of(static_cast<double>(label.row) + 0.5) + 4; };
  // The last stands; of the others those that are clear of their neighbours.
  constexpr double clearance = 13;
  double free_from = -clearance;
  for (const RowLabel& label : labels.rows) {
    const bool is_last = &label == &labels.rows.back();
    const double y = label_y(label);
    if (!is_last && (y < free_from || y + clearance > label_y(labels.rows.back()))) continue;
    free_from = y + clearance;
    svg += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", left - 8, y,
                       escaped_xml(label.text));
  }
  if (labels.mark) {
    const double y = y_of(static_cast<double>(labels.mark->row) + 1);
    svg += fmt::format(R"(<line class="mark" x1="{0:.1f}" x2="{1:.1f}" y1="{2:.1f}" y2="{2:.1f}"/>)"
                       R"(<text class="marked" x="{3:.1f}" y="{4:.1f}" text-anchor="end">{5}</text>)",
                       left, chart_width, y, chart_width - 6, y < 20 ? y + 15 : y - 5, escaped_xml(labels.mark->text));
  }
  svg += fmt::format(R"(<text class="title" y="{:.1f}">{}</text>)", top + height + 18, escaped_xml(labels.extent));
  svg += fmt::format(
      R"(<image class="pixels" y="{0:.1f}" width="{1}" height="10" )"
      R"(preserveAspectRatio="none" href="data:image/bmp;base64,{2}"/>)"
      R"(<text class="tick" y="{3:.1f}">{4}</text><text class="tick" x="{1}" y="{3:.1f}" text-anchor="end">{5}</text>)",
      top + height + 28, scale_width, base64(scale), top + height + 54, escaped_xml(labels.low),
      escaped_xml(labels.high));
  return svg + "</svg>";
}

}  // namespace

std::string error_map(const ErrorGrid& grid, const std::optional<std::int64_t>& horizon) {
  if (grid.of_bound.empty()) return "";
  const std::int64_t rows = std::ssize(grid.positions);
  Labels labels{fmt::format("across: pair 0 to {}; down: position", (grid.pairs - 1) * grid.pair_stride),
                "bound / 1000", "1000 x bound"};
  // As many rows as have room, the first and the last with them.
  constexpr std::int64_t most_labels = 12;
  const std::int64_t shown = std::min(rows, most_labels);
  for (std::int64_t i = 0; i < shown; ++i) {
    const std::int64_t row = shown == 1 ? 0 : i * (rows - 1) / (shown - 1);
    labels.rows.push_back({row, fmt::format("{}", grid.positions[static_cast<std::size_t>(row)])});
  }
  if (horizon && *horizon < grid.positions.back()) {
    const auto behind = std::ranges::upper_bound(grid.positions, *horizon);
    if (behind != grid.positions.begin())
      labels.mark = RowLabel{behind - grid.positions.begin() - 1, fmt::format("as claimed up to {}", *horizon)};
  }
  return picture(rows, grid.pairs, labels, [&](std::int64_t row, std::int64_t pair) {
    const double value = grid.of_bound[static_cast<std::size_t>(row * grid.pairs + pair)];
    if (std::isnan(value)) return missing_shade;
    return diverging(std::isinf(value) ? 1 : value == 0 ? -1 : std::log10(value) / 3);
  });
}

std::string code_map(const CodeMap& map) {
  if (map.values.empty()) return "";
  double most = 0;
  for (const double value : map.values) most = std::isfinite(value) ? std::max(most, std::fabs(value)) : most;
  const Labels labels{fmt::format("across: channel 0 to {}; down: position {} to {}", map.width - 1, map.first_position,
                                  map.first_position + map.rows - 1),
                      fmt::format("{:g}", -most), fmt::format("{:g}", most)};
  return picture(map.rows, map.width, labels, [&](std::int64_t row, std::int64_t channel) {
    const double value = map.values[static_cast<std::size_t>(row * map.width + channel)];
    return std::isfinite(value) ? diverging(most == 0 ? 0 : value / most) : missing_shade;
  });
}

std::string bias_map(const BiasMap& map) {
  constexpr std::int64_t shown_heads = 4;
  std::string pictures;
  for (std::int64_t head = 0; head < std::min(map.heads, shown_heads); ++head) {
    const auto first = map.values.begin() + static_cast<std::ptrdiff_t>(head * map.queries * map.keys);
    double most = 0;
    std::for_each(first, first + static_cast<std::ptrdiff_t>(map.queries * map.keys),
                  [&](double value) { most = std::isfinite(value) ? std::max(most, std::fabs(value)) : most; });
    const Labels labels{
        fmt::format("head {}; across: key 0 to {}; down: query 0 to {}", head, map.keys - 1, map.queries - 1),
        fmt::format("{:g}", -most), fmt::format("{:g}", most)};
    pictures += picture(map.queries, map.keys, labels, [&](std::int64_t query, std::int64_t key) {
      const double value = first[static_cast<std::ptrdiff_t>(query * map.keys + key)];
      if (value == -std::numeric_limits<double>::infinity()) return masked_shade;
      return std::isfinite(value) ? diverging(most == 0 ? 0 : value / most) : missing_shade;
    });
  }
  return pictures;
}

}  // namespace sextant
