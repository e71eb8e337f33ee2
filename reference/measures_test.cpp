#include "reference/measures.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lib/numeric/ulp.hpp"

namespace sextant::reference::measures_test {
namespace {

constexpr Precision precision{192};
const Dtype dtypes[] = {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16};

Enclosure real(double x) { return Enclosure(x, precision); }

void expect_encloses(const Enclosure& measure, double value) {
  EXPECT_LE(measure.lower(), value);
  EXPECT_GE(measure.upper(), value);
  EXPECT_LT(measure.width(), 1e-30 * (1 + value));
}

TEST(Measures, OfAKnownDistance) {
  for (const Dtype dtype : dtypes) {
    const double step = 2 * unit_roundoff(dtype);
    // The truth is a quarter of a step above 1.5, the value two steps above it.
    const Enclosure truth = real(1.5) + real(step / 4);
    const double value = 1.5 + 2 * step;
    expect_encloses(absolute_error(value, truth), 1.75 * step);
    expect_encloses(ulp_error(dtype, value, truth), 1.75);
    expect_encloses(normwise_ulp_error(dtype, value, truth, real(9)), 1.75 / 8);
    // An angle of 6 in a format of roundoff step, derivative 1/2: 3 steps more.
    expect_encloses(conditioned_ulp_error(dtype, value, truth, {real(-6), real(0.5), step}), 1.75 / 4);
  }
}

TEST(Measures, ConditioningTamesAZeroOfTheSine) {
  // The float32 nearest to 1000 pi: its sine is right to the last bit, yet far from sin(1000 pi) = 0.
  const Enclosure angle = real(1000) * Enclosure::pi(precision);
  const auto rounded = static_cast<double>(static_cast<float>(angle.upper()));
  const double value = std::sin(rounded);
  const Enclosure truth = real(0);
  EXPECT_GT(ulp_error(Dtype::float32, value, truth).lower(), 1e30);
  const Enclosure conditioned =
      conditioned_ulp_error(Dtype::float32, value, truth, {angle, real(1), unit_roundoff(Dtype::float32)});
  EXPECT_LE(conditioned.upper(), 1);
  EXPECT_GT(conditioned.lower(), 0);
}

TEST(Measures, NearestAndFaithfulAtTheEdges) {
  for (const Dtype dtype : dtypes) {
    const double step = 2 * unit_roundoff(dtype);
    const Enclosure tie = real(1) + real(step / 2);
    EXPECT_EQ(is_correctly_rounded(dtype, 1, tie), Certainty::yes);  // to even
    EXPECT_EQ(is_correctly_rounded(dtype, 1 + step, tie), Certainty::no);
    EXPECT_EQ(is_correctly_rounded(dtype, 1 + step, tie + real(0x1p-150)), Certainty::yes);
    EXPECT_EQ(is_faithful(dtype, 1, tie), Certainty::yes);
    EXPECT_EQ(is_faithful(dtype, 1 + step, tie), Certainty::yes);
    EXPECT_EQ(is_faithful(dtype, 1 + 2 * step, tie), Certainty::no);
    EXPECT_EQ(is_faithful(dtype, 1 - step / 2, tie), Certainty::no);
    EXPECT_EQ(is_faithful(dtype, 1 + step, real(1)), Certainty::no);  // the truth is a value itself
    const Enclosure open = Enclosure::hull(tie - real(step), tie + real(step));
    EXPECT_EQ(is_correctly_rounded(dtype, 1, open), Certainty::unknown);
    EXPECT_EQ(is_faithful(dtype, 1, open), Certainty::unknown);
    EXPECT_EQ(is_faithful(dtype, largest_finite(dtype), real(largest_finite(dtype))), Certainty::yes);
    EXPECT_EQ(is_faithful(dtype, INFINITY, real(largest_finite(dtype))), Certainty::no);
  }
  EXPECT_EQ(is_correctly_rounded(Dtype::float32, -0.0, real(0)), Certainty::yes);
}

TEST(Measures, OfNaNAndInfinity) {
  EXPECT_TRUE(std::isnan(ulp_error(Dtype::float32, NAN, real(1)).upper()));
  EXPECT_EQ(ulp_error(Dtype::float32, INFINITY, real(1)).lower(), INFINITY);
  EXPECT_EQ(is_correctly_rounded(Dtype::float32, NAN, real(1)), Certainty::no);
}

}  // namespace
}  // namespace sextant::reference::measures_test
