#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "reports/json.hpp"
#include "reports/junit.hpp"
#include "reports/markdown.hpp"
#include "reports/terminal.hpp"

// Every writer against its golden file in reports/golden/, for one made-up report that holds each verdict, NaN, infinity, a path
// that is not ASCII, markup and control characters. After reading the difference: SEXTANT_APPROVE=1 build/bin/reports_test.

namespace sextant {
namespace {

PropertyResult result(const std::string& id, Verdict verdict, const std::string& reason = "") {
  PropertyResult made;
  made.id = id;
  made.title = "the title of " + id;
  made.statement = "f(p) = g(p) < 1 & |f| >= 0";
  made.verdict = verdict;
  made.reason = reason;
  return made;
}

Report sample() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Report report;
  report.sextant_version = "0.0.0";
  report.subject = "python:modèles/<rope> & co.py";
  report.subject_name = "a *fine* |subject|";
  report.subject_version = "1.2";
  report.spec_json = R"({"encoding":"rope","head_dim":64})";
  report.spec_text = "rope head_dim 64 float32";
  report.claim = "float32-angle";
  report.last_position = 131071;
  report.profile = "quick";
  report.seed = 18446744073709551615U;
  report.environment = {{"system", "Linux \"x\""}, {"mpfr", "4"}};
  report.command = "sextant audit 'python:modèles/<rope> & co.py' --spec '{\"encoding\":\"rope\",\"head_dim\":64}'";
  report.exit_status = 1;
  report.seconds = 1.5;

  PropertyResult holds = result("alpha", Verdict::holds);
  holds.cases = 203;
  holds.worst = Example{"alpha:position=7", "position 7: nothing much", {0.25, 1e-9, 0.5}};
  holds.seconds = 0.125;
  PropertyResult violated = result("beta", Verdict::violated);
  violated.level = Level::contract;
  violated.cases = 1;
  violated.simplest = Example{"beta:position=257", "position 257: got nan, `true` value <0.5>", {infinity, infinity, std::nan("")}};
  violated.worst = Example{"beta:position=300", "position 300: 7.4 times the bound", {7.4, 0.1, 1e6}};
  PropertyResult crashed = result("gamma", Verdict::crashed, "crashed: encode: was killed by signal 11 (Segmentation fault); it wrote: \x1b[31mred\x01");
  crashed.simplest = Example{"gamma:position=0", "encode: was killed by signal 11 (Segmentation fault)", {}};
  report.results = {holds, violated, crashed, result("delta", Verdict::timed_out, "timed out: encode: gave no answer within the time-out"),
                    result("epsilon", Verdict::undecided, "no case ran"), result("zeta", Verdict::not_applicable, "a property of rotations"),
                    result("eta", Verdict::unsupported, "encode returned None")};
  return report;
}

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

TEST(Golden, TerminalInColour) { expect_golden("terminal_colour.txt", write_terminal(sample(), Colour::ansi)); }

TEST(Golden, Json) {
  const std::string text = write_json(sample());
  expect_golden("report.json", text);
  EXPECT_TRUE(nlohmann::json::accept(text));
}

TEST(Golden, Junit) { expect_golden("junit.xml", write_junit(sample())); }

TEST(Golden, Markdown) { expect_golden("report.md", write_markdown(sample())); }

TEST(Headline, SaysTheGoodAndTheEmpty) {
  Report report;
  EXPECT_EQ(headline(report), "nothing applicable ran");
  report.results = {result("a", Verdict::holds)};
  EXPECT_EQ(headline(report), "the one applicable property holds");
  report.results.push_back(result("b", Verdict::holds));
  EXPECT_EQ(headline(report), "all 2 applicable properties hold");
  report.results.push_back(result("c", Verdict::violated));
  EXPECT_EQ(headline(report), "1 property violated, 2 held");
}

}  // namespace
}  // namespace sextant
