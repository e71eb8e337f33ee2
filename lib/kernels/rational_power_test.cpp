#include "lib/kernels/rational_power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace sextant::kernels_rational_power_test {
namespace {

TEST(RationalPower, IsToldWhereItIsRational) {
  EXPECT_EQ(rational_power(10000, 0, 64), 1);
  EXPECT_EQ(rational_power(1, 5, 64), 1);
  EXPECT_EQ(rational_power(10000, 16, 64), 10);
  EXPECT_EQ(rational_power(10000, 48, 64), 1000);
  EXPECT_EQ(rational_power(10000, 2, 64), std::nullopt);
  EXPECT_EQ(rational_power(10000, 64, 64), 10000);
  EXPECT_EQ(rational_power(2.25, 1, 2), 1.5);
  EXPECT_EQ(rational_power(2.5, 1, 2), std::nullopt);
  EXPECT_EQ(rational_power(0x1p1023, 1, 1023), 2);
  EXPECT_EQ(rational_power(0x1p60, 59, 60), 0x1p59);
  EXPECT_EQ(rational_power(0x1p61, 1, 60), std::nullopt);
  EXPECT_EQ(rational_power(1 + 0x1p-52, 1, 2), std::nullopt);
}

TEST(RationalPower, OfSquaresAndCubesIsTheirRoot) {
  for (std::int64_t root = 2; root < 2000; root += 7) {
    const auto r = static_cast<double>(root);
    EXPECT_EQ(rational_power(r * r, 1, 2), r);
    EXPECT_EQ(rational_power(r * r * r, 2, 3), r * r);
    if (std::sqrt(r) != std::floor(std::sqrt(r))) {
      EXPECT_EQ(rational_power(r, 1, 2), std::nullopt) << root;
    }
  }
}

}  // namespace
}  // namespace sextant::kernels_rational_power_test
