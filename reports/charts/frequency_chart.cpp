#include "reports/charts/chart.hpp"

namespace sextant {

std::string frequency_chart(const FrequencyCurve& curve) {
  std::vector<double> pair;
  for (std::size_t i = 0; i < curve.claimed.size(); ++i) pair.push_back(static_cast<double>(i));
  const std::vector<Series> series{{"measured", pair, curve.measured, Series::Mark::points},
                                   {"claimed", pair, curve.claimed, Series::Mark::line}};
  return plot({"pair", Scale::linear}, {"frequency, radians per position", Scale::logarithmic}, series);
}

}  // namespace sextant
