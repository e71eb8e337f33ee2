#include "properties/model/head_norm_budget.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <variant>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/gen/values.hpp"

namespace sextant::model_head_norm_budget_test {
namespace {

HeadNormBudget budget_of(const char* json) {
  const Spec spec = parse_spec(json);
  return {arithmetic_of(spec), std::get<QkNormRope>(spec.encoding)};
}

TEST(HeadNormBudget, IsWhatItsStepsSay) {
  // 132 u/(1 - 132 u)/2 and its square, and 7.5 u: step 24.
  EXPECT_NEAR(budget_of(R"({"encoding":"qk_norm_rope","head_dim":128})").relative, 73.5 * 0x1p-24, 0.01 * 0x1p-24);
  EXPECT_NEAR(budget_of(R"({"encoding":"qk_norm_rope","head_dim":128,"dtype":"float64"})").relative, 73.5 * 0x1p-53,
              0.01 * 0x1p-53);
  EXPECT_NEAR(budget_of(R"({"encoding":"qk_norm_rope","head_dim":128,"dtype":"bfloat16"})").relative, 73.5 * 0x1p-24,
              0.01 * 0x1p-24);
  // Two roundings of 2^-8: step 25.
  EXPECT_NEAR(
      budget_of(R"({"encoding":"qk_norm_rope","head_dim":128,"dtype":"bfloat16","evaluation":"dtype"})").relative,
      0x1p-7 + 0x1p-16 + 73.5 * 0x1p-24, 0x1p-24);
  const HeadNormBudget strict = budget_of(R"({"encoding":"qk_norm_rope","head_dim":128,"accuracy":"faithful"})");
  EXPECT_EQ(strict.relative, 0);
  EXPECT_EQ(strict.least(17), 0);
}

// In the worst order, one term after the other from the largest on, float32's norm stays within the bound and comes
// near enough to it that the bound is no trivial one.
TEST(HeadNormBudget, HoldsOfSumsTermByTerm) {
  for (const std::int64_t head_dim : {2, 64, 128, 512}) {
    QkNormRope encoding;
    encoding.rope.head_dim = encoding.rope.rotary_dim = head_dim;
    const HeadNormBudget budget({.accuracy = AccuracyClass::float32_angle,
                                 .dtype = Dtype::float32,
                                 .evaluation = Evaluation::float32,
                                 .libm = 1,
                                 .table = TableUse::turns},
                                encoding);
    double worst = 0;
    for (std::int64_t fill = 0; fill < 300; ++fill) {
      const Tensor x = gen::values(Dtype::float32, {head_dim + 1}, fill);
      float sum = 0;
      long double exact = 0;
      for (std::int64_t i = 0; i < head_dim; ++i) {
        const auto value = static_cast<float>(x.at(i));
        sum += value * value;
        exact += static_cast<long double>(value) * static_cast<long double>(value);
      }
      const auto count = static_cast<float>(head_dim);
      const float root = 1 / std::sqrt(sum / count + 1e-6F);
      const auto gain = static_cast<float>(x.at(head_dim));
      const long double truth = 1 / std::sqrt(exact / static_cast<long double>(head_dim) + 1e-6L);
      for (std::int64_t i = 0; i < head_dim; ++i) {
        const float got = static_cast<float>(x.at(i)) * root * gain;
        const long double expected = static_cast<long double>(x.at(i)) * truth * static_cast<long double>(gain);
        worst = std::max(worst, static_cast<double>(std::fabs((got - expected) / expected)));
      }
    }
    EXPECT_LE(worst, budget.relative) << head_dim;
    EXPECT_GE(worst, budget.relative / 40) << head_dim;
  }
}

TEST(HeadNormBudget, TheLargestChannelHasASumOfSquaresThatFits) {
  for (const std::int64_t head_dim : {std::int64_t{2}, std::int64_t{128}, std::int64_t{1} << 20}) {
    const double most = largest_normalized(Dtype::float32, head_dim);
    EXPECT_TRUE(std::isfinite(static_cast<float>(most * most * static_cast<double>(head_dim))));
    EXPECT_TRUE(
        std::isfinite(std::pow(largest_normalized(Dtype::float64, head_dim), 2) * static_cast<double>(head_dim)));
    EXPECT_LE(largest_normalized(Dtype::float16, head_dim), 65504.0 / 2);
  }
}

}  // namespace
}  // namespace sextant::model_head_norm_budget_test
