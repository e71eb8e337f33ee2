#include <algorithm>
#include <cmath>

#include "reports/charts/chart.hpp"

namespace sextant {

std::vector<Series> error_curves(const ErrorGrid& grid) {
  // Positions are told from 1 on: 0 has no logarithm, and its neighbour stands for it. Their sign does not matter to
  // the error's size.
  std::vector<double> x;
  for (const std::int64_t position : grid.positions) x.push_back(std::fabs(static_cast<double>(position)));
  std::vector<double> worst;
  const auto pairs = static_cast<std::size_t>(grid.pairs);
  for (std::size_t row = 0; row < grid.positions.size(); ++row) {
    double most = 0;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      const double error = grid.absolute[row * pairs + pair];
      most = std::isfinite(error) ? std::max(most, error) : most;
    }
    worst.push_back(most);
  }
  std::vector<Series> series{{"this subject, worst pair", x, worst, Series::Mark::line},
                             {"bound of the class claimed", x, grid.bound, Series::Mark::dashed}};
  for (const RecipeCurve& recipe : grid.recipes)
    series.push_back({"recipe " + recipe.name, x, recipe.absolute, Series::Mark::dashed});
  return series;
}

std::string error_chart(const ErrorGrid& grid) {
  return plot({"position", Scale::logarithmic}, {"error", Scale::logarithmic}, error_curves(grid));
}

}  // namespace sextant
