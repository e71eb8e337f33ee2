#include "reference/binary.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "reference/decimal.hpp"

namespace sextant::reference::binary_test {
namespace {

constexpr Precision precision{128};

TEST(BinaryReference, TheDigitsMakeUpThePosition) {
  const Binary encoding{.dim = 10, .normalize = false};
  for (std::int64_t p = 0; p < 1024; ++p) {
    double sum = 0;
    for (std::int64_t channel = 9; channel >= 0; --channel)
      sum = 2 * sum + code(encoding, p, channel, precision).upper();
    EXPECT_EQ(sum, static_cast<double>(p));
  }
}

TEST(BinaryReference, NormalisedIsPlusOrMinusOne) {
  const Binary encoding{.dim = 3, .normalize = true};
  EXPECT_TRUE(is_exactly(code(encoding, 6, 0, precision), -1));
  EXPECT_TRUE(is_exactly(code(encoding, 6, 1, precision), 1));
  EXPECT_TRUE(is_exactly(code(encoding, 6, 2, precision), 1));
}

TEST(BinaryReference, HasNoOtherPositionsOrChannels) {
  const Binary encoding{.dim = 3, .normalize = false};
  EXPECT_THROW(code(encoding, 8, 0, precision), std::out_of_range);
  EXPECT_THROW(code(encoding, -1, 0, precision), std::out_of_range);
  EXPECT_THROW(code(encoding, 0, 3, precision), std::out_of_range);
  EXPECT_TRUE(is_exactly(code(Binary{.dim = 63, .normalize = false}, std::int64_t{1} << 53, 53, precision), 1));
}

}  // namespace
}  // namespace sextant::reference::binary_test
