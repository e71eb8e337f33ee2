#include "properties/verdict/verdict.hpp"

#include <gtest/gtest.h>

#include <array>

#include "properties/verdict/diagnosis.hpp"

namespace sextant::verdict_test {
namespace {

int status(std::vector<std::pair<Verdict, Level>> verdicts, Strictness strictness = Strictness::lenient) {
  std::vector<PropertyResult> results;
  for (const auto& [verdict, level] : verdicts) {
    PropertyResult result;
    result.verdict = verdict;
    result.level = level;
    results.push_back(result);
  }
  return exit_status(results, strictness);
}

TEST(ExitStatus, IsThatOfTheDesign) {
  constexpr Level law = Level::law;
  EXPECT_EQ(status({{Verdict::holds, law}, {Verdict::not_applicable, law}}), 0);
  EXPECT_EQ(status({{Verdict::holds, law}, {Verdict::violated, law}}), 1);
  EXPECT_EQ(status({{Verdict::crashed, law}, {Verdict::violated, law}}), 1);
  EXPECT_EQ(status({{Verdict::holds, law}, {Verdict::crashed, law}}), 3);
  EXPECT_EQ(status({{Verdict::undecided, law}, {Verdict::timed_out, law}}), 3);
  EXPECT_EQ(status({{Verdict::holds, law}, {Verdict::undecided, law}}), 4);
  EXPECT_EQ(status({{Verdict::not_applicable, law}, {Verdict::unsupported, law}}), 4);
  EXPECT_EQ(status({}), 4);
}

TEST(Diagnosis, IsAskedForWhereAnAuditFails) {
  PropertyResult result;
  result.verdict = Verdict::violated;
  EXPECT_TRUE(asks_for_diagnosis(std::array{result}));
  result.level = Level::advice;
  EXPECT_FALSE(asks_for_diagnosis(std::array{result}));
  EXPECT_FALSE(asks_for_diagnosis({}));
  // Which calls are refused is worth telling too.
  PropertyResult open;
  open.verdict = Verdict::undecided;
  EXPECT_FALSE(asks_for_diagnosis(std::array{open}));
  open.unsupported = 1;
  EXPECT_TRUE(asks_for_diagnosis(std::array{open}));
}

TEST(Diagnosis, TellsTheClaimThatHolds) {
  Diagnosis diagnosis;
  diagnosis.differences = {{"base 500000 measured, 10000 claimed", ""}};
  EXPECT_EQ(remedy_of(diagnosis), "");
  diagnosis.spec_json = "{}";
  diagnosis.changes = {"rope_theta 500000 instead of 10000"};
  EXPECT_EQ(remedy_of(diagnosis),
            "with rope_theta 500000 instead of 10000 the claim was not seen to hold in a second, short audit");
  diagnosis.is_verified = true;
  diagnosis.of_bound = 0.125;
  EXPECT_EQ(remedy_of(diagnosis),
            "with rope_theta 500000 instead of 10000 the claim holds: a second, short audit found errors up to 0.12 of "
            "the bound");
  diagnosis.is_verified = false;
  diagnosis.is_as_asked = true;
  EXPECT_EQ(
      remedy_of(diagnosis),
      "asked as claimed, it answers by rope_theta 500000 instead of 10000 (a second, short audit found errors up to "
      "0.12 of the bound). It reads its spec, so change the code, not the claim");
}

// A subject that refuses what a law asks has shown nothing by keeping its contracts.
TEST(ExitStatus, ALawHasToBeJudgedWhereOneApplies) {
  EXPECT_EQ(status({{Verdict::unsupported, Level::law}, {Verdict::holds, Level::contract}}), 4);
  EXPECT_EQ(status({{Verdict::unsupported, Level::law}, {Verdict::holds, Level::law}}), 0);
  EXPECT_EQ(status({{Verdict::not_applicable, Level::law}, {Verdict::holds, Level::contract}}), 0);
}

TEST(ExitStatus, AdviceCountsOnlyWhenStrict) {
  EXPECT_EQ(status({{Verdict::holds, Level::law}, {Verdict::violated, Level::advice}}), 0);
  EXPECT_EQ(status({{Verdict::holds, Level::law}, {Verdict::violated, Level::advice}}, Strictness::strict), 1);
  // It was judged all the same.
  EXPECT_EQ(status({{Verdict::holds, Level::advice}}), 0);
  EXPECT_EQ(status({{Verdict::violated, Level::advice}}), 0);
  EXPECT_EQ(status({{Verdict::crashed, Level::advice}}), 0);
  EXPECT_EQ(status({{Verdict::crashed, Level::advice}}, Strictness::strict), 3);
  EXPECT_EQ(status({{Verdict::undecided, Level::advice}}), 4);
}

}  // namespace
}  // namespace sextant::verdict_test
