#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/sample_test.hpp"
#include "reports/terminal.hpp"

namespace sextant::reports_terminal_test {
namespace {

PropertyResult crashed(const std::string& id, const std::string& reason) {
  PropertyResult made = result(id, Verdict::crashed, reason);
  made.simplest = Example{id + ":position=0", "", {}, Shown::after_other_calls};
  return made;
}

TEST(Terminal, TellsAReasonOnceForAllThatFailedOfIt) {
  Report report;
  report.results = {crashed("alpha", "the third call"), crashed("beta", "another"), crashed("gamma", "the third call")};
  const std::string text = write_terminal(report, Colour::none);
  EXPECT_NE(text.find("crashed       in 2 properties: the third call\n"
                      "    alpha                --replay alpha:position=0 (alone it shows nothing)\n"
                      "    gamma                --replay gamma:position=0 (alone it shows nothing)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  beta                 crashed        another\n"), std::string::npos) << text;
}

TEST(Terminal, SaysHowFewCasesAVerdictRestsOn) {
  Report report;
  report.results = {result("alpha", Verdict::holds, ""), result("beta", Verdict::holds, "")};
  for (PropertyResult& one : report.results) one.cases = 2;
  report.results.front().unsupported = 44;
  report.results.back().unsupported = 2;
  const std::string text = write_terminal(report, Colour::none);
  EXPECT_NE(text.find("hold     alpha (2 of 46 cases), beta; the other cases are unsupported\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace sextant::reports_terminal_test
