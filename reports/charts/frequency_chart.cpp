#include "reports/charts/chart.hpp"

namespace sextant {

std::string frequency_chart(const FrequencyCurve& curve) {
  std::vector<double> pair;
  for (std::size_t i = 0; i < curve.claimed.size(); ++i) pair.push_back(static_cast<double>(i));
  const std::vector<Series> series{{"claimed", pair, curve.claimed, Series::Mark::line}, {"measured", pair, curve.measured, Series::Mark::points}};
  return plot({"pair", Scale::linear}, {"frequency, radians per position", Scale::logarithmic}, series);
}

}  // namespace sextant
