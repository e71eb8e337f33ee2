#include "properties/model/attention_budget.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace sextant::model_attention_budget_test {
namespace {

AttentionArithmetic arithmetic(const std::string& dtype, const std::string& evaluation) {
  return AttentionArithmetic(parse_spec(R"({"encoding":"attention","num_heads":1,"head_dim":16,"dtype":")" + dtype +
                                        R"(","evaluation":")" + evaluation + R"("})"));
}

TEST(AttentionBudget, RoundoffsAreThoseOfTheEvaluation) {
  EXPECT_EQ(arithmetic("float64", "float32").u, 0x1p-53);
  EXPECT_EQ(arithmetic("bfloat16", "float32").u, 0x1p-24);
  EXPECT_EQ(arithmetic("bfloat16", "dtype").u, 0x1p-8);
  EXPECT_EQ(arithmetic("bfloat16", "dtype").a, 0x1p-24);
  EXPECT_EQ(arithmetic("float16", "dtype-accumulate").a, 0x1p-11);
  EXPECT_EQ(arithmetic("bfloat16", "table").u, 0x1p-24);
  EXPECT_EQ(arithmetic("bfloat16", "table").table, 0x1p-8);
  EXPECT_EQ(arithmetic("bfloat16", "float32").table, 0);
}

TEST(AttentionBudget, OneKeyThatDominatesHasAllTheWeight) {
  const AttentionArithmetic bfloat16 = arithmetic("bfloat16", "dtype");
  const std::vector<KeyScore> far{{500, 20, 500}, {3, 1, 3}, {-4, 1, 4}};
  EXPECT_EQ(moved_weight(weight_error(bfloat16, far)), 0);
  // Two that may be alike share it.
  const std::vector<KeyScore> tie{{500, 0.5, 500}, {500, 0.5, 500}, {-4, 1, 4}};
  const double moved = moved_weight(weight_error(bfloat16, tie));
  EXPECT_NEAR(moved, std::tanh((0.5 + 500 * 0x1p-8 + 2 * 0x1p-8) / 2), 1e-12);
}

// As much as a weight can move: scores off by A, some up and some down.
TEST(AttentionBudget, NoWeightMovesFurther) {
  for (const double a : {1e-3, 0.1, 1.0, 5.0}) {
    double most = 0;
    for (double weight = 1e-4; weight < 1; weight += 1e-4) {
      const double after = weight * std::exp(a) / (weight * std::exp(a) + (1 - weight) * std::exp(-a));
      most = std::max(most, after - weight);
    }
    const double moved = moved_weight(weight_error(0, 0, std::vector<KeyScore>{{0, a, 0}, {0, a, 0}}));
    EXPECT_LE(most, moved * (1 + 1e-12));
    EXPECT_GE(most, moved * (1 - 1e-4));
  }
}

TEST(AttentionBudget, AResultOf16BitsIsRoundedOnce) {
  const AttentionArithmetic bfloat16 = arithmetic("bfloat16", "float32");
  const double of_row = sum_bound(bfloat16, 0, {1, 1});
  EXPECT_LT(of_row, 0x1p-20);
  EXPECT_NEAR(value_bound(bfloat16, of_row, 1), of_row + 0x1p-8, 1e-10);
  EXPECT_EQ(value_bound(arithmetic("float32", "float32"), of_row, 1), of_row);
}

}  // namespace
}  // namespace sextant::model_attention_budget_test
