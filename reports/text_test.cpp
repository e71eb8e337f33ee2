#include "reports/text.hpp"

#include <gtest/gtest.h>

namespace sextant::text_test {
namespace {

TEST(Printable, KeepsTextAndReplacesTheRest) {
  EXPECT_EQ(printable("modèles/π 𝄞\nok"), "modèles/π 𝄞\nok");
  EXPECT_EQ(printable(std::string_view("a\0b\x1b[31m\x7f", 9)), "a?b?[31m?");
  EXPECT_EQ(printable("\xC2\x9B"), "?");                           // U+009B, a terminal's escape in one character
  EXPECT_EQ(printable("\xC0\xAF|\xED\xA0\x80|\xF5"), "??|???|?");  // overlong, surrogate, beyond U+10FFFF
  EXPECT_EQ(printable("cut \xE2\x82"), "cut ??");
  EXPECT_EQ(printable("\xEF\xBF\xBF"), "?");
}

TEST(Wrapped, BreaksAtSpacesAndIndentsTheRest) {
  EXPECT_EQ(wrapped("one two three four", 2, 10), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("  spaced   out ", 0, 80), "spaced out");
  EXPECT_EQ(wrapped("a verylongwordindeed b", 1, 5), "a\n verylongwordindeed\n b");
}

}  // namespace
}  // namespace sextant::text_test
