#include "lib/attention/softmax_rows.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "lib/kernels/truth_test.hpp"
#include "lib/numeric/ulp.hpp"

namespace sextant::attention_softmax_rows_test {
namespace {

// Each test runs on every target that this machine has, named in its id.
class SoftmaxRowsOn : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override {
    EXPECT_EQ(softmax_target(), hwy::TargetName(GetParam())) << "the kernels ran on another target";
    hwy::SetSupportedTargetsForTest(0);
  }
};

INSTANTIATE_TEST_SUITE_P(Target, SoftmaxRowsOn, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

// The exponential of each of the arguments, all at most 0, of which one is 0.
template <class Scalar>
std::vector<Scalar> exponentials(std::vector<Scalar> arguments) {
  SoftmaxState<Scalar> state{0, 0};
  take_scores<Scalar>(arguments.data(), nullptr, arguments.size(), state);
  return arguments;
}

template <class Scalar>
void expect_exponentials(Dtype dtype, double lowest) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(lowest, 0);
  std::vector<Scalar> arguments{0, Scalar(-0.0), Scalar(-1e-30), Scalar(lowest)};
  // Near the borders k ln 2 / 2 of the argument's reduction too.
  for (int k = 0; k < static_cast<int>(-2.885 * lowest); ++k)
    arguments.push_back(static_cast<Scalar>(-0.34657359027997264 * k));
  while (arguments.size() < 3001) arguments.push_back(static_cast<Scalar>(uniform(random)));
  const std::vector<Scalar> values = exponentials(arguments);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto truth = exp(reference::Enclosure(static_cast<double>(arguments[i]), reference::Precision{128}));
    const auto error = abs(reference::Enclosure(static_cast<double>(values[i]), reference::Precision{128}) - truth) /
                       reference::ulp(dtype, truth);
    ASSERT_LE(error.upper(), exponential_ulp) << arguments[i];
  }
}

TEST_P(SoftmaxRowsOn, TheExponentialIsAsNearAsStated) {
  expect_exponentials<float>(Dtype::float32, -87.3365);
  expect_exponentials<double>(Dtype::float64, -700.0);
}

// Two million of float32's arguments, each 509th: the exponential's error is the greatest of few. The truth is that of
// long double, at least of 53 bits: within 2^-28 ULP of float32's of the real one (2 ULP of its own).
TEST_P(SoftmaxRowsOn, TheExponentialOfEverySizeIsAsNearAsStated) {
  static_assert(std::numeric_limits<long double>::digits >= 53);
  constexpr std::size_t at_once = 4096;
  const auto of_bits = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const auto last = std::bit_cast<std::uint32_t>(-87.3365F);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(-0x1p-30F);
  while (bits < last) {
    std::vector<float> arguments{0};
    for (; arguments.size() < at_once && bits < last; bits += 509) arguments.push_back(of_bits(bits));
    const std::vector<float> values = exponentials(arguments);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const long double truth = std::exp(static_cast<long double>(arguments[i]));
      const auto unit = static_cast<long double>(ulp(Dtype::float32, static_cast<double>(truth)));
      ASSERT_LE(std::fabs(static_cast<long double>(values[i]) - truth), (exponential_ulp + 0x1p-26) * unit)
          << arguments[i];
    }
  }
}

template <class Scalar>
void expect_capped(Dtype dtype) {
  const Scalar cap = 30;
  std::mt19937_64 random(10);
  std::uniform_real_distribution<double> exponent(-20, 12);
  std::vector<Scalar> scores{0, Scalar(-0.0)};
  while (scores.size() < 3001) {
    const double size = std::exp2(exponent(random));
    scores.push_back(static_cast<Scalar>(scores.size() % 2 == 0 ? size : -size));
  }
  std::vector<Scalar> capped = scores;
  cap_scores(capped.data(), capped.size(), cap);
  for (std::size_t i = 0; i < capped.size(); ++i) {
    // The quotient that tanh is given is rounded, and so is the product: 1 ULP each.
    const reference::Enclosure limit(static_cast<double>(cap), reference::Precision{128});
    const auto truth =
        limit * tanh(reference::Enclosure(static_cast<double>(scores[i]), reference::Precision{128}) / limit);
    const auto error = abs(reference::Enclosure(static_cast<double>(capped[i]), reference::Precision{128}) - truth) /
                       reference::ulp(dtype, truth);
    ASSERT_LE(error.upper(), hyperbolic_tangent_ulp + 2) << scores[i];
  }
}

