#include "lib/kernels/checks.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace sextant::kernels_checks_test {
namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

TEST(Within, BothEndsBelongToTheRange) {
  for (const std::int64_t most :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 53, (std::int64_t{1} << 62) - 1}) {
    EXPECT_TRUE(are_within(std::vector{-most, most, std::int64_t{0}}, most)) << most;
    EXPECT_FALSE(are_within(std::vector{most + 1}, most)) << most;
    EXPECT_FALSE(are_within(std::vector{-most - 1}, most)) << most;
    EXPECT_FALSE(are_within(std::vector{greatest}, most)) << most;
    EXPECT_FALSE(are_within(std::vector{least}, most)) << most;
  }
}

TEST(Within, OnePositionOfManyIsSeenWhereverItStands) {
  for (std::size_t length = 1; length < 80; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      std::vector<std::int64_t> positions(length, 7);
      EXPECT_TRUE(are_within(positions, 7));
      positions[place] = -8;
      EXPECT_FALSE(are_within(positions, 7)) << length << " " << place;
    }
  }
}

// As many as threads share.
TEST(Within, OnePositionOfVeryManyIsSeen) {
  constexpr std::size_t length = (std::size_t{1} << 17) + 5;
  std::vector<std::int64_t> positions(length, 7);
  EXPECT_TRUE(are_within(positions, 7));
  for (const std::size_t place : {std::size_t{0}, std::size_t{32767}, std::size_t{32768}, length / 2, length - 1}) {
    positions[place] = 8;
    EXPECT_FALSE(are_within(positions, 7)) << place;
    positions[place] = 7;
  }
}

TEST(Within, NothingIsWithinLessThanNothing) {
  EXPECT_FALSE(are_within(std::vector<std::int64_t>{0}, -1));
  EXPECT_FALSE(are_within({}, -1));
  EXPECT_TRUE(are_within({}, 0));
}

TEST(CheckRange, NamesThePositionThatIsBeyond) {
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  EXPECT_NO_THROW(check_range("f", "ends", std::vector{limit, -limit}));
  try {
    check_range("f", "ends", std::vector{limit, -limit - 1, limit + 1});
    FAIL();
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "f: ends: -9007199254740993 is beyond 2^53");
  }
}

}  // namespace
}  // namespace sextant::kernels_checks_test
