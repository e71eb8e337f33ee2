#include <gtest/gtest.h>

#include <cmath>

#include "lib/kernels/roofline_ratio_benchmark.hpp"

namespace sextant::kernels_roofline_ratio_test {
namespace {

std::vector<double> times(int count, double base, double step) {
  std::vector<double> list;
  for (int i = 0; i < count; ++i) list.push_back(base + step * static_cast<double>((i * 7) % count));
  return list;
}

TEST(RooflineRatio, IsThatOfTheMediansWhereTheRooflineIsSteady) {
  const RooflineRatio found = roofline_ratio(times(101, 1.0, 0.001), times(101, 2.0, 0.05));
  EXPECT_NEAR(found.ratio, 1.05 / 4.5, 1e-12);
  EXPECT_NEAR(found.variation, 0.05 / 1.05, 1e-3);
}

TEST(RooflineRatio, IsUnknownWhereTheRooflineVariesByMoreThanATenth) {
  EXPECT_TRUE(std::isnan(roofline_ratio(times(101, 1.0, 0.003), times(101, 2.0, 0)).ratio));
  // Half of the repetitions find the threads asleep: the median may be of either, whichever way the body is measured.
  std::vector<double> bimodal(40, 1.0);
  bimodal.insert(bimodal.end(), 60, 12.0);
  const RooflineRatio found = roofline_ratio(bimodal, times(101, 1.0, 0));
  EXPECT_TRUE(std::isnan(found.ratio));
  EXPECT_GT(found.variation, 0.9);
}

TEST(RooflineRatio, OutliersSayNothing) {
  std::vector<double> list = times(100, 1.0, 0.0001);
  list[3] = 50;
  list[97] = 70;
  EXPECT_NEAR(roofline_ratio(list, times(10, 1.0, 0)).ratio, 1.005, 1e-2);
}

TEST(RooflineRatio, AFewTimesTellNoVariation) {
  for (const int count : {0, 1, 3}) EXPECT_TRUE(std::isnan(roofline_ratio(times(count, 1.0, 0), {1.0}).ratio)) << count;
  EXPECT_EQ(roofline_ratio(times(4, 1.0, 0), {2.0}).ratio, 0.5);
  EXPECT_TRUE(std::isnan(roofline_ratio(times(4, 1.0, 0), {}).ratio));
}

}  // namespace
}  // namespace sextant::kernels_roofline_ratio_test
