#include "properties/engine/case.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace sextant {
namespace {

constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();

const CaseFields fields{{"position", FieldRole::position, {-last - 1, last}}, {"rows", FieldRole::run, {1, last}}};

std::string refusal(const std::string& token) {
  try {
    read_token(token, fields);
  } catch (const TokenError& error) {
    return error.what();
  }
  return "accepted";
}

RC_GTEST_PROP(Token, ReadsBackWhatItWrites, (std::int64_t position, std::int64_t rows)) {
  const Case values{position, rows};
  RC_ASSERT(read_token(write_token("accuracy", fields, values), fields) == values);
}

TEST(Token, IsReadable) {
  EXPECT_EQ(write_token("accuracy", fields, {-257, 1}), "accuracy:position=-257,rows=1");
  EXPECT_EQ(token_property("accuracy:position=-257,rows=1"), "accuracy");
}

TEST(Token, RefusesWhatIsNone) {
  EXPECT_THROW(token_property("accuracy"), TokenError);
  EXPECT_THROW(token_property(":x=1"), TokenError);
  EXPECT_NE(refusal("accuracy:position=1").find("expected the fields position, rows"), std::string::npos);
  EXPECT_NE(refusal("accuracy:rows=1,position=1").find("expected the fields"), std::string::npos);
  EXPECT_NE(refusal("accuracy:position=1,rows=2,more=3").find("more fields"), std::string::npos);
  EXPECT_NE(refusal("accuracy:position=1.5,rows=2").find("position: expected an integer, got \"1.5\""),
            std::string::npos);
  EXPECT_NE(refusal("accuracy:position=,rows=2").find("expected an integer"), std::string::npos);
  EXPECT_NE(refusal("accuracy:position=99999999999999999999,rows=2").find("expected an integer"), std::string::npos);
}

}  // namespace
}  // namespace sextant
