#include "reports/summary.hpp"

#include <gtest/gtest.h>

#include "reports/sample_test.hpp"

namespace sextant::summary_test {
namespace {

// Of a report whose accuracy is violated beyond this position.
std::string correctness(std::optional<std::int64_t> horizon) {
  Report report = sample();
  report.results[1].id = "accuracy";
  report.results[1].horizon = horizon;
  return correctness_text(report);
}

TEST(Correctness, IsNotReadAsSuccess) {
  EXPECT_EQ(correctness(256), "correct up to position 256 of 131071");
  EXPECT_EQ(correctness(0), "wrong from position 1 on, right at 0 alone");
  EXPECT_EQ(correctness(-1), "wrong from position 0 on");
  EXPECT_EQ(correctness(std::nullopt), "wrong from position 0 on");
}

TEST(Correctness, HasNoPositionWhereOtherCallsDecide) {
  Report report = sample();
  report.results[1].id = "accuracy";
  report.results[1].horizon = 256;
  ASSERT_TRUE(report.results[1].simplest);
  report.results[1].simplest->shown = Shown::after_other_calls;
  EXPECT_EQ(correctness_text(report), "");
  EXPECT_FALSE(horizon_of(report));
}

TEST(Statement, IsThatOfTheClaimsEncoding) {
  Report report = sample();
  PropertyResult result = report.results[0];
  EXPECT_EQ(statement_of(report, result), result.statement);
  result.statement = "sinusoidal: a\nrope: b\nxpos: as rope times c\nalibi: d";
  EXPECT_EQ(statement_of(report, result), "rope: b");
  report.spec_json = R"({"encoding":"xpos"})";
  EXPECT_EQ(statement_of(report, result), "rope: b\nxpos: as rope times c");
  report.spec_json = R"({"encoding":"attention"})";
  EXPECT_EQ(statement_of(report, result), result.statement);
}

TEST(Summary, TellsTheCauseAndTheClaimThatHoldsBelowTheVerdict) {
  const std::vector<SummaryLine> lines = summary_lines(sample());
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[1].text.starts_with("claims pairing"));
  EXPECT_TRUE(lines[2].text.starts_with("with pairing interleaved instead of half the claim holds"));
  EXPECT_EQ(lines[3].kind, SummaryKind::command);
  EXPECT_TRUE(lines[3].text.ends_with(R"("pairing":"interleaved"}' --profile quick)"));
}

TEST(Summary, NamesNoStageThatTheDiagnosisContradicts) {
  Report report = sample();
  ASSERT_TRUE(report.survey && report.diagnosis);
  report.survey->stage = "frequency";
  report.diagnosis->spec_json.clear();
  report.diagnosis->differences = {{"rotates over heads instead of tokens", "", DiagnosedStage::position}};
  EXPECT_EQ(summary_line(report).find("the error comes from"), std::string::npos);
  report.diagnosis->differences = {{"the two members of a pair are not turned alike", ""}};
  EXPECT_EQ(summary_line(report).find("the error comes from"), std::string::npos);
  // Another accuracy class may come from any stage.
  report.diagnosis->differences = {
      {"the formula is the claimed one, computed less exactly: float32-angle measured, exact-angle claimed", "",
       DiagnosedStage::arithmetic}};
  EXPECT_NE(summary_line(report).find("the error comes from the frequency"), std::string::npos);
  // Not by its words.
  report.diagnosis->differences = {{"the blend of llama3's middle band is reversed", "G9", DiagnosedStage::frequency}};
  EXPECT_NE(summary_line(report).find("the error comes from the frequency"), std::string::npos);
}

TEST(Summary, TellsTheCallThatCrashed) {
  Report report = sample();
  report.diagnosis.reset();
  report.results = {
      result("alpha", Verdict::holds),
      result("beta", Verdict::crashed, "crashed: rotate: was killed by signal 11, at call 3 of its session"),
      result("gamma", Verdict::crashed, "crashed: another")};
  const std::vector<SummaryLine> lines = summary_lines(report);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[1].text, "beta: crashed: rotate: was killed by signal 11, at call 3 of its session");
}

// Of a strict audit that nothing else fails.
TEST(Summary, NamesTheAdviceThatFailsAStrictAudit) {
  Report report = sample();
  report.diagnosis.reset();
  report.strictness = Strictness::strict;
  report.results = {result("alpha", Verdict::holds), result("beta", Verdict::violated, "likely fix: more of it"),
                    result("gamma", Verdict::violated)};
  for (std::size_t i : {1U, 2U}) report.results[i].level = Level::advice;
  EXPECT_EQ(summary_lines(report).at(1).text,
            "advice not followed: beta: the title of beta; likely fix: more of it; nor gamma");
  report.results[2].level = Level::law;
  EXPECT_EQ(summary_line(report).find("advice not followed"), std::string::npos);
  report.results.pop_back();
  report.strictness = Strictness::lenient;
  EXPECT_EQ(summary_line(report).find("advice not followed: beta"), std::string::npos);
}

TEST(Summary, NamesNoCauseOfWhatIsCorrectlyRounded) {
  Report report = sample();
  report.diagnosis.reset();
  report.results = {result("accuracy", Verdict::holds)};
  report.survey->measured_class = "exact-angle";
  EXPECT_NE(summary_line(report).find("what error there is comes from the angle"), std::string::npos);
  report.survey->measured_class = "correctly-rounded";
  EXPECT_EQ(summary_line(report).find("from the angle"), std::string::npos);
}

TEST(Summary, TellsWhyTheClaimIsUndecided) {
  Report report = sample();
  report.diagnosis.reset();
  report.results = {result("alpha", Verdict::holds), result("beta", Verdict::undecided, "half of the calls: None")};
  EXPECT_EQ(summary_lines(report).at(1).text, "beta: half of the calls: None");
}

TEST(Summary, NamesNoClassWhereAViolatedClaimHasNone) {
  Report report = sample();
  report.survey->measured_class.clear();
  EXPECT_EQ(summary_line(report).find("measured none"), std::string::npos);
}

}  // namespace
}  // namespace sextant::summary_test
