#include "app/progress.hpp"

#include <gtest/gtest.h>

namespace sextant::progress_test {
namespace {

PropertyResult result_with(Verdict verdict, Level level = Level::law) {
  PropertyResult result;
  result.verdict = verdict;
  result.level = level;
  return result;
}

TEST(Progress, TellsThePropertyItsFailuresAndTheTimeLeft) {
  Progress progress(17);
  EXPECT_EQ(progress.text(0), "0 of 17 properties judged, 0 %, 0 s");
  progress.advance(80, 800);
  progress.judging("accuracy");
  EXPECT_EQ(progress.text(3), "accuracy, 0 of 17 properties judged, 10 %, 3 s, about 27 s left");
  progress.judged(result_with(Verdict::violated));
  progress.judged(result_with(Verdict::crashed));
  progress.judged(result_with(Verdict::timed_out));
  progress.judged(result_with(Verdict::holds));
  progress.judged(result_with(Verdict::violated, Level::advice));  // fails no audit
  progress.advance(400, 800);
  EXPECT_EQ(progress.text(9), "accuracy, 5 of 17 properties judged, 1 violated, 2 failed, 50 %, 9 s, about 9 s left");
}

// A twentieth is the least of which an estimate is made; at the end there is nothing left to estimate.
TEST(Progress, EstimatesNothingFromTooLittle) {
  Progress progress(4);
  progress.advance(49, 1000);
  EXPECT_EQ(progress.seconds_left(10), std::nullopt);
  progress.advance(50, 1000);
  ASSERT_TRUE(progress.seconds_left(10).has_value());
  EXPECT_DOUBLE_EQ(*progress.seconds_left(10), 190);
  progress.advance(1000, 1000);
  EXPECT_EQ(progress.seconds_left(10), std::nullopt);
}

TEST(Progress, CountsThePropertiesThatApply) {
  Progress progress(4);
  progress.judged(result_with(Verdict::not_applicable));
  progress.judged(result_with(Verdict::not_applicable));
  EXPECT_EQ(progress.text(0), "0 of 2 properties judged, 0 %, 0 s");
  EXPECT_EQ(progress.seconds_left(1), std::nullopt);  // not 0/0
  progress.judged(result_with(Verdict::holds));
  progress.advance(20, 40);
  EXPECT_EQ(progress.text(3), "1 of 2 properties judged, 50 %, 3 s, about 3 s left");
}

}  // namespace
}  // namespace sextant::progress_test