TEST_P(SoftmaxRowsOn, TheHyperbolicTangentIsAsNearAsStated) {
  expect_capped<float>(Dtype::float32);
  expect_capped<double>(Dtype::float64);
}

TEST_P(SoftmaxRowsOn, CappedScoresKeepNaNAndInfinity) {
  std::vector<float> scores(19, std::numeric_limits<float>::quiet_NaN());
  scores[3] = std::numeric_limits<float>::infinity();
  scores[18] = -std::numeric_limits<float>::infinity();
  cap_scores(scores.data(), scores.size(), 2.0F);
  EXPECT_TRUE(std::isnan(scores[0]) && std::isnan(scores[17]));
  EXPECT_EQ(scores[3], 2);
  EXPECT_EQ(scores[18], -2);
}

TEST_P(SoftmaxRowsOn, FarBelowTheGreatestScoreNothingIsLeft) {
  for (const float score :
       {-104.5F, -1e10F, std::numeric_limits<float>::lowest(), -std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(exponentials<float>(std::vector<float>(9, score)), std::vector<float>(9, 0.0F));
  }
  // Between the least normal number and that: 0 or subnormal.
  std::vector<float> scores{0};
  for (float score = -87.33655F; score > -105; score -= 0.003F) scores.push_back(score);
  const std::vector<float> weights = exponentials(scores);
  for (std::size_t i = 1; i < scores.size(); ++i) {
    ASSERT_TRUE(weights[i] >= 0 && weights[i] <= 0x1p-126F) << scores[i] << ' ' << weights[i];
  }
}

TEST_P(SoftmaxRowsOn, BlocksOfScoresGiveTheStateOfAll) {
  for (std::size_t count = 1; count < 40; ++count) {
    std::vector<double> scores;
    std::vector<double> bias;
    for (std::size_t i = 0; i < count; ++i) {
      scores.push_back(std::sin(static_cast<double>(7 * i)) * 5);
      bias.push_back(std::cos(static_cast<double>(3 * i)));
    }
    double greatest = scores[0] + bias[0];
    for (std::size_t i = 0; i < count; ++i) greatest = std::max(greatest, scores[i] + bias[i]);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += std::exp(scores[i] + bias[i] - greatest);
    const std::size_t half = count / 2;
    SoftmaxState<double> state{std::numeric_limits<double>::lowest(), 0};
    if (half > 0) take_scores(scores.data(), bias.data(), half, state);
    const double earlier = state.greatest;
    const double factor = take_scores(scores.data() + half, bias.data() + half, count - half, state);
    EXPECT_EQ(state.greatest, greatest);
    // Each of the sum's terms errs by less than 10 u of itself, each addition by u.
    EXPECT_NEAR(state.sum, sum, static_cast<double>(count + 10) * 2 * 0x1p-53 * sum);
    if (half > 0) {
      // 1 ULP of each exponential.
      EXPECT_NEAR(factor, std::exp(earlier - greatest), 4 * 0x1p-53);
    }
  }
}

TEST_P(SoftmaxRowsOn, NaNStaysForGood) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {nan, std::numeric_limits<float>::infinity()}) {
    for (std::size_t place = 0; place < 19; ++place) {
      std::vector<float> scores(19, 1.0F);
      scores[place] = bad;
      SoftmaxState<float> state{std::numeric_limits<float>::lowest(), 0};
      take_scores<float>(scores.data(), nullptr, scores.size(), state);
      EXPECT_TRUE(std::isnan(state.sum)) << place;
      std::vector<float> more(19, 2.0F);
      take_scores<float>(more.data(), nullptr, more.size(), state);
      EXPECT_TRUE(std::isnan(state.sum)) << place;
    }
  }
}

}  // namespace
}  // namespace sextant::attention_softmax_rows_test
