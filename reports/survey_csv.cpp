#include "reports/survey_csv.hpp"

#include <fmt/format.h>

#include <numbers>

#include "lib/numeric/ulp.hpp"
#include "reports/charts/chart.hpp"

namespace sextant {
namespace {

// Curves over the same integers, a column each.
std::string table(const char* first, const std::vector<std::int64_t>& x, const std::vector<Series>& curves) {
  std::string text = first;
  for (const Series& curve : curves) text += fmt::format(R"(,"{}")", curve.name);
  for (std::size_t row = 0; row < x.size(); ++row) {
    text += fmt::format("\n{}", x[row]);
    for (const Series& curve : curves) text += fmt::format(",{}", curve.y[row]);
  }
  return text + "\n";
}

}  // namespace

std::string errors_csv(const ErrorGrid& grid) {
  std::string text = "position,pair,absolute,ulps,of_bound\n";
  const auto pairs = static_cast<std::size_t>(grid.pairs);
  for (std::size_t i = 0; i < grid.absolute.size(); ++i) {
    text += fmt::format("{},{},{},{},{}\n", grid.positions[i / pairs],
                        static_cast<std::int64_t>(i % pairs) * grid.pair_stride, grid.absolute[i], grid.ulps[i],
                        grid.of_bound[i]);
  }
  return text;
}

std::string error_curves_csv(const ErrorGrid& grid) { return table("position", grid.positions, error_curves(grid)); }

std::string bias_curves_csv(const BiasMap& map) {
  std::vector<std::int64_t> distances;
  for (std::int64_t key = 0; key < map.keys; ++key) distances.push_back(key - (map.queries - 1));
  return table("distance", distances, bias_curves(map));
}

std::string ulp_bins_csv(const ErrorGrid& grid) {
  std::string text = "ulps,values,beyond_bound\n";
  for (const UlpBin& bin : ulp_bins(grid)) text += fmt::format("{},{},{}\n", bin.label, bin.count, bin.beyond);
  return text;
}

std::string components_csv(const CodeMap& map) {
  std::string text = "position,first,second\n";
  const std::vector<Series> path = principal_components(map);
  for (std::size_t i = 0; !path.empty() && i < path[0].x.size(); ++i)
    text += fmt::format("{},{},{}\n", map.first_position + static_cast<std::int64_t>(i), path[0].x[i], path[0].y[i]);
  return text;
}

std::string frequencies_csv(const FrequencyCurve& curve) {
  std::string text = "pair,claimed,measured,float32_ulps,period\n";
  for (std::size_t i = 0; i < curve.claimed.size(); ++i)
    text += fmt::format("{},{},{},{:.3g},{:.9g}\n", i, curve.claimed[i], curve.measured[i],
                        (curve.measured[i] - curve.claimed[i]) / ulp(Dtype::float32, curve.claimed[i]),
                        2 * std::numbers::pi / curve.claimed[i]);
  return text;
}

std::string codes_csv(const CodeMap& map) {
  std::string text = "position";
  for (std::int64_t channel = 0; channel < map.width; ++channel) text += fmt::format(",{}", channel);
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const auto width = static_cast<std::size_t>(map.width);
    if (i % width == 0) text += fmt::format("\n{}", map.first_position + static_cast<std::int64_t>(i / width));
    text += fmt::format(",{}", map.values[i]);
  }
  return text + "\n";
}

std::string similarity_csv(const SimilarityCurve& curve) {
  std::string text = "offset,claimed,measured\n";
  for (std::size_t i = 0; i < curve.offsets.size(); ++i)
    text += fmt::format("{},{},{}\n", curve.offsets[i], curve.claimed[i], curve.measured[i]);
  return text;
}

std::string bias_csv(const BiasMap& map) {
  std::string text = "head,query,key,bias\n";
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const auto keys = static_cast<std::size_t>(map.keys);
    const auto queries = static_cast<std::size_t>(map.queries);
    text += fmt::format("{},{},{},{}\n", i / keys / queries, i / keys % queries, i % keys, map.values[i]);
  }
  return text;
}

}  // namespace sextant
