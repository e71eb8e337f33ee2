#include "reports/text.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Printable, KeepsTextAndReplacesTheRest) {
  EXPECT_EQ(printable("modèles/π 𝄞\nok"), "modèles/π 𝄞\nok");
  EXPECT_EQ(printable(std::string_view("a\0b\x1b[31m\x7f", 9)), "a?b?[31m?");
  EXPECT_EQ(printable("\xC2\x9B"), "?");                    // U+009B, a terminal's escape in one character
  EXPECT_EQ(printable("\xC0\xAF|\xED\xA0\x80|\xF5"), "??|???|?");  // overlong, surrogate, beyond U+10FFFF
  EXPECT_EQ(printable("cut \xE2\x82"), "cut ??");
  EXPECT_EQ(printable("\xEF\xBF\xBF"), "?");
}

}  // namespace
}  // namespace sextant
