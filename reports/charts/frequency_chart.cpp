#include <cmath>

#include "reports/charts/chart.hpp"

namespace sextant {

std::string frequency_chart(const FrequencyCurve& curve) {
  Series measured{"measured / claimed - 1", {}, {}, Series::Mark::points};
  for (std::size_t i = 0; i < curve.claimed.size(); ++i) {
    // A frequency of 0 has no relative difference, and one that the values do not tell none at all.
    if (curve.claimed[i] == 0 || !std::isfinite(curve.measured[i])) continue;
    measured.x.push_back(static_cast<double>(i));
    measured.y.push_back(curve.measured[i] / curve.claimed[i] - 1);
  }
  if (measured.x.empty()) return "";
  const Series claimed{"as claimed", {measured.x.front(), measured.x.back()}, {0, 0}, Series::Mark::dashed};
  const std::vector<Series> series{measured, claimed};
  return plot({"pair", Scale::linear}, {"relative difference", Scale::linear}, series);
}

}  // namespace sextant
