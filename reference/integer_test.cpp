#include "reference/integer.hpp"

#include <gtest/gtest.h>

#include "reference/decimal.hpp"

namespace sextant::reference::integer_test {
namespace {

constexpr Precision precision{128};

TEST(IntegerReference, IsThePosition) {
  for (const std::int64_t p : {std::int64_t{0}, std::int64_t{-7}, std::int64_t{131071}, std::int64_t{1} << 53}) {
    EXPECT_TRUE(is_exactly(code(Integer{}, 131072, p, precision), static_cast<double>(p)));
  }
}

TEST(IntegerReference, NormalisedRunsFromZeroToOne) {
  const Integer encoding{.dim = 3, .normalize = true};
  EXPECT_TRUE(is_exactly(code(encoding, 131072, 0, precision), 0));
  EXPECT_TRUE(is_exactly(code(encoding, 131072, 131071, precision), 1));
  EXPECT_TRUE(agrees_with(code(encoding, 8, 1, precision), "0.142857142857142857142857142857142857"));
  EXPECT_TRUE(overlap(code(encoding, 8, 5, precision), code(encoding, 8, 5, Precision{512})));
}

}  // namespace
}  // namespace sextant::reference::integer_test
