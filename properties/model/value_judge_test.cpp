#include "properties/model/value_judge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "reference/sinusoidal.hpp"

namespace sextant::model_value_judge_test {
namespace {

using reference::Certainty;
using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

const AccuracyClass classes[] = {AccuracyClass::correctly_rounded, AccuracyClass::faithful, AccuracyClass::exact_angle,
                                 AccuracyClass::float32_angle, AccuracyClass::bfloat16_angle};
const Dtype dtypes[] = {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16};

struct Setting {
  double base;
  double scale;
};

// The quick way and the exact one, value by value: the truth rounded, its neighbours, and what lies about the bound.
TEST(ValueJudge, TheQuickWayAgreesWithTheExactOne) {
  constexpr std::int64_t pairs = 12;
  constexpr QuickTarget nothing{{0, 0, 0}, {0, std::numeric_limits<double>::infinity()}};
  std::mt19937_64 random(23);
  std::int64_t compared = 0;
  std::int64_t quick_answers = 0;
  for (const Setting& setting :
       {Setting{10000, 1}, Setting{77777.25, -0.3}, Setting{1e300, 1}, Setting{10000, 1e-30}}) {
    const double scale = setting.scale;
    reference::GeometricFrequencies exact(setting.base, 2, 2 * pairs, pairs);
    const reference::FastRotations fast = exact.fast();
    reference::RotationRow row = fast.make_row();
    for (const AccuracyClass accuracy : classes) {
      for (const Dtype dtype : dtypes) {
        const ErrorBudget budget({accuracy, dtype}, exact, pairs);
        const ValueJudge judge(budget, ExactZero::positive);
        for (int i = 0; i < 12; ++i) {
          const std::int64_t position = i < 3 ? i : static_cast<std::int64_t>(random()) >> (11 + random() % 50);
          const auto pair = static_cast<std::int64_t>(random() % pairs);
          const auto at_pair = static_cast<std::size_t>(pair);
          fast.at(position, row);
          const DoubleDoubleWithin truth = DoubleDoubleWithin::exactly(scale) * row.sin(at_pair);
          const double derivative = scale * row.cos_high[at_pair];
          const double angle = exact.radians(pair, reference::first_precision).upper() * static_cast<double>(position);
          const auto at = [&](Precision precision) -> Target {
            const reference::Rotation& rotation = exact.rotation(position, pair, precision);
            const Enclosure factor(scale, precision);
            return {factor * rotation.sin,
                    budget.element_bound(factor * rotation.sin, factor * rotation.cos, factor, rotation.angle, pair)};
          };
          const Target target = at(Precision{256});
          const QuickTarget quick{truth, budget.element_bound(magnitude(truth), derivative, scale, angle, pair)};
          EXPECT_LE(quick.bound.lower, target.bound.upper());
          EXPECT_GE(quick.bound.upper, target.bound.lower());

          const double nearest = round_to(dtype, truth.high);
          const double reach = target.bound.upper();
          for (const double value :
               {nearest, next_above(dtype, nearest), next_below(dtype, nearest), round_to(dtype, truth.high + reach),
                next_above(dtype, round_to(dtype, truth.high + reach)), round_to(dtype, truth.high - reach), 0.0,
                -nearest, 2.0}) {
            Judgement quickly;
            Judgement exactly;
            judge.judge(quickly, value, quick, at, [] { return "here"; });
            judge.judge(exactly, value, nothing, at, [] { return "here"; });
            ASSERT_EQ(quickly.within, exactly.within)
                << name_of(accuracy) << ' ' << name_of(dtype) << ' ' << position << ' ' << value;
            ASSERT_NE(quickly.within, Certainty::unknown);
            // The exact way stops at the first precision that decides; the deviation is compared with that of 256 bits.
            // Of half the least double an error may be too many times for a double.
            const Deviation expected = deviation_of(reference::absolute_error(value, target.truth), target.bound, 1);
            const double fast_error = std::fabs(scale) * 0x1p-98;
            ASSERT_NEAR(quickly.deviation.absolute, expected.absolute, expected.absolute * 0x1p-30 + fast_error);
            if (std::isfinite(expected.of_bound) && value != 0) {
              ASSERT_NEAR(quickly.deviation.of_bound, expected.of_bound,
                          expected.of_bound * 0x1p-30 + fast_error / target.bound.lower());
            }
            ++compared;
            int asked = 0;
            Judgement counted;
            judge.judge(
                counted, value, quick,
                [&](Precision precision) {
                  ++asked;
                  return at(precision);
                },
                [] { return "here"; });
            quick_answers += asked == 0 ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GT(quick_answers, compared / 2);  // the cases are the hard ones
}

TEST(ValueJudge, WhatIsNotFiniteIsOutsideOfEveryBound) {
  const ErrorBudget budget({AccuracyClass::float32_angle, Dtype::float32},
                           reference::GeometricFrequencies(10000, 2, 4, 2), 2);
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Judgement judgement;
    ValueJudge(budget, ExactZero::positive)
        .judge(
            judgement, value, {{1, 0, 0}, {1, 1}},
            [](Precision precision) -> Target {
              return {{1.0, precision}, {1.0, precision}};
            },
            [] { return "here"; });
    EXPECT_EQ(judgement.within, Certainty::no);
    EXPECT_EQ(judgement.deviation.of_bound, HUGE_VAL);
  }
}

// Certainty that `value` is right where the truth is exactly `truth`.
Certainty judged(AccuracyClass accuracy, ExactZero exact_zero, double value, double truth, const QuickTarget& quick) {
  const ErrorBudget budget({accuracy, Dtype::float32}, reference::GeometricFrequencies(10000, 2, 4, 2), 2);
  Judgement judgement;
  ValueJudge(budget, exact_zero)
      .judge(
          judgement, value, quick,
          [&](Precision precision) -> Target {
            return {{truth, precision}, {0x1p-150, precision}};
          },
          [] { return "here"; });
  return judgement.within;
}

TEST(ValueJudge, ACorrectlyRoundedZeroHasTheSignOfItsTruth) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double truth : {-1e-60, 0.0, 1e-60}) {
    for (const double value : {-0.0, 0.0}) {
      for (const QuickTarget& quick :
           {QuickTarget{{truth, 0, 0}, {0x1p-150, 0x1p-150}}, QuickTarget{{0, 0, 1e-50}, {0, infinity}}}) {
        const bool same = std::signbit(value) == (truth < 0);
        const auto certainty = [](bool right) { return right ? Certainty::yes : Certainty::no; };
        EXPECT_EQ(judged(AccuracyClass::correctly_rounded, ExactZero::positive, value, truth, quick), certainty(same))
            << truth << ' ' << value;
        EXPECT_EQ(judged(AccuracyClass::correctly_rounded, ExactZero::either, value, truth, quick),
                  certainty(same || truth == 0))
            << truth << ' ' << value;
        EXPECT_EQ(judged(AccuracyClass::faithful, ExactZero::positive, value, truth, quick), Certainty::yes);
      }
    }
  }
}

}  // namespace
}  // namespace sextant::model_value_judge_test
