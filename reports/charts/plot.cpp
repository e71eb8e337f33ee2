#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "reports/charts/chart.hpp"

namespace sextant {
namespace {

// The drawing's height, and what stands around the plot, in the units of its viewBox.
constexpr double width = chart_width;
constexpr double height = 290;
constexpr double left = 66;
constexpr double right = 12;
constexpr double top = 10;
constexpr double bottom = 50;
constexpr double legend_row = 20;
constexpr int legend_columns = 2;
constexpr int series_colours = 6;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

// The value on the axis, or NaN where it has no place.
double placed(Scale scale, double value) {
  if (!std::isfinite(value)) return std::nan("");
  if (scale == Scale::linear) return value;
  return value > 0 ? std::log10(value) : std::nan("");
}

struct Tick {
  double at;
  std::string label;
};

std::vector<Tick> ticks_of(Scale scale, const Range& range) {
  std::vector<Tick> ticks;
  if (scale == Scale::logarithmic) {
    const int step = std::max(1, static_cast<int>(std::ceil((range.high - range.low) / 8)));
    for (int e = static_cast<int>(std::ceil(range.low)); e <= range.high; e += step)
      ticks.push_back({static_cast<double>(e), fmt::format("1e{}", e)});
    return ticks;
  }
  const double rough = (range.high - range.low) / 6;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
  const double first = std::ceil(range.low / step);
  const auto count = static_cast<int>(std::floor(range.high / step + 1e-9) - first) + 1;
  for (int i = 0; i < count; ++i) {
    const double t = (first + i) * step;
    ticks.push_back({t, fmt::format("{:g}", t)});
  }
  return ticks;
}

// Room around the values; a single one, or values that differ by their last digits only, get some on both sides.
void widen(Range& range) {
  const double size = std::max(std::fabs(range.low), std::fabs(range.high));
  const bool is_flat = range.high - range.low <= 1e-9 * std::max(size, 1e-300);
  const double margin = is_flat ? std::max(0.5, 1e-3 * size) : 0.04 * (range.high - range.low);
  range.low -= margin;
  range.high += margin;
}

}  // namespace

std::string escaped_xml(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += letter;
    }
  }
  return safe;
}

std::string plot(const Axis& horizontal, const Axis& vertical, std::span<const Series> all) {
  // Without those of which nothing can be drawn, which would only stand in the legend.
  std::vector<Series> series;
  std::ranges::copy_if(all, std::back_inserter(series), [&](const Series& one) {
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      if (!std::isnan(placed(horizontal.scale, one.x[i])) && !std::isnan(placed(vertical.scale, one.y[i]))) return true;
    }
    return false;
  });
  Range across;
  Range up;
  for (const Series& one : series) {
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      const double x = placed(horizontal.scale, one.x[i]);
      const double y = placed(vertical.scale, one.y[i]);
      if (std::isnan(x) || std::isnan(y)) continue;
      across.add(x);
      up.add(y);
    }
  }
  if (across.empty()) return "";
  widen(across);
  widen(up);
  const double legend = legend_row * std::ceil(static_cast<double>(series.size()) / legend_columns);
  const double plot_bottom = height - bottom;
  const auto x_of = [&](double x) {
    return left + (x - across.low) / (across.high - across.low) * (width - left - right);
  };
  const auto y_of = [&](double y) { return plot_bottom - (y - up.low) / (up.high - up.low) * (plot_bottom - top); };

  std::string svg = fmt::format(R"(<svg class="plot" viewBox="0 0 {} {}" role="img">)", width, height + legend);
  for (const Tick& tick : ticks_of(horizontal.scale, across)) {
    svg += fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" )"
                       R"(y2="{2:.1f}"/><text class="tick" x="{0:.1f}" )"
                       R"(y="{3:.1f}" text-anchor="middle">{4}</text>)",
                       x_of(tick.at), top, plot_bottom, plot_bottom + 18, tick.label);
  }
  for (const Tick& tick : ticks_of(vertical.scale, up)) {
    svg += fmt::format(R"(<line class="grid" x1="{1:.1f}" x2="{2:.1f}" y1="{0:.1f}" )"
                       R"(y2="{0:.1f}"/><text class="tick" x="{3:.1f}" )"
                       R"(y="{4:.1f}" text-anchor="end">{5}</text>)",
                       y_of(tick.at), left, width - right, left - 8, y_of(tick.at) + 4, tick.label);
  }
  svg += fmt::format(R"(<text class="title" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
                     (left + width - right) / 2, height - 10, escaped_xml(horizontal.title));
  svg += fmt::format(
      R"_(<text class="title" transform="translate(14 {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)_",
      (top + plot_bottom) / 2, escaped_xml(vertical.title));
  for (std::size_t s = 0; s < series.size(); ++s) {
    const Series& one = series[s];
    const std::string colour = fmt::format("s{}", s % series_colours);
    std::string path;
    bool pen_down = false;
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      const double x = placed(horizontal.scale, one.x[i]);
      const double y = placed(vertical.scale, one.y[i]);
      if (std::isnan(x) || std::isnan(y)) {
        pen_down = false;
        continue;
      }
      if (one.mark == Series::Mark::points) {
        svg += fmt::format(
            R"(<circle class="{} fill" cx="{:.1f}" cy="{:.1f}" r="2.5"><title>{}: {:g}, {:g}</title></circle>)", colour,
            x_of(x), y_of(y), escaped_xml(one.name), one.x[i], one.y[i]);
      } else {
        path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x_of(x), y_of(y));
        pen_down = true;
      }
    }
    if (!path.empty())
      svg += fmt::format(R"(<path class="{} stroke{}" d="{}"/>)", colour,
                         one.mark == Series::Mark::dashed ? " dashed" : "", path);
    const int place = static_cast<int>(s);
    const int line = place / legend_columns;
    const double column = 4 + (place % legend_columns) * width / legend_columns;
    const double row = height + legend_row * line + 4;
    svg += one.mark == Series::Mark::points
               ? fmt::format(R"(<circle class="{} fill" cx="{:.1f}" cy="{:.1f}" r="4"/>)", colour, column + 12, row)
               : fmt::format(R"(<path class="{} stroke{}" d="M{:.1f} {:.1f}h24"/>)", colour,
                             one.mark == Series::Mark::dashed ? " dashed" : "", column, row);
    svg += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}">{}</text>)", column + 30, row + 4,
                       escaped_xml(one.name));
  }
  return svg + "</svg>";
}

}  // namespace sextant
