#include "reference/enclosure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "reference/work_limit.hpp"

namespace sextant::reference::enclosure_test {
namespace {

constexpr Precision p128{128};

TEST(Enclosure, HoldsDoublesAndIntegersExactly) {
  for (const double value : {0.0, 0.1, -1e300, 0x1p-1074}) {
    const Enclosure point(value, Precision{2});
    EXPECT_EQ(point.lower(), value);
    EXPECT_EQ(point.upper(), value);
  }
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  const Enclosure difference = Enclosure(large, Precision{2}) - Enclosure(large - 1, Precision{2});
  EXPECT_EQ(difference.lower(), 1);
  EXPECT_EQ(difference.upper(), 1);
}

TEST(Enclosure, WidensOutward) {
  const Enclosure third = Enclosure(1.0, p128) / Enclosure(3.0, p128);
  EXPECT_TRUE(mpfr_less_p(third.lower_end(), third.upper_end()));
  EXPECT_LT(third.lower(), third.upper());
  const Enclosure one = third * Enclosure(3.0, p128);
  EXPECT_LE(mpfr_cmp_d(one.lower_end(), 1.0), 0);
  EXPECT_GE(mpfr_cmp_d(one.upper_end(), 1.0), 0);
}

TEST(Enclosure, WorksAtTheGreaterPrecision) {
  EXPECT_EQ((Enclosure(1.0, Precision{64}) + Enclosure(1.0, Precision{256})).precision().bits, 256);
}

TEST(Enclosure, CopiesAndMovesKeepTheValue) {
  Enclosure a(1.5, p128);
  Enclosure b = a;
  Enclosure c = std::move(a);
  EXPECT_EQ(b.lower(), 1.5);
  EXPECT_EQ(c.upper(), 1.5);
  b = Enclosure(2.5, p128);
  c = b;
  EXPECT_EQ(c.lower(), 2.5);
}

TEST(Enclosure, WidthIsRoundedUp) {
  EXPECT_EQ(Enclosure(0.1, p128).width(), 0);
  EXPECT_EQ(Enclosure::hull(Enclosure(1.0, p128), Enclosure(3.0, p128)).width(), 2);
  EXPECT_GT((Enclosure(1.0, p128) / Enclosure(3.0, p128)).width(), 0);
}

TEST(Enclosure, MinAndHull) {
  const Enclosure wide = Enclosure::hull(Enclosure(1.0, p128), Enclosure(3.0, p128));
  const Enclosure least = min(wide, Enclosure(2.0, p128));
  EXPECT_EQ(least.lower(), 1);
  EXPECT_EQ(least.upper(), 2);
}

TEST(Enclosure, ComparisonsAreTrueOnlyWhenCertain) {
  const Enclosure wide = Enclosure::hull(Enclosure(1.0, p128), Enclosure(3.0, p128));
  EXPECT_EQ(at_most(wide, Enclosure(3.0, p128)), Certainty::yes);
  EXPECT_EQ(at_most(wide, Enclosure(2.0, p128)), Certainty::unknown);
  EXPECT_EQ(at_most(wide, Enclosure(0.5, p128)), Certainty::no);
  EXPECT_EQ(at_most(Enclosure(std::nan(""), p128), wide), Certainty::unknown);
}

TEST(Enclosure, SinesNearPiAreEnclosedAndMeetTheCircle) {
  for (const double x : {3.141592653589793, 1e22, 0x1p53, -7.5}) {
    const Enclosure angle(x, p128);
    const Enclosure one = square(sin(angle)) + square(cos(angle));
    EXPECT_LE(mpfr_cmp_d(one.lower_end(), 1.0), 0);
    EXPECT_GE(mpfr_cmp_d(one.upper_end(), 1.0), 0);
  }
  // sin(fl(pi)) = pi - fl(pi) to first order: 1.2246...e-16.
  EXPECT_DOUBLE_EQ(sin(Enclosure(3.141592653589793, p128)).upper(), 1.2246467991473532e-16);
}

TEST(Decide, RaisesThePrecisionUntilTheAnswerIsCertain) {
  long asked = 0;
  // exp(2^-200) > 1 shows only past 200 bits.
  const Certainty answer = decide([&](Precision precision) {
    asked = precision.bits;
    return at_most(exp(Enclosure(0x1p-200, precision)), Enclosure(1.0, precision));
  });
  EXPECT_EQ(answer, Certainty::no);
  EXPECT_EQ(asked, 256);
}

TEST(Decide, SaysUnknownAtItsCap) {
  long asked = 0;
  // An equality of irrational numbers is open at every precision.
  const Certainty answer = decide([&](Precision precision) {
    asked = precision.bits;
    const Enclosure two(2.0, precision);
    return at_most(square(sqrt(two)), two);
  });
  EXPECT_EQ(answer, Certainty::unknown);
  EXPECT_EQ(asked, last_precision.bits);
}

TEST(WorkLimit, StopsWhatGoesOnAndCountsAlike) {
  const auto work = [] {
    Enclosure x(2.0, Precision{128});
    for (int i = 0; i < 10; ++i) x = sqrt(x) + sin(x);
    return x;
  };
  const std::uint64_t before = steps_taken();
  work();
  const std::uint64_t cost = steps_taken() - before;
  EXPECT_EQ(cost, 10U * 128 * (1 + 64 + 1));
  {
    const WorkLimit limit(cost);
    EXPECT_NO_THROW(work());
    EXPECT_THROW(work(), WorkLimitReached);
    // Somebody else's work is neither stopped nor counted.
    const std::uint64_t reached = steps_taken();
    {
      const WithoutWorkLimit without;
      EXPECT_NO_THROW(work());
    }
    EXPECT_EQ(steps_taken(), reached);
    EXPECT_THROW(work(), WorkLimitReached);
  }
  EXPECT_NO_THROW(work());
  const WorkLimit none(std::numeric_limits<std::uint64_t>::max());
  EXPECT_NO_THROW(work());
}

}  // namespace
}  // namespace sextant::reference::enclosure_test
