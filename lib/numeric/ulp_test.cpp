#include "lib/numeric/ulp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sextant::numeric_ulp_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

// One test per row of the table in ulp.hpp.

TEST(Ulp, OfZeroIsTheLeastSubnormal) {
  EXPECT_EQ(ulp(Dtype::float32, 0.0), 0x1p-149);
  EXPECT_EQ(ulp(Dtype::float32, -0.0), 0x1p-149);
  EXPECT_EQ(ulp(Dtype::float64, 0.0), 0x1p-1074);
  EXPECT_EQ(ulp(Dtype::float16, 0.0), 0x1p-24);
  EXPECT_EQ(ulp(Dtype::bfloat16, 0.0), 0x1p-133);
  EXPECT_EQ(ulp_error(Dtype::float32, -0.0, 0.0), 0);
}

TEST(Ulp, OfSubnormals) {
  EXPECT_EQ(ulp(Dtype::float32, 0x1.8p-140), 0x1p-149);
  EXPECT_EQ(ulp_error(Dtype::float32, 0x1p-149, 0x1p-148), 1);
}

TEST(Ulp, OfTheLeastNormal) {
  EXPECT_EQ(ulp(Dtype::float32, 0x1p-126), 0x1p-149);
  EXPECT_EQ(ulp_error(Dtype::float32, 0x1p-126 - 0x1p-149, 0x1p-126), 1);
}

TEST(Ulp, AtABinadeBorder) {
  EXPECT_EQ(ulp(Dtype::float32, 1.0), 0x1p-23);
  EXPECT_EQ(ulp(Dtype::float32, std::nextafter(1.0, 0)), 0x1p-24);
  EXPECT_EQ(ulp_error(Dtype::float32, 1 - 0x1p-24, 1.0), 0.5);
  EXPECT_EQ(ulp_error(Dtype::float32, 1 + 0x1p-23, 1.0), 1);
}

TEST(Ulp, BeyondTheLargestFinite) {
  EXPECT_EQ(ulp(Dtype::float16, 1e6), 32);
  EXPECT_EQ(ulp(Dtype::float64, std::numeric_limits<double>::max()), 0x1p971);
}

TEST(Ulp, OfInfinity) {
  EXPECT_EQ(ulp(Dtype::float32, -infinity), infinity);
  EXPECT_EQ(ulp_error(Dtype::float32, infinity, infinity), 0);
  EXPECT_EQ(ulp_error(Dtype::float32, -infinity, infinity), infinity);
  EXPECT_EQ(ulp_error(Dtype::float32, 1, infinity), infinity);
}

TEST(Ulp, OfNaN) {
  EXPECT_TRUE(std::isnan(ulp(Dtype::float32, nan)));
  EXPECT_EQ(ulp_error(Dtype::float32, nan, nan), 0);
  EXPECT_EQ(ulp_error(Dtype::float32, nan, 1), infinity);
  EXPECT_EQ(ulp_error(Dtype::float32, 1, nan), infinity);
}

TEST(Ulp, ErrorOfInfinityAgainstAFiniteTruth) { EXPECT_EQ(ulp_error(Dtype::float32, infinity, 3e38), infinity); }

TEST(Ulp, ErrorAcrossZero) {
  EXPECT_EQ(ulp_error(Dtype::float32, -1.0, 1.0), 0x1p24);
  EXPECT_TRUE(std::isfinite(ulp_error(Dtype::float64, -1.7e308, 1.7e308)));
}

TEST(Neighbours, AgreeWithNextafterForFloat64AndFloat32) {
  for (const double x : {0.0, 0x1p-1074, 0x1p-1022, 0.1, 1.0, -1.0, -0.1, 2.0, 1e300, -1e300}) {
    EXPECT_EQ(next_above(Dtype::float64, x), std::nextafter(x, infinity)) << x;
    EXPECT_EQ(next_below(Dtype::float64, x), std::nextafter(x, -infinity)) << x;
  }
  for (const float x : {0.0F, 0x1p-149F, 0x1p-126F, 0.1F, 1.0F, -1.0F, 2.0F, 3e38F, -3e38F}) {
    EXPECT_EQ(next_above(Dtype::float32, static_cast<double>(x)), static_cast<double>(std::nextafterf(x, INFINITY)))
        << x;
    EXPECT_EQ(next_below(Dtype::float32, static_cast<double>(x)), static_cast<double>(std::nextafterf(x, -INFINITY)))
        << x;
  }
}

TEST(Neighbours, OfANumberBetweenTwoValues) {
  EXPECT_EQ(next_above(Dtype::bfloat16, 257), 258);
  EXPECT_EQ(next_below(Dtype::bfloat16, 257), 256);
  EXPECT_EQ(next_above(Dtype::bfloat16, 257.5), 258);
  EXPECT_EQ(next_below(Dtype::bfloat16, 257.5), 256);
  EXPECT_EQ(next_above(Dtype::float16, 65504), infinity);
  EXPECT_EQ(next_below(Dtype::float16, infinity), 65504);
  EXPECT_EQ(next_below(Dtype::float16, 1e6), 65504);
}

}  // namespace
}  // namespace sextant::numeric_ulp_test
