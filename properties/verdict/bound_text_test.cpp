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

TEST(ErrorsText, IsPartOfASentence) {
  EXPECT_EQ(errors_text(0), "no error");
  EXPECT_EQ(errors_text(0.123), "errors up to 0.12 of the bound");
  EXPECT_EQ(errors_text(0.999), "errors up to the bound");
  EXPECT_EQ(errors_text(7.44), "errors up to 7.44 times the bound");
  EXPECT_EQ(errors_text(std::nan("")), "errors beyond any bound");
}

}  // namespace
}  // namespace sextant::verdict_bound_text_test
