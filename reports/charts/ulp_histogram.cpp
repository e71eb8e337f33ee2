#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "reports/charts/chart.hpp"

namespace sextant {
namespace {

// Exact, up to 1/4 ULP, up to 1/2, ... doubling to 2^28; then the rest, and what is not finite.
constexpr int first_power = -2;
constexpr int last_power = 28;
constexpr std::size_t bins = 1 + (last_power - first_power + 1) + 2;

std::size_t bin_of(double ulps) {
  if (!std::isfinite(ulps)) return bins - 1;
  if (ulps == 0) return 0;
  const double power = std::ceil(std::log2(ulps));
  if (power > last_power) return bins - 2;
  return 1 + static_cast<std::size_t>(std::max(power, static_cast<double>(first_power)) - first_power);
}

std::string label_of(std::size_t bin) {
  if (bin == 0) return "exact";
  if (bin == bins - 1) return "not finite";
  if (bin == bins - 2) return "more";
  const int power = static_cast<int>(bin) - 1 + first_power;
  return power < 10 ? fmt::format("≤ {:g}", std::ldexp(1.0, power)) : fmt::format("≤ 2^{}", power);
}

}  // namespace

std::vector<UlpBin> ulp_bins(const ErrorGrid& grid) {
  if (grid.ulps.empty()) return {};
  std::array<std::int64_t, bins> counts{};
  std::array<std::int64_t, bins> beyond{};
  for (std::size_t i = 0; i < grid.ulps.size(); ++i) {
    const std::size_t bin = bin_of(grid.ulps[i]);
    ++counts[bin];
    if (!(grid.of_bound[i] <= 1)) ++beyond[bin];
  }
  const auto used = [](std::int64_t count) { return count > 0; };
  const auto first = static_cast<std::size_t>(std::find_if(counts.begin(), counts.end(), used) - counts.begin());
  const auto last =
      bins - static_cast<std::size_t>(std::find_if(counts.rbegin(), counts.rend(), used) - counts.rbegin());
  std::vector<UlpBin> bars;
  for (std::size_t bin = first; bin < last; ++bin) bars.push_back({label_of(bin), counts[bin], beyond[bin]});
  return bars;
}

std::string ulp_histogram(const ErrorGrid& grid) {
  const std::vector<UlpBin> bars = ulp_bins(grid);
  if (bars.empty()) return "";
  const std::int64_t most = std::ranges::max(bars, {}, &UlpBin::count).count;
  constexpr double row = 17;
  constexpr double label = 78;
  constexpr double longest = chart_width - label - 60;
  std::string svg = fmt::format(R"(<svg class="plot" viewBox="0 0 {} {}" role="img">)", chart_width,
                                row * static_cast<double>(bars.size()) + 8);
  double y = 4;
  for (const UlpBin& bar : bars) {
    const auto length = [&](std::int64_t count) {
      const double drawn = longest * static_cast<double>(count) / static_cast<double>(most);
      return count > 0 ? std::max(drawn, 1.0) : 0.0;
    };
    const double within = length(bar.count - bar.beyond);
    const double wrong = length(bar.beyond);
    svg += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", label - 8, y + 10,
                       bar.label);
    for (const auto& [colour, x, width] : {std::tuple("s0", label, within), {"bad", label + within, wrong}}) {
      if (width > 0)
        svg += fmt::format(R"(<rect class="{} fill" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="12"/>)", colour, x, y,
                           width);
    }
    svg += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}">{}</text>)", label + within + wrong + 8, y + 10,
                       bar.count);
    y += row;
  }
  return svg + "</svg>";
}

}  // namespace sextant
