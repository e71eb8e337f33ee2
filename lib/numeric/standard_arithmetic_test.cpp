#include "lib/numeric/standard_arithmetic.hpp"

#include <gtest/gtest.h>

#include "lib/numeric/environment_test.hpp"

namespace sextant::numeric_standard_arithmetic_test {
namespace {

TEST(StandardArithmetic, IsInForceWhileItLives) {
  volatile double least = 0x1p-1074;
  volatile double third = 3;
  const double nearest = 1 / third;
  std::fenv_t saved;
  std::fegetenv(&saved);
  flush_to_zero();
  std::fesetround(FE_UPWARD);
  {
    const StandardArithmetic arithmetic;
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    EXPECT_GT(least * 1.0, 0);
    EXPECT_EQ(1 / third, nearest);
    const StandardArithmetic again;
  }
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetenv(&saved);
}

}  // namespace
}  // namespace sextant::numeric_standard_arithmetic_test
