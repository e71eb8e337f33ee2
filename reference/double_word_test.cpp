#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "reference/enclosure.hpp"

// Target-independent, so declared before the file is taken once per target.
#ifndef SEXTANT_REFERENCE_DOUBLE_WORD_TEST_TYPES
#define SEXTANT_REFERENCE_DOUBLE_WORD_TEST_TYPES
namespace sextant::reference {

struct DoubleWords {
  std::vector<double> high;
  std::vector<double> low;
};

struct Results {
  DoubleWords sum;
  DoubleWords product;
  DoubleWords smaller;  // x + y.high where 2 |y.high| <= |x.high|
};

}  // namespace sextant::reference
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/double_word_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "reference/double_word-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::reference::HWY_NAMESPACE {

// As many as there are, a multiple of 8.
void Compute(const DoubleWords& x, const DoubleWords& y, Results& results) {
  const hn::CappedTag<double, 8> d;
  using V = hn::Vec<decltype(d)>;
  const auto load = [&](const DoubleWords& words, std::size_t i) {
    return DoubleWord<V>{hn::LoadU(d, &words.high[i]), hn::LoadU(d, &words.low[i])};
  };
  const auto store = [&](const DoubleWord<V>& word, DoubleWords& words, std::size_t i) {
    hn::StoreU(word.high, d, &words.high[i]);
    hn::StoreU(word.low, d, &words.low[i]);
  };
  for (std::size_t i = 0; i < x.high.size(); i += hn::Lanes(d)) {
    store(Add(load(x, i), load(y, i)), results.sum, i);
    store(Multiply(load(x, i), load(y, i)), results.product, i);
    store(AddSmaller(load(x, i), load(y, i).high), results.smaller, i);
  }
}

}  // namespace sextant::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::reference {
namespace {

HWY_EXPORT(Compute);

constexpr Precision precision{400};

Enclosure real(const DoubleWords& words, std::size_t i) {
  return Enclosure(words.high[i], precision) + Enclosure(words.low[i], precision);
}

// |got - truth| in units of 2^-106 |size|.
double units(const Enclosure& got, const Enclosure& truth, const Enclosure& size) {
  const double error = abs(got - truth).upper();
  return error == 0 ? 0 : error / abs(size).lower() * 0x1p106;
}

class DoubleWordOn : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

INSTANTIATE_TEST_SUITE_P(Target, DoubleWordOn, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

// docs/proofs/fast-rotations.md, steps 2 to 4: sums of all sizes, that cancel to any degree, products of all sizes.
TEST_P(DoubleWordOn, OperationsKeepTheirBounds) {
  constexpr std::size_t count = 40000;
  std::mt19937_64 random(29);
  const auto number = [&](int exponent) {
    const double size = std::ldexp(static_cast<double>(random() >> 11 | 1), exponent - 53);
    return random() % 2 == 0 ? size : -size;
  };
  const auto low_of = [&](double high) {
    // At most half a place of `high`, now and then exactly that or much less.
    const double half = std::ldexp(1.0, std::ilogb(high) - 53);
    const double part = random() % 8 == 0 ? 1 : std::ldexp(static_cast<double>(random() >> 11), -53);
    const double low =
        std::ldexp(random() % 2 == 0 ? part : -part, random() % 4 == 0 ? -static_cast<int>(random() % 50) : 0);
    return high + half * low == high ? half * low : 0;
  };
  DoubleWords x{std::vector<double>(count), std::vector<double>(count)};
  DoubleWords y = x;
  for (std::size_t i = 0; i < count; ++i) {
    x.high[i] = number(static_cast<int>(random() % 40) - 20);
    y.high[i] = number(static_cast<int>(random() % 40) - 20);
    if (i % 2 == 0) {
      const double near = -x.high[i] * (random() % 2 == 0 ? 1 : std::ldexp(1.0, static_cast<int>(random() % 3) - 1));
      y.high[i] = near + std::ldexp(number(0), std::ilogb(near) - static_cast<int>(random() % 60));
    }
    x.low[i] = low_of(x.high[i]);
    y.low[i] = low_of(y.high[i]);
    if (i % 6 == 0) y.low[i] = -x.low[i];
    if (y.high[i] + y.low[i] != y.high[i]) y.low[i] = 0;
  }
  Results got{x, x, x};
  HWY_DYNAMIC_DISPATCH(Compute)(x, y, got);
  double worst_sum = 0;
  double worst_product = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Enclosure a = real(x, i);
    const Enclosure b = real(y, i);
    const double sum_error = units(real(got.sum, i), a + b, a + b);
    const double product_error = units(real(got.product, i), a * b, a * b);
    ASSERT_LE(sum_error, 3.001) << x.high[i] << " " << x.low[i] << " + " << y.high[i] << " " << y.low[i];
    ASSERT_LE(product_error, 8.01) << x.high[i] << " " << x.low[i] << " * " << y.high[i] << " " << y.low[i];
    worst_sum = std::max(worst_sum, sum_error);
    worst_product = std::max(worst_product, product_error);
    ASSERT_EQ(got.sum.high[i] + got.sum.low[i], got.sum.high[i]);
    ASSERT_EQ(got.product.high[i] + got.product.low[i], got.product.high[i]);
    if (2 * std::fabs(y.high[i]) <= std::fabs(x.high[i])) {
      ASSERT_LE(units(real(got.smaller, i), a + Enclosure(y.high[i], precision), a), 3)
          << x.high[i] << " " << x.low[i] << " + " << y.high[i];
    }
  }
  // The cases are hard ones: errors come near to what is allowed.
  EXPECT_GT(worst_sum, 1.5);
  EXPECT_GT(worst_product, 2);
  RecordProperty("worst_sum_hundredths", static_cast<int>(100 * worst_sum));
  RecordProperty("worst_product_hundredths", static_cast<int>(100 * worst_product));
}

}  // namespace
}  // namespace sextant::reference
#endif
