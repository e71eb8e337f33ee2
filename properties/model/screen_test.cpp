#include "properties/model/screen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "properties/model/value_judge.hpp"
#include "reference/sinusoidal.hpp"

namespace sextant::model_screen_test {
namespace {

using reference::Certainty;
using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

constexpr AccuracyClass classes[] = {AccuracyClass::correctly_rounded, AccuracyClass::faithful,
                                     AccuracyClass::exact_angle,       AccuracyClass::pair_norm,
                                     AccuracyClass::float32_angle,     AccuracyClass::bfloat16_angle};
constexpr Dtype dtypes[] = {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16};
constexpr std::int64_t pairs_count = 12;

// One value of a sinusoid: its truth, in both ways, and its bound.
class Element {
 public:
  Element(reference::GeometricFrequencies& frequencies, const ErrorBudget& budget, double scale, std::int64_t position,
          std::int64_t pair)
      : frequencies_(frequencies), budget_(budget), scale_(scale), position_(position), pair_(pair) {
    const reference::Rotation& rotation = frequencies.rotation(position, pair, reference::first_precision);
    truth_ = DoubleDoubleWithin::of(Enclosure(scale, reference::first_precision) * rotation.sin);
    derivative_ = scale * rotation.cos.upper();
    angle_ = rotation.angle.upper();
  }

  double truth() const { return truth_.high; }

  Judgement judged(Judgement judgement, double value) const {
    const ValueJudge judge(budget_, ExactZero::positive);
    const QuickTarget quick{truth_, budget_.element_bound(magnitude(truth_), derivative_, scale_, angle_, pair_)};
    const auto exact = [&](Precision precision) -> Target {
      const reference::Rotation& at = frequencies_.rotation(position_, pair_, precision);
      const Enclosure factor(scale_, precision);
      return {factor * at.sin, budget_.element_bound(factor * at.sin, factor * at.cos, factor, at.angle, pair_)};
    };
    judge.judge(judgement, value, quick, exact, [] { return "here"; });
    return judgement;
  }

  template <class Real>
  bool passes(const Judgement& judgement, double value) const {
    const Screen screen(budget_, judgement, position_);
    const Real truth = static_cast<Real>(truth_.high) + static_cast<Real>(truth_.low);
    const Real slack = std::numeric_limits<Real>::epsilon() * std::fabs(truth) + static_cast<Real>(0x1p-97 * scale_);
    const double error = budget_.quick_angle_error(angle_, pair_);
    return screen.passes(value, truth, slack, screen.element_bound(truth_.high, derivative_, std::fabs(scale_), error));
  }

 private:
  reference::GeometricFrequencies& frequencies_;
  const ErrorBudget& budget_;
  double scale_;
  std::int64_t position_;
  std::int64_t pair_;
  DoubleDoubleWithin truth_{};
  double derivative_;
  double angle_;
};

// What judging a value adds to a judgement whose worst is `worst` of a bound, at its own position or an earlier one
// where that is wrong: nothing, if it passes.
TEST(Screen, WhatPassesChangesNothing) {
  std::mt19937_64 random(29);
  std::int64_t passed = 0;
  std::int64_t compared = 0;
  for (const double scale : {1.0, 0.3, 0x1p-20}) {
    reference::GeometricFrequencies frequencies(10000, 2, 2 * pairs_count, pairs_count);
    for (const AccuracyClass accuracy : classes) {
      for (const Dtype dtype : dtypes) {
        const ErrorBudget budget({accuracy, dtype}, frequencies, pairs_count);
        for (int i = 0; i < 40; ++i) {
          const auto position = static_cast<std::int64_t>(random() % 100000);
          const Element element(frequencies, budget, scale, position,
                                static_cast<std::int64_t>(random() % pairs_count));
          for (const double worst : {0.004, 0.1, 0.3, 0.999, 1.0, 7.0}) {
            Judgement before;
            before.place = position - static_cast<std::int64_t>(random() % 2);
            before.add(worst > 1 ? Certainty::no : Certainty::yes, {worst, 0, 0}, [] { return "before"; });
            double value = round_to(dtype, element.truth());
            for (int step = 0; step < 12; ++step) {
              const Judgement after = element.judged(before, value);
              const bool passes = dtype == Dtype::float64 ? element.passes<long double>(before, value)
                                                          : element.passes<double>(before, value);
              ++compared;
              if (passes) {
                ++passed;
                ASSERT_EQ(after.within, before.within) << name_of(accuracy) << ' ' << name_of(dtype) << ' ' << value;
                ASSERT_LE(after.deviation.of_bound, std::max(worst, Screen::least_worst))
                    << name_of(accuracy) << ' ' << name_of(dtype) << ' ' << value;
              }
              value = random() % 2 == 0 ? next_above(dtype, value) : next_below(dtype, value);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(passed, compared / 4);
  EXPECT_LT(passed, compared);
}

TEST(Screen, PassesNothingAtFirstAndNoNaN) {
  const reference::GeometricFrequencies frequencies(10000, 2, 2 * pairs_count, pairs_count);
  const ErrorBudget budget({AccuracyClass::exact_angle, Dtype::float32}, frequencies, pairs_count);
  Judgement judgement;
  EXPECT_FALSE(Screen(budget, judgement, 0).passes(0.5, 0.5, 0x1p-60, 1.0));
  judgement.add(Certainty::yes, {0.5, 0, 0}, [] { return "something"; });
  const Screen screen(budget, judgement, 0);
  EXPECT_TRUE(screen.passes(0.5, 0.5, 0x1p-60, 1.0));
  EXPECT_TRUE(screen.passes(0.75, 0.5, 0x1p-60, 1.0));
  EXPECT_FALSE(screen.passes(1.25, 0.5, 0x1p-60, 1.0));
  const double nan = std::nan("");
  EXPECT_FALSE(screen.passes(nan, 0.5, 0x1p-60, 1.0));
  EXPECT_FALSE(screen.passes(0.5, nan, 0x1p-60, 1.0));
  EXPECT_FALSE(screen.passes(0.5, 0.5, 0x1p-60, nan));
  EXPECT_FALSE(screen.passes(HUGE_VAL, 0.5, 0x1p-60, 1.0));
}

}  // namespace
}  // namespace sextant::model_screen_test
