#include <fmt/format.h>

#include <algorithm>

#include "reports/charts/chart.hpp"

namespace sextant {

std::vector<Series> bias_curves(const BiasMap& map) {
  constexpr std::int64_t shown_heads = 6;
  // Evenly among the heads, the first and the last with them.
  const std::int64_t shown = std::min(map.heads, shown_heads);
  std::vector<Series> series;
  for (std::int64_t i = 0; i < shown; ++i) {
    const std::int64_t head = shown == 1 ? 0 : i * (map.heads - 1) / (shown - 1);
    Series one{fmt::format("head {}", head), {}, {}, Series::Mark::line};
    for (std::int64_t key = 0; key < map.keys; ++key) {
      one.x.push_back(static_cast<double>(key - (map.queries - 1)));
      one.y.push_back(map.values[static_cast<std::size_t>((head * map.queries + map.queries - 1) * map.keys + key)]);
    }
    series.push_back(std::move(one));
  }
  return series;
}

std::string bias_chart(const BiasMap& map) {
  return plot({"key - query, of the last query", Scale::linear}, {"bias", Scale::linear}, bias_curves(map));
}

}  // namespace sextant
