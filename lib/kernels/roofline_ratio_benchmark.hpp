#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace sextant {

/// The median of at least one time.
inline double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// How much repetitions of one measurement vary: the middle half of the times, from quartile to quartile, over their
/// median. An interrupt now and then does not move it; a measurement that is now of one thing, now of another (caches
/// warm or cold, threads awake or asleep) does. Infinite for fewer than four times.
inline double variation(std::vector<double> times) {
  if (times.size() < 4) return std::numeric_limits<double>::infinity();
  std::sort(times.begin(), times.end());
  const double lower = times[times.size() / 4];
  const double upper = times[times.size() - 1 - times.size() / 4];
  return (upper - lower) / median(times);
}

/// Above this a roofline is no measure, and what is divided by it no ratio.
inline constexpr double steady_roofline = 0.1;

/// The rate of a body over that of its roofline, by their median times, and how much the roofline's times vary. The
/// ratio is not a number where that is more than steady_roofline.
struct RooflineRatio {
  double ratio;
  double variation;
};
inline RooflineRatio roofline_ratio(const std::vector<double>& roofline_times, const std::vector<double>& body_times) {
  const double varies = variation(roofline_times);
  const bool steady = varies <= steady_roofline && !body_times.empty();
  return {steady ? median(roofline_times) / median(body_times) : std::numeric_limits<double>::quiet_NaN(), varies};
}

}  // namespace sextant
