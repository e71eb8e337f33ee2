#include "lib/kernels/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "lib/kernels/truth_test.hpp"

namespace sextant::kernels_exact_sum_test {
namespace {

double sum_of(const std::vector<double>& terms, Dtype dtype = Dtype::float64) {
  ExactSum sum;
  for (const double term : terms) sum.add(term);
  return sum.rounded(dtype);
}

TEST(ExactSum, EqualsTheOracleAtEveryScale) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 400; ++round) {
    std::vector<double> terms;
    const int spread = static_cast<int>(random() % 600) + 1;
    const int center = static_cast<int>(random() % 900) - 650;
    for (int i = 0; i < 12; ++i) {
      const double term = std::ldexp(static_cast<double>(random() >> 11),
                                     center + static_cast<int>(random() % static_cast<unsigned>(spread)) - 53);
      terms.push_back(random() % 2 == 0 ? term : -term);
      if (i % 3 == 0) terms.push_back(-terms.back() * (1 + 0x1p-50));
    }
    for (const Dtype dtype : floating_dtypes) {
      const double truth = nearest(dtype, [&](reference::Precision) {
        reference::Enclosure sum(0.0, reference::Precision{4096});
        for (const double term : terms) sum = sum + reference::Enclosure(term, reference::Precision{4096});
        return sum;
      });
      EXPECT_EQ(sum_of(terms, dtype), truth);
    }
    const double forward = sum_of(terms);
    std::ranges::shuffle(terms, random);
    EXPECT_EQ(sum_of(terms), forward);
  }
}

TEST(ExactSum, OneTermIsRoundedAsRoundToDoes) {
  std::mt19937_64 random(6);
  std::vector<double> terms{0x1p-1074, -0x1p-1074,  0x1.8p-1073,   0x1p-1022, 1.7976931348623157e308, 65504, 65519.99,
                            65520,     1 + 0x1p-24, 1 + 0x1.8p-23, 1.00390625};
  for (int i = 0; i < 1000; ++i)
    terms.push_back(std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 2000) - 1090));
  for (const Dtype dtype : floating_dtypes) {
    for (const double term : terms) {
      EXPECT_EQ(sum_of({term}, dtype), round_to(dtype, term)) << term;
      EXPECT_EQ(sum_of({-term}, dtype), round_to(dtype, -term)) << term;
    }
  }
}

TEST(ExactSum, WhatRoundingLosesIsKept) {
  EXPECT_EQ(sum_of({1e308, 1e308, -1e308, -1e308, 1e-300}), 1e-300);
  EXPECT_EQ(sum_of({1, 0x1p-24, 0x1p-1000}, Dtype::float32), 1 + 0x1p-23) << "a hair above a tie";
  EXPECT_EQ(sum_of({1, 0x1p-24, -0x1p-1000}, Dtype::float32), 1) << "a hair below a tie";
  EXPECT_EQ(sum_of({1, 0x1p-24}, Dtype::float32), 1) << "a tie";
  EXPECT_EQ(sum_of({1 + 0x1p-23, 0x1p-24}, Dtype::float32), 1 + 0x1p-22) << "a tie";
}

TEST(ExactSum, ZerosInfinitiesAndNaN) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_of({}), 0);
  EXPECT_FALSE(std::signbit(sum_of({-0.0, -0.0})));
  EXPECT_FALSE(std::signbit(sum_of({1, -1})));
  EXPECT_EQ(sum_of({1, infinity, -5}), infinity);
  EXPECT_TRUE(std::isnan(sum_of({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(sum_of({1, std::nan("")})));
  EXPECT_EQ(sum_of({1.7976931348623157e308, 1.7976931348623157e308}), infinity);
}

}  // namespace
}  // namespace sextant::kernels_exact_sum_test
