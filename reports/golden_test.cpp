#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "reports/baseline.hpp"
#include "reports/html.hpp"
#include "reports/json.hpp"
#include "reports/sample_test.hpp"
#include "reports/terminal.hpp"
#include "reports/write.hpp"

// Every writer against its golden file in reports/golden/, for one made-up report that holds each verdict, NaN,
// infinity, a path that is not ASCII, markup and control characters. After reading the difference: SEXTANT_APPROVE=1
// build/bin/reports_test.

namespace sextant::golden_test {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(SEXTANT_SOURCE_DIR) / "reports" / "golden" / name;
  if (std::getenv("SEXTANT_APPROVE") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ifstream stream(path, std::ios::binary);
  ASSERT_TRUE(stream) << path;
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(stream), {}));
}

TEST(Golden, Terminal) { expect_golden("terminal.txt", write_terminal(sample(), Colour::none)); }

TEST(Golden, TerminalOfEveryProperty) {
  expect_golden("terminal_every_property.txt", write_terminal(sample(), Colour::none, Detail::every_property));
}

// A subject that could not be asked anything: one message, with its place, its traceback and what mends it.
TEST(Golden, StoppedReports) {
  Report report = sample();
  report.stop = Stop{"broke the protocol: \"y\" came back as <float64>, the spec says float32",
                     {"modèles/rope.py", 12},
                     "Traceback (most recent call last):\n  File \"modèles/rope.py\", line 12, in rotate\n```\x1b[31m",
                     "return y.astype(x.dtype)"};
  report.survey.reset();
  report.results = {result("alpha", Verdict::crashed, report.stop->reason),
                    result("zeta", Verdict::not_applicable, "a property of rotations")};
  report.exit_status = 3;
  for (const ReportFormat& format : report_formats())
    expect_golden(fmt::format("stopped/{}", format.file), format.write(report));
  expect_golden("stopped/terminal.txt", write_terminal(report, Colour::none));
}

TEST(Golden, Baseline) {
  expect_golden("baseline.json", write_baseline(sample()));
  EXPECT_EQ(write_baseline(read_baseline(write_baseline(sample()))), write_baseline(sample()));
}

TEST(Golden, TerminalInColour) { expect_golden("terminal_colour.txt", write_terminal(sample(), Colour::ansi)); }

TEST(Golden, EveryFormat) {
  for (const ReportFormat& format : report_formats()) expect_golden(std::string(format.file), format.write(sample()));
}

TEST(Golden, JsonIsJson) { EXPECT_TRUE(nlohmann::json::accept(write_json(sample()))); }

TEST(Golden, HtmlMatrix) {
  Report good = sample();
  good.results.resize(1);
  good.exit_status = 0;
  expect_golden("matrix.html", write_html_matrix(std::vector<Report>{sample(), good}));
}

// Of a run that was cut short after two properties.
TEST(Golden, Partial) {
  Report report = sample();
  for (std::size_t i = 2; i < report.results.size(); ++i) report.missing.push_back(report.results[i].id);
  report.results.resize(2);
  report.survey.reset();
  report.exit_status = exit_status(report);
  for (const ReportFormat& format : report_formats())
    expect_golden(fmt::format("partial/{}", format.file), format.write(report));
  expect_golden("partial/terminal.txt", write_terminal(report, Colour::none));
}

TEST(Headline, SaysTheGoodAndTheEmpty) {
  Report report;
  EXPECT_EQ(headline(report), "nothing applicable ran: no property was asked");
  report.selection = " --only accuracy --skip accuracy";
  EXPECT_EQ(headline(report), "nothing applicable ran: --only accuracy --skip accuracy leaves no property");
  report.results = {result("a", Verdict::holds)};
  EXPECT_EQ(headline(report), "the one applicable property holds");
  report.results.push_back(result("b", Verdict::holds));
  EXPECT_EQ(headline(report), "all 2 applicable properties hold");
  report.results.push_back(result("c", Verdict::violated));
  EXPECT_EQ(headline(report), "1 property violated, 2 held");
  report.results = {result("d", Verdict::crashed)};
  report.results.back().level = Level::advice;
  EXPECT_EQ(headline(report), "advice not followed: 1");
  // What does not apply is no cause where something would.
  report.results = {result("law", Verdict::not_applicable), result("other", Verdict::unsupported)};
  report.results.back().reason = "the subject defines no encode, but rotate";
  EXPECT_EQ(headline(report), "nothing applicable ran: the subject defines no encode, but rotate");
  // Contracts alone show no right value.
  report.results = {result("law", Verdict::unsupported), result("contract", Verdict::holds)};
  report.results.back().level = Level::contract;
  EXPECT_EQ(headline(report), "no law was judged; 1 other property holds");
}

}  // namespace
}  // namespace sextant::golden_test
