#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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
  for (const double ulps : grid.ulps) ++counts[bin_of(ulps)];
  const auto used = [](std::int64_t count) { return count > 0; };
  const auto first = static_cast<std::size_t>(std::find_if(counts.begin(), counts.end(), used) - counts.begin());
  const auto last =
      bins - static_cast<std::size_t>(std::find_if(counts.rbegin(), counts.rend(), used) - counts.rbegin());
  std::vector<UlpBin> bars;
  for (std::size_t bin = first; bin < last; ++bin)
    bars.push_back({label_of(bin), counts[bin], bin > bin_of(4) ? UlpBin::Kind::beyond : UlpBin::Kind::rounding});
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
    const double length = longest * static_cast<double>(bar.count) / static_cast<double>(most);
    svg += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text><rect )"
                       R"(class="{} fill" x="{}" y="{:.1f}" width="{:.1f}" height="12"/>)"
                       R"(<text class="tick" x="{:.1f}" y="{:.1f}">{}</text>)",
                       label - 8, y + 10, bar.label, bar.kind == UlpBin::Kind::beyond ? "bad" : "s0", label, y,
                       std::max(length, bar.count > 0 ? 1.0 : 0.0), label + length + 8, y + 10, bar.count);
    y += row;
  }
  return svg + "</svg>";
}

}  // namespace sextant
