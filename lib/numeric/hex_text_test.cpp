#include "lib/numeric/hex_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sextant::numeric_hex_text_test {
namespace {

TEST(HexText, IsTheNotationOfC) {
  EXPECT_EQ(hex_text(0), "0x0p+0");
  EXPECT_EQ(hex_text(-0.0), "-0x0p+0");
  EXPECT_EQ(hex_text(3), "0x1.8p+1");
  EXPECT_EQ(hex_text(-0x1.aed548p-1), "-0x1.aed548p-1");
  EXPECT_EQ(hex_text(std::numeric_limits<double>::max()), "0x1.fffffffffffffp+1023");
  EXPECT_EQ(hex_text(std::numeric_limits<double>::denorm_min()), "0x0.0000000000001p-1022");
}

}  // namespace
}  // namespace sextant::numeric_hex_text_test
