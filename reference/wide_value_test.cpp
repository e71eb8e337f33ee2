#include "reference/wide_value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "lib/numeric/ulp.hpp"
#include "reference/rounding.hpp"

namespace sextant::reference::wide_value_test {
namespace {

constexpr Precision precision{256};
const Dtype dtypes[] = {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16};

Enclosure sum(double high, double low) { return Enclosure(high, precision) + Enclosure(low, precision); }

// Reals that double rounding gets wrong: a midpoint of one format, off by less than the next wider one shows.
TEST(WideValue, OneTruthServesEveryDtype) {
  std::mt19937_64 random(3);
  for (const Dtype coarse : dtypes) {
    const double u = unit_roundoff(coarse);
    for (int i = 0; i < 300; ++i) {
      const int exponent = static_cast<int>(random() % 40) - 20;
      const double value = std::ldexp(1 + 2 * u * static_cast<double>(random() % 64), exponent);
      // The midpoint above, as an exact sum, and what lies a hair beside it.
      const Enclosure middle = sum(value, std::ldexp(u, exponent));
      for (const double nudge : {0.0, 0x1p-61, -0x1p-61, 0x1p-90, -0x1p-90, 0x1p-140, -0x1p-140}) {
        const Enclosure truth = middle + Enclosure(std::ldexp(nudge, exponent), precision);
        for (const Enclosure& real : {truth, -truth}) {
          const auto wide = round_to_odd(real);
          ASSERT_TRUE(wide.has_value());
          for (const Dtype dtype : dtypes)
            ASSERT_EQ(round_to(dtype, *wide), *correctly_rounded(dtype, real)) << name_of(dtype) << ' ' << real.lower();
        }
      }
    }
  }
}

TEST(WideValue, RoundsOnceAtBothEndsOfAFormat) {
  for (const Dtype dtype : dtypes) {
    const Format format = format_of(dtype);
    const double least = std::ldexp(1.0, format.min_exponent - format.precision + 1);
    const Enclosure unit(least, precision);
    for (const double steps : {0.25, 0.5, 0.5 + 0x1p-40, 0.75, 1.0, 1.5, 1.5 - 0x1p-45, 2.5, 1023.5}) {
      const Enclosure truth = unit * Enclosure(steps, precision);
      ASSERT_EQ(round_to(dtype, *round_to_odd(truth)), *correctly_rounded(dtype, truth)) << steps;
    }
    const double largest = largest_finite(dtype);
    const Enclosure half_step = Enclosure(ulp(dtype, largest), precision) * Enclosure(0.5, precision);
    EXPECT_EQ(round_to(dtype, *round_to_odd(Enclosure(largest, precision) + half_step)), INFINITY);
    EXPECT_EQ(
        round_to(dtype, *round_to_odd(Enclosure(largest, precision) + half_step * Enclosure(1 - 0x1p-50, precision))),
        largest);
    EXPECT_EQ(round_to(dtype, *round_to_odd(-(Enclosure(largest, precision) + half_step))), -INFINITY);
  }
  EXPECT_TRUE(std::signbit(round_to(Dtype::float32, *round_to_odd(Enclosure(-1e-60, precision)))));
  EXPECT_FALSE(std::signbit(round_to(Dtype::float32, *round_to_odd(Enclosure(0.0, precision)))));
}

TEST(WideValue, OfAnIntervalOverAStepIsOpen) {
  const Enclosure around = Enclosure::hull(Enclosure(1 - 0x1p-53, precision), Enclosure(1.0, precision));
  EXPECT_EQ(round_to_odd(around), std::nullopt);
  EXPECT_EQ(round_to_odd(Enclosure(std::numeric_limits<double>::infinity(), precision)), std::nullopt);
  EXPECT_EQ(round_to_odd(Enclosure(std::numeric_limits<double>::quiet_NaN(), precision)), std::nullopt);
}

// A double-double with an error, against the same interval as an enclosure: never another answer, and mostly an answer.
TEST(WideValue, OfADoubleDoubleIsThatOfItsInterval) {
  std::mt19937_64 random(7);
  int decided = 0;
  constexpr int points = 20000;
  for (int i = 0; i < points; ++i) {
    const double high =
        std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 + 0.5, static_cast<int>(random() % 20) - 18) *
        (random() % 2 ? 1 : -1);
    const double low = high * 0x1p-54 * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    const double error = 0x1p-100;
    const Enclosure middle = sum(high, low);
    const Enclosure radius(error, precision);
    const Enclosure interval = Enclosure::hull(middle - radius, middle + radius);
    const auto wide = round_to_odd(high, low, error);
    if (wide) {
      ASSERT_EQ(wide, round_to_odd(interval)) << high << ' ' << low;
      ++decided;
    }
    for (const Dtype dtype : dtypes) {
      const auto nearest = correctly_rounded(dtype, high, low, error);
      if (nearest) {
        ASSERT_EQ(nearest, correctly_rounded(dtype, interval));
      }
    }
  }
  EXPECT_GT(decided, points * 999 / 1000);
}

// On and beside the midpoints of a narrow format, its subnormals among them, where the last bits of a double decide.
TEST(WideValue, OfADoubleDoubleBesideAMidpoint) {
  std::mt19937_64 random(8);
  int decided = 0;
  constexpr int points = 20000;
  for (int i = 0; i < points; ++i) {
    const Dtype dtype = std::array{Dtype::float32, Dtype::float16, Dtype::bfloat16}[random() % 3];
    const double u = unit_roundoff(dtype);
    const double value = 1 + 2 * u * static_cast<double>(random() % static_cast<std::uint64_t>(1 / (2 * u)));
    double high = std::ldexp(value + u, static_cast<int>(random() % 45) - 28) * (random() % 2 ? 1 : -1);
    for (std::uint64_t step = random() % 4; step > 0; --step) high = std::nextafter(high, random() % 2 ? 0 : 1e9);
    const double low = high * std::ldexp(static_cast<double>(static_cast<int>(random() % 3) - 1),
                                         -53 - static_cast<int>(random() % 20));
    const double error = std::fabs(high) * std::ldexp(1.0, -60 - static_cast<int>(random() % 40));
    const Enclosure middle = sum(high, low);
    const Enclosure radius(error, precision);
    const auto nearest = correctly_rounded(dtype, high, low, error);
    const auto truth = correctly_rounded(dtype, Enclosure::hull(middle - radius, middle + radius));
    if (nearest) {
      ASSERT_EQ(nearest, truth) << high << ' ' << low;
      ++decided;
    }
  }
  EXPECT_GT(decided, points * 3 / 4);
}

TEST(WideValue, OfADoubleDoubleMeetsItsErrorsReach) {
  // 2^-24 above 1 is the tie of float32: the sign of the error decides, so none is given; outside its reach one is.
  EXPECT_EQ(correctly_rounded(Dtype::float32, 1 + 0x1p-24, 0, 0x1p-100), std::nullopt);
  EXPECT_EQ(correctly_rounded(Dtype::float32, 1 + 0x1p-24, 0x1p-99, 0x1p-100), 1 + 0x1p-23);
  EXPECT_EQ(correctly_rounded(Dtype::float32, 1 + 0x1p-24, -0x1p-99, 0x1p-100), 1);
  EXPECT_EQ(correctly_rounded(Dtype::float64, 1, 0, 0x1p-100), 1);
  EXPECT_EQ(round_to_odd(1, 0, 0x1p-100), std::nullopt);
  EXPECT_EQ(round_to_odd(0x1p-90, 0, 0x1p-100), std::nullopt);
  EXPECT_EQ(round_to_odd(0, 0, 0), std::nullopt);
}

}  // namespace
}  // namespace sextant::reference::wide_value_test
