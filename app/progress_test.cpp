#include "app/progress.hpp"

#include <gtest/gtest.h>

namespace sextant {
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

// What is set aside takes no time: counted as done it would make the rest look short.
TEST(Progress, CountsTheStepsOfPropertiesThatApply) {
  Progress progress(4);
  for (const std::int64_t done : {100, 200, 300}) {
    progress.advance(done, 400);
    progress.judged(result_with(Verdict::not_applicable));
  }
  EXPECT_EQ(progress.share(), 0);
  EXPECT_EQ(progress.seconds_left(1), std::nullopt);
  progress.advance(325, 400);
  EXPECT_DOUBLE_EQ(progress.share(), 0.25);
  EXPECT_DOUBLE_EQ(*progress.seconds_left(2), 6);
  Progress idle(1);
  idle.advance(40, 40);
  idle.judged(result_with(Verdict::not_applicable));
  EXPECT_EQ(idle.share(), 0);  // not 0/0
}

}  // namespace
}  // namespace sextant
