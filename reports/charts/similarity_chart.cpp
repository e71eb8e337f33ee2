#include <algorithm>

#include "reports/charts/chart.hpp"

namespace sextant {

std::string similarity_chart(const SimilarityCurve& curve) {
  std::vector<double> offset;
  for (const std::int64_t k : curve.offsets) offset.push_back(static_cast<double>(k));
  Series aliases{"most alike at an offset above 0", {}, {}, Series::Mark::points};
  for (const std::int64_t alias : curve.aliases) {
    const auto found = std::find(curve.offsets.begin(), curve.offsets.end(), alias);
    if (found == curve.offsets.end()) continue;
    aliases.x.push_back(static_cast<double>(alias));
    aliases.y.push_back(curve.claimed[static_cast<std::size_t>(found - curve.offsets.begin())]);
  }
  const std::vector<Series> series{{"this subject", offset, curve.measured, Series::Mark::line},
                                   {"claimed", offset, curve.claimed, Series::Mark::dashed},
                                   aliases};
  return plot({"offset", Scale::linear}, {"mean cosine", Scale::linear}, series);
}

}  // namespace sextant
