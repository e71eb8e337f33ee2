#include "reports/html.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "reports/base64.hpp"
#include "reports/charts/chart.hpp"
#include "reports/json.hpp"
#include "reports/markdown.hpp"
#include "reports/read_json.hpp"
#include "reports/sample_test.hpp"
#include "reports/terminal.hpp"

namespace sextant::html_test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Html, EscapesWhatComesFromTheSubject) {
  Report report = sample();
  report.subject = "python:<script>alert(1)</script>.py";
  report.subject_name = "\"><img src=x onerror=alert(1)>";
  report.results[1].simplest->finding = "</pre><script>alert(2)</script>";
  report.survey->recipe = "<b>";
  report.survey->errors->recipes[0].name = "</svg><script>";
  for (const std::string& page : {write_html(report), write_html_matrix(std::vector<Report>{report, report})}) {
    EXPECT_FALSE(contains(page, "<script>alert"));
    EXPECT_FALSE(contains(page, "<img"));
    EXPECT_FALSE(contains(page, "</svg><script>"));
    EXPECT_TRUE(contains(page, "&lt;script&gt;"));
  }
}

// The text of the red panel.
std::string panel_of(const Report& report) {
  const std::string page = write_html(report);
  const std::size_t start = page.find("<section class=\"wrong\">");
  return page.substr(start, page.find("</section>", start) - start);
}

// Part of a command as the page has it, each word of which stays whole.
std::string in_words(const std::string& command) {
  std::string text;
  std::istringstream stream(command);
  for (std::string word; std::getline(stream, word, ' ');)
    text += (text.empty() ? "" : " ") + ("<span>" + word + "</span>");
  return text;
}

TEST(Html, ReplaysFirstWhatFailsAlone) {
  Report report = sample();
  PropertyResult& remembers = report.results[1];
  remembers.simplest->shown = Shown::after_other_calls;
  PropertyResult other = remembers;
  other.id = "kappa";
  other.simplest = Example{"kappa:position=5", "position 5, vector 1: off", {2, 1, 2}};
  EXPECT_TRUE(contains(panel_of(report), "This case alone, with --replay, will hold"));
  EXPECT_TRUE(contains(panel_of(report), in_words("--profile quick --only beta")));
  EXPECT_FALSE(contains(write_html(report), "counts all vectors"));
  report.results.push_back(other);
  EXPECT_TRUE(contains(panel_of(report), in_words("--replay kappa:position=5")));
  EXPECT_FALSE(contains(panel_of(report), "will hold"));
  EXPECT_TRUE(contains(write_html(report), in_words("--profile quick --only beta")));
  EXPECT_TRUE(contains(write_html(report), "counts all vectors"));
  EXPECT_TRUE(contains(write_terminal(report, Colour::none), "--replay beta:position=257 (alone it shows nothing)"));
  EXPECT_TRUE(contains(write_terminal(report, Colour::none), "--profile quick --only PROPERTY"));
  EXPECT_TRUE(contains(write_markdown(report), "--only beta"));
  const Report read = read_json(write_json(report));
  EXPECT_EQ(read.results[1].simplest->shown, Shown::after_other_calls);
  EXPECT_EQ(read.results.back().simplest->shown, Shown::alone);
}

// What fails holds or not, who knows.
TEST(Html, TellsOfAFailureAsOne) {
  Report report = sample();
  report.results = {report.results[2]};
  const std::string panel = panel_of(report);
  EXPECT_FALSE(contains(panel, "does not hold"));
  EXPECT_TRUE(
      contains(panel, "was not judged (<a href=\"#gamma\">gamma</a>): the subject crashed: encode: was killed"));
}

// A template's section that is not in a line's own data would be the page's.
TEST(Html, ShowsTheCommandThatAuditsTheChangedClaimOnce) {
  const std::string page = write_html(sample());
  const std::string shown = "&quot;pairing&quot;:&quot;interleaved&quot;}";
  EXPECT_EQ(page.find(shown), page.rfind(shown));
  const std::size_t facts = page.find("<dl class=\"facts\">");
  EXPECT_LT(page.find(shown), facts);
  // One of the panel, none of the summary's other lines.
  const std::string again = "--profile quick --skip kappa";
  EXPECT_GT(page.find(again), facts);
}

