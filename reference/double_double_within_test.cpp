#include "reference/double_double_within.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sextant::reference::double_double_within_test {
namespace {

constexpr Precision precision{2400};  // holds sums and products of doubles of any size exactly

Enclosure real(double x) { return Enclosure(x, precision); }

Enclosure middle(const DoubleDoubleWithin& x) { return real(x.high) + real(x.low); }

DoubleDoubleWithin draw(std::mt19937_64& random, int spread) {
  const double high = std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 + 0.5,
                                 static_cast<int>(random() % static_cast<unsigned>(2 * spread)) - spread) *
                      (random() % 2 == 0 ? 1 : -1);
  const double low = high * 0x1p-54 * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  return {high, low, random() % 2 == 0 ? 0 : std::fabs(high) * 0x1p-100};
}

// Whatever reals the operands hold, their ends included, the result holds what the operation makes of them, and not
// much more.
template <class Operation>
void expect_contains(const DoubleDoubleWithin& a, const DoubleDoubleWithin& b, Operation operation, double allowed) {
  const DoubleDoubleWithin result = operation(a, b);
  for (const double from_a : {-a.error, a.error}) {
    for (const double from_b : {-b.error, b.error}) {
      const Enclosure truth = operation(middle(a) + real(from_a), middle(b) + real(from_b));
      ASSERT_TRUE(certainly_at_most(abs(truth - middle(result)), real(result.error))) << a.high << ' ' << b.high;
      const Bounds bounds = magnitude(result);
      ASSERT_TRUE(certainly_at_most(real(bounds.lower), abs(truth)) &&
                  certainly_at_most(abs(truth), real(bounds.upper)));
    }
  }
  EXPECT_LE(result.error, allowed);
  EXPECT_LE(std::fabs(result.low), std::fabs(result.high) * 0x1p-53);
}

TEST(DoubleDoubleWithin, OperationsContainTheTruth) {
  std::mt19937_64 random(17);
  for (const int spread : {1, 10, 60, 500}) {
    for (int i = 0; i < 2000; ++i) {
      const DoubleDoubleWithin a = draw(random, spread);
      const DoubleDoubleWithin b = draw(random, spread);
      const double sizes = std::fabs(a.high) + std::fabs(b.high);
      expect_contains(
          a, b, [](const auto& x, const auto& y) { return x + y; }, sizes * 0x1p-99);
      expect_contains(
          a, b, [](const auto& x, const auto& y) { return x - y; }, sizes * 0x1p-99);
      // Cancellation.
      const DoubleDoubleWithin near{a.high, a.low * 0.5, 0};
      expect_contains(
          a, near, [](const auto& x, const auto& y) { return x - y; }, std::fabs(a.high) * 0x1p-98);
      if (spread < 500)
        expect_contains(
            a, b, [](const auto& x, const auto& y) { return x * y; }, std::fabs(a.high * b.high) * 0x1p-98);
    }
  }
}

TEST(DoubleDoubleWithin, UnderflowIsCovered) {
  const DoubleDoubleWithin tiny{0x1.23456789abcdep-540, 0x1.3p-600, 0};
  expect_contains(
      tiny, tiny, [](const auto& x, const auto& y) { return x * y; }, 0x1p-1000);
}

TEST(DoubleDoubleWithin, OverflowIsCertainOfNothing) {
  const DoubleDoubleWithin huge = DoubleDoubleWithin::exactly(1e200) * DoubleDoubleWithin::exactly(1e200);
  EXPECT_FALSE(magnitude(huge).upper < 1e300);
}

TEST(DoubleDoubleWithin, OfAnEnclosureHoldsIt) {
  const Enclosure third = Enclosure(1.0, Precision{160}) / Enclosure(3.0, Precision{160});
  const DoubleDoubleWithin value = DoubleDoubleWithin::of(third);
  EXPECT_LE(value.error, 0x1p-106);
  EXPECT_TRUE(
      certainly_at_most(abs(third - (Enclosure(value.high, Precision{160}) + Enclosure(value.low, Precision{160}))),
                        Enclosure(value.error, Precision{160})));
  EXPECT_EQ(DoubleDoubleWithin::of(Enclosure(0.75, Precision{128})).error, 0);
}

}  // namespace
}  // namespace sextant::reference::double_double_within_test
