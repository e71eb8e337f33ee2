#include "properties/verdict/bound_text.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant::verdict_bound_text_test {
namespace {

TEST(BoundText, IsReadAtAGlance) {
  EXPECT_EQ(bound_text(0), "0 of the bound");
  EXPECT_EQ(bound_text(0.123), "0.12 of the bound");
  EXPECT_EQ(bound_text(1), "1 of the bound");
  EXPECT_EQ(bound_text(7.44), "7.44 times the bound");
  EXPECT_EQ(bound_text(305.3), "305 times the bound");
  EXPECT_EQ(bound_text(6193.7), "6190 times the bound");
  EXPECT_EQ(bound_text(852013), "852000 times the bound");
  EXPECT_EQ(bound_text(1.48e82), "more than a million times the bound");
  EXPECT_EQ(bound_text(INFINITY), "beyond any bound");
  EXPECT_EQ(bound_text(std::nan("")), "beyond any bound");
}

}  // namespace
}  // namespace sextant::verdict_bound_text_test
