#include "reports/sarif.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/sample_test.hpp"

// The requirements of SARIF 2.1.0 (OASIS) on the objects that the writer makes; section numbers are the standard's.

namespace sextant::sarif_test {
namespace {

using nlohmann::json;

TEST(Sarif, HasWhatTheStandardRequires) {
  const json log = json::parse(write_sarif(sample()));
  EXPECT_EQ(log.at("version"), "2.1.0");  // 3.13.2
  ASSERT_EQ(log.at("runs").size(), 1);    // 3.13.4
  const json& run = log["runs"][0];
  const json& driver = run.at("tool").at("driver");  // 3.14.6, 3.18.2
  EXPECT_TRUE(driver.at("name").is_string());        // 3.19.8
  for (const json& rule : driver.at("rules")) {
    EXPECT_TRUE(rule.at("id").is_string());                           // 3.49.3
    EXPECT_TRUE(rule.at("shortDescription").at("text").is_string());  // 3.11.8
    EXPECT_TRUE(rule.at("help").at("text").is_string());              // needed wherever there is markdown
  }
  for (const json& invocation : run.at("invocations"))
    EXPECT_TRUE(invocation.at("executionSuccessful").is_boolean());  // 3.20.14
  ASSERT_FALSE(run.at("results").empty());
  for (const json& result : run["results"]) {
    const std::size_t index = result.at("ruleIndex");
    EXPECT_EQ(driver["rules"].at(index).at("id"), result.at("ruleId"));  // 3.27.6
    EXPECT_TRUE(result.at("message").at("text").is_string());            // 3.27.11
    EXPECT_TRUE(result.at("level") == "error" || result.at("level") == "warning" ||
                result.at("level") == "note");  // 3.27.10
    for (const json& location : result.at("locations")) {
      const std::string uri = location.at("physicalLocation").at("artifactLocation").at("uri");
      EXPECT_EQ(uri.find_first_of(" <>\"\\^`{|}"), std::string::npos) << uri;   // 3.10.1: RFC 3986
      EXPECT_GE(location["physicalLocation"].at("region").at("startLine"), 1);  // 3.30.5
    }
    for (const auto& [name, value] : result.at("partialFingerprints").items())
      EXPECT_TRUE(value.is_string()) << name;  // 3.27.17
  }
}

TEST(Sarif, TellsViolationsFailuresAndAdviceApart) {
  const json results = json::parse(write_sarif(sample()))["runs"][0]["results"];
  std::map<std::string, std::string> levels;
  for (const json& result : results) levels[result["ruleId"]] = result["level"];
  const std::map<std::string, std::string> expected{
      {"beta", "error"}, {"gamma", "error"}, {"delta", "error"}, {"epsilon", "warning"}, {"theta", "note"}};
  EXPECT_EQ(levels, expected);
}

TEST(Sarif, AFingerprintSurvivesAnotherCounterexample) {
  Report other = sample();
  other.results[1].simplest->token = "beta:position=3";
  EXPECT_EQ(json::parse(write_sarif(other))["runs"][0]["results"][0]["partialFingerprints"],
            json::parse(write_sarif(sample()))["runs"][0]["results"][0]["partialFingerprints"]);
}

// Where a finding is shown alone, as beside a line of code, it tells why.
TEST(Sarif, AFindingTellsTheCause) {
  const std::string text = write_sarif(sample());
  EXPECT_NE(text.find("Cause: claims pairing *half*, computes <interleaved>"), std::string::npos);
}

}  // namespace
}  // namespace sextant::sarif_test
