#include "reports/read_json.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "reports/json.hpp"
#include "reports/sample_test.hpp"

namespace sextant::read_json_test {
namespace {

using nlohmann::ordered_json;

std::string refusal(const std::string& text) {
  try {
    read_json(text);
  } catch (const ReadError& error) {
    return error.what();
  }
  return "read";
}

// The sample's JSON, changed.
template <class Change>
std::string changed(Change change) {
  auto json = ordered_json::parse(write_json(sample()));
  change(json);
  return json.dump();
}

TEST(ReadJson, GivesBackWhatWasWritten) {
  EXPECT_EQ(write_json(read_json(write_json(sample()))), write_json(sample()));
}

TEST(ReadJson, RefusesInOneLineThatNamesTheField) {
  EXPECT_EQ(refusal("{"), "expected JSON");
  EXPECT_EQ(refusal("[]"), "report: expected an object");
  EXPECT_EQ(refusal("{}"), "format: missing");
  EXPECT_EQ(refusal(changed([](auto& json) { json["format"] = "other"; })), "format: expected \"sextant-report\"");
  EXPECT_EQ(refusal(changed([](auto& json) { json["version"] = 2; })), "version: expected 1, got 2");
  EXPECT_EQ(refusal(changed([](auto& json) { json["seed"] = -1; })), "seed: expected an integer");
  EXPECT_EQ(refusal(changed([](auto& json) { json["subject"]["name"] = 7; })), "subject.name: expected a string");
  EXPECT_EQ(refusal(changed([](auto& json) { json["properties"] = 7; })), "properties: expected a list");
  EXPECT_EQ(refusal(changed([](auto& json) { json["properties"][1]["verdict"] = "fine"; })),
            "properties[1].verdict: \"fine\" is none of the words expected here");
  EXPECT_EQ(refusal(changed([](auto& json) { json["properties"][0]["worst"]["error_ulps"] = "half"; })),
            "properties[0].worst.error_ulps: expected a number");
  EXPECT_EQ(refusal(changed([](auto& json) { json["properties"][0]["worst"] = nullptr; })),
            "properties[0].worst: missing, though the property was judged");
  EXPECT_EQ(refusal(changed([](auto& json) { json["survey"]["errors"]["pairs"] = 3; })),
            "survey.errors: the lists do not fit positions and pairs");
  EXPECT_EQ(refusal(changed([](auto& json) { json["survey"]["codes"]["rows"] = std::int64_t{1} << 62; })),
            "survey.codes: the values do not fit rows and width");
  EXPECT_EQ(refusal(changed([](auto& json) { json["survey"]["codes"]["values"][2] = true; })),
            "survey.codes.values[2]: expected a number");
  EXPECT_EQ(refusal(std::string(100000, '[')), "nested too deeply");
}

TEST(ReadJson, NamesTheFile) {
  EXPECT_THROW(read_json_file("/nonexistent/report.json"), ReadError);
  const auto path = std::filesystem::path(testing::TempDir()) / "no_report.json";
  std::ofstream(path) << "{}";
  try {
    read_json_file(path);
    FAIL();
  } catch (const ReadError& error) {
    EXPECT_EQ(std::string(error.what()), path.string() + ": format: missing");
  }
}

}  // namespace
}  // namespace sextant::read_json_test
