#include "properties/engine/case.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace sextant::engine_case_test {
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

TEST(Token, LeavesOutTheUsualOrder) {
  const CaseFields three{fields[0], fields[1], {"order", FieldRole::order, {0, 3}}};
  EXPECT_EQ(write_token("accuracy", three, {5, 2, 0}), "accuracy:position=5,rows=2");
  EXPECT_EQ(write_token("accuracy", three, {5, 2, 3}), "accuracy:position=5,rows=2,order=3");
  EXPECT_EQ(read_token("accuracy:position=5,rows=2", three), (Case{5, 2, 0}));
  EXPECT_EQ(read_token("accuracy:position=5,rows=2,order=0", three), (Case{5, 2, 0}));
  EXPECT_EQ(read_token("accuracy:position=5,rows=2,order=3", three), (Case{5, 2, 3}));
  EXPECT_THROW(read_token("accuracy:position=5,rows=2,", three), TokenError);
  EXPECT_THROW(read_token("accuracy:position=5,rows=2,order", three), TokenError);
  EXPECT_THROW(read_token("accuracy:position=5,rows=2,other=1", three), TokenError);
}

TEST(Token, RefusesWhatIsNone) {
  EXPECT_THROW(token_property("accuracy"), TokenError);
  EXPECT_THROW(token_property(":x=1"), TokenError);
  EXPECT_NE(refusal("accuracy:position=1").find("expected the fields position, rows"), std::string::npos);
  EXPECT_NE(refusal("accuracy:rows=1,position=1").find("expected the fields"), std::string::npos);
  EXPECT_NE(refusal("accuracy:position=1,rows=2,more=3").find("more fields"), std::string::npos);
  EXPECT_NE(refusal("accuracy:position=1,rows=2,").find("more fields"), std::string::npos);
  EXPECT_NE(refusal("accuracy:position=1.5,rows=2").find("position: expected an integer of 64 bits, got \"1.5\""),
            std::string::npos);
  EXPECT_NE(refusal("accuracy:position=,rows=2").find("expected an integer"), std::string::npos);
  EXPECT_NE(refusal("accuracy:position=99999999999999999999,rows=2").find("expected an integer"), std::string::npos);
}

CaseField field(FieldRole role, FieldRange range) { return {"field", role, range}; }

TEST(CaseFields, AdmitWhatIsInEveryRange) {
  const CaseFields two{field(FieldRole::position, {-3, 5}), field(FieldRole::run, {1, 4})};
  EXPECT_TRUE(in_range(two, {-3, 1}));
  EXPECT_TRUE(in_range(two, {5, 4}));
  EXPECT_FALSE(in_range(two, {6, 4}));
  EXPECT_FALSE(in_range(two, {0, 0}));
  EXPECT_FALSE(in_range(two, {0}));
  EXPECT_FALSE(in_range(two, {0, 1, 1}));
}

TEST(CaseFields, AreSimplestNearestToZeroUnlessTheySayOtherwise) {
  const CaseFields four{field(FieldRole::position, {-3, 5}), field(FieldRole::position, {-9, -2}),
                        field(FieldRole::run, {1, 4}), field(FieldRole::position, {-3, 5, 1})};
  EXPECT_EQ(simplest_of(four), (Case{0, -2, 1, 1}));
}

}  // namespace
}  // namespace sextant::engine_case_test