TEST(Html, ItsTilesDoNotContradictTheVerdict) {
  Report report = sample();
  report.results[1].id = "accuracy";
  report.results[1].horizon.reset();
  report.survey->measured_class = "exact-angle";
  report.survey->horizon = report.last_position;
  EXPECT_TRUE(contains(write_html(report), "exact-angle, by calls that do not show the failure"));
  EXPECT_TRUE(contains(write_html(report), "no position"));
  report.results[1].verdict = Verdict::holds;
  EXPECT_FALSE(contains(write_html(report), "by calls that do not show the failure"));
}

TEST(Html, NeedsNoNetwork) {
  for (const std::string& page : {write_html(sample()), write_html_matrix(std::vector<Report>{sample()})}) {
    EXPECT_FALSE(contains(page, "http://"));
    EXPECT_FALSE(contains(page, "https://"));
    EXPECT_FALSE(contains(page, "url("));
  }
}

TEST(Html, LeavesOutPicturesWithoutData) {
  Report report = sample();
  EXPECT_TRUE(contains(write_html(report), "Error against position"));
  report.survey = Survey{};
  EXPECT_FALSE(contains(write_html(report), "<svg"));
  EXPECT_FALSE(contains(write_html(report), "What its values look like"));
  report.survey.reset();
  EXPECT_FALSE(contains(write_html(report), "<svg"));
}

TEST(Charts, AreEmptyWhereNothingCanBeDrawn) {
  const std::vector<Series> none{{"a", {1, 2}, {std::nan(""), 0}, Series::Mark::line}};
  EXPECT_EQ(plot({"x", Scale::linear}, {"y", Scale::logarithmic}, none), "");
  const std::vector<Series> one{{"shown", {1, 2}, {3, 4}, Series::Mark::line},
                                {"hidden", {1, 2}, {std::nan(""), 0}, Series::Mark::line}};
  EXPECT_TRUE(contains(plot({"x", Scale::linear}, {"y", Scale::logarithmic}, one), "shown"));
  EXPECT_FALSE(contains(plot({"x", Scale::linear}, {"y", Scale::logarithmic}, one), "hidden"));
  EXPECT_EQ(component_chart(CodeMap{0, 2, 2, {1, 2, 3, 4}}), "");
  // Finite values of which the sums are infinite.
  const std::vector<Series> huge = principal_components({0, 3, 2, {1e308, 1e308, 1.2e308, 1.2e308, 1.4e308, 1.4e308}});
  ASSERT_EQ(huge.size(), 2U);
  EXPECT_NEAR(std::fabs(huge.front().x.front()) / 1e308, 0.2 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(huge.front().x.at(1) / 1e308, 0, 1e-12);
  EXPECT_TRUE(principal_components({0, 3, 2, {1.7e308, 1.7e308, 0, 0, -1.7e308, -1.7e308}}).empty());
  EXPECT_EQ(ulp_histogram({}), "");
}

TEST(Charts, HaveTicksWhereValuesDifferByTheirLastDigits) {
  const auto ticks = [](const std::string& svg) {
    std::size_t count = 0;
    for (std::size_t at = svg.find("class=\"tick\""); at != std::string::npos; at = svg.find("class=\"tick\"", at + 1))
      ++count;
    return count;
  };
  for (const double value : {1.0, 1e-12, 9007199254740992.0, 0.0, -3.0}) {
    const std::vector<Series> flat{
        {"flat", {0, 1, 2}, {value, std::nextafter(value, 10 * value), value}, Series::Mark::points}};
    const std::string svg = plot({"x", Scale::linear}, {"y", Scale::linear}, flat);
    EXPECT_GT(ticks(svg), 6U) << value;  // a few on each axis, and the legend's line
    EXPECT_LT(ticks(svg), 30U) << value;
  }
}

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace sextant::html_test
