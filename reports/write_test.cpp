#include "reports/write.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace sextant::write_test {
namespace {

class Write : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("write_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
};

Report empty() {
  Report report;
  report.spec_json = "{}";
  return report;
}

TEST_F(Write, MakesTheDirectoryAndLeavesEveryFormat) {
  prepare_directory(directory_ / "a" / "b");
  write_reports(empty(), directory_ / "a" / "b");
  std::vector<std::string> expected;
  for (const ReportFormat& format : report_formats()) expected.emplace_back(format.file);
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_ / "a" / "b"))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, expected);
}

TEST_F(Write, RefusesADirectoryThatIsAFile) {
  std::filesystem::create_directories(directory_);
  std::ofstream(directory_ / "file") << "x";
  EXPECT_THROW(prepare_directory(directory_ / "file"), WriteError);
  EXPECT_THROW(prepare_directory(directory_ / "file" / "below"), WriteError);
}

TEST_F(Write, LeavesNothingHalfWritten) {
  std::filesystem::create_directories(directory_ / "report.json");  // so that the rename must fail
  EXPECT_THROW(write_reports(empty(), directory_), WriteError);
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    EXPECT_EQ(entry.path().filename(), "report.json");
}

}  // namespace
}  // namespace sextant::write_test
