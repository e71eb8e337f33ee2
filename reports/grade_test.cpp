#include "reports/grade.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/sample_test.hpp"

namespace sextant::grade_test {
namespace {

using nlohmann::json;

json graded(const Report& report) {
  const std::string line = write_grade(report);
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  return json::parse(line);
}

// One of each verdict; advice that is not followed, and a witness of what an encoding lacks, count as neither.
TEST(Grade, TellsTheFirstTheWorstAndHowMany) {
  const json grade = graded(sample());
  EXPECT_EQ(grade["verdict"], "violated");
  EXPECT_EQ(grade["exit"], 1);
  EXPECT_EQ(grade["subject"], "python:modèles/<rope> & co.py");
  EXPECT_EQ(grade["claim"], claim_text(sample()));
  EXPECT_EQ(grade["properties"]["violated"], 1);
  EXPECT_EQ(grade["properties"]["failed"], 2);
  EXPECT_EQ(grade["properties"]["undecided"], 1);
  EXPECT_EQ(grade["properties"]["unsupported"], 1);
  EXPECT_EQ(grade["properties"]["not_applicable"], 1);
  std::int64_t all = 0;
  for (const auto& count : grade["properties"]) all += count.get<std::int64_t>();
  EXPECT_EQ(all, std::ssize(sample().results));
  EXPECT_EQ(grade["worst"], (json{{"property", "beta"}, {"of_bound", 7.4}, {"ulps", 1e6}, {"position", 300}}));
  EXPECT_EQ(grade["first_violation"]["property"], "beta");
  EXPECT_EQ(grade["first_violation"]["finding"], "position 257: got nan, `true` value <0.5>");
  EXPECT_EQ(grade["first_failure"]["property"], "gamma");
  EXPECT_EQ(grade["seconds"], 1.5);
}

TEST(Grade, LeavesOutAdviceUnlessItIsStrict) {
  Report report = sample();
  PropertyResult advice = result("advice", Verdict::violated);
  advice.level = Level::advice;
  advice.horizon = 3;
  advice.simplest = advice.worst = Example{"advice:position=4", "position 4: no manners", {99, 1, 1}};
  report.results = {advice, result("holds", Verdict::holds)};
  report.results[1].worst = Example{"holds:a=1,position=7,b=2", "fine", {0.5, 0, 0.25}};
  report.exit_status = 0;
  json grade = graded(report);
  EXPECT_EQ(grade["verdict"], "holds");
  EXPECT_EQ(grade["properties"]["advice_not_followed"], 1);
  EXPECT_EQ(grade["properties"]["violated"], 0);
  EXPECT_EQ(grade["worst"]["property"], "holds");
  EXPECT_EQ(grade["worst"]["position"], 7);
  EXPECT_EQ(grade["first_violation"], nullptr);
  EXPECT_EQ(grade["horizon"], nullptr);
  report.strictness = Strictness::strict;
  report.exit_status = 1;
  grade = graded(report);
  EXPECT_EQ(grade["verdict"], "violated");
  EXPECT_EQ(grade["worst"]["of_bound"], 99);
  EXPECT_EQ(grade["horizon"], 3);
  EXPECT_EQ(grade["first_violation"]["property"], "advice");
}

// A witness has to be beyond the bound; the worst is of what has to be within.
TEST(Grade, TakesNoWitnessForTheWorst) {
  Report report = sample();
  PropertyResult witness = result("witness", Verdict::holds);
  witness.theory = Theory::fails;
  witness.worst = Example{"witness:position=9", "it is not bounded", {1e9, 1, 1}};
  report.results = {witness};
  report.exit_status = 0;
  EXPECT_EQ(graded(report)["worst"], nullptr);
}

TEST(Grade, TheLeastHorizonIsThatOfAllAndOfRealPositionsReal) {
  Report report = sample();
  PropertyResult near = result("near", Verdict::violated);
  near.horizon = 2;
  near.simplest = near.worst = Example{"near:position=3", "position 1.5: off", {2, 1, 1}};
  PropertyResult far = near;
  far.horizon = 8;
  report.results = {far, near};
  EXPECT_EQ(graded(report)["horizon"], 2);
  report.grid = PositionGrid{.step = 0.5, .dtype = Dtype::float32};
  EXPECT_EQ(graded(report)["horizon"], 1);
  EXPECT_EQ(graded(report)["worst"]["position"], 1.5);
}

TEST(Grade, WhereNothingIsDecidedTheVerdictSaysWhy) {
  Report report = sample();
  report.exit_status = 4;
  report.results = {result("a", Verdict::not_applicable)};
  EXPECT_EQ(graded(report)["verdict"], "not_applicable");
  report.results.push_back(result("b", Verdict::unsupported));
  EXPECT_EQ(graded(report)["verdict"], "unsupported");
  report.results.push_back(result("c", Verdict::undecided));
  EXPECT_EQ(graded(report)["verdict"], "undecided");
}

TEST(Grade, AnErrorIsALineToo) {
  const std::string line = write_grade_of_error("a \"quoted\"\nname \xff", 2);
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  const json error = json::parse(line);
  EXPECT_EQ(error["verdict"], "error");
  EXPECT_EQ(error["exit"], 2);
  EXPECT_EQ(error["error"], "a \"quoted\"\nname \xef\xbf\xbd");
}

}  // namespace
}  // namespace sextant::grade_test
