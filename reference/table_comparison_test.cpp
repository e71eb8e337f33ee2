#include "reference/table_comparison.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <omp.h>

#include <cmath>
#include <limits>

#include "lib/numeric/ulp.hpp"
#include "reference/measures.hpp"
#include "reference/rotation_table.hpp"
#include "reference/rounding.hpp"

namespace sextant::reference::table_comparison_test {
namespace {

struct Setting {
  Dtype dtype;
  Layout layout;
  double scale;
  std::int64_t first;
};

Sinusoidal encoding_of(const Setting& setting) {
  Sinusoidal encoding;
  encoding.dim = 34;
  encoding.base = 77777.25;
  encoding.layout = setting.layout;
  encoding.scale = setting.scale;
  encoding.position_offset = 3;
  encoding.first = setting.layout == Layout::interleaved ? First::sin : First::cos;
  return encoding;
}

// The correctly rounded table, of 700 rows: more than a strip.
Tensor right_table(SinusoidalReference& oracle, const Setting& setting) {
  constexpr std::int64_t rows = 700;
  const Sinusoidal& encoding = oracle.encoding();
  Tensor table = Tensor::zeros(setting.dtype, {rows, encoding.dim});
  RotationTable truth(
      oracle.fast(),
      [&](std::int64_t position, std::int64_t pair, Precision precision) -> const Rotation& {
        return oracle.shift(position, pair, precision);
      },
      [&](Precision precision) { return Enclosure(encoding.scale, precision); }, setting.dtype);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto& values = truth.at(setting.first + row + encoding.position_offset);
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const Channels channels = channels_of_pair(encoding, pair);
      table.set(row * encoding.dim + channels.first, values.sin[static_cast<std::size_t>(pair)]);
      table.set(row * encoding.dim + channels.second, values.cos[static_cast<std::size_t>(pair)]);
    }
  }
  return table;
}

class Compare : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override {
    EXPECT_EQ(FastRotations::target(), hwy::TargetName(GetParam())) << "the kernels ran on another target";
    hwy::SetSupportedTargetsForTest(0);
  }
};

INSTANTIATE_TEST_SUITE_P(Target, Compare, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

const Setting settings[] = {{Dtype::float32, Layout::interleaved, 1, 0},
                            {Dtype::float32, Layout::concatenated, -0.3, std::int64_t{1} << 40},
                            {Dtype::float64, Layout::interleaved, 1, 1000},
                            {Dtype::float64, Layout::concatenated, 0.1, -350},
                            {Dtype::float16, Layout::interleaved, 1e-6, 5},  // subnormals
                            {Dtype::bfloat16, Layout::concatenated, 1, (std::int64_t{1} << 53) - 800}};

TEST_P(Compare, FindsNothingInACorrectlyRoundedTable) {
  for (const Setting& setting : settings) {
    SinusoidalReference oracle(encoding_of(setting));
    const TableComparison found = compare(oracle, setting.first, right_table(oracle, setting));
    EXPECT_EQ(found.values, 700 * 34);
    EXPECT_EQ(found.not_nearest, 0) << name_of(setting.dtype);
    EXPECT_EQ(found.not_finite, 0);
    EXPECT_LE(found.largest_ulps, 0.5 * (1 + 0x1p-20)) << name_of(setting.dtype);
    EXPECT_GT(found.largest_ulps, 0.45);
    EXPECT_LT(found.exact_values, 100);
  }
}

TEST_P(Compare, FindsEachPlantedFaultAndItsSize) {
  for (const Setting& setting : settings) {
    SinusoidalReference oracle(encoding_of(setting));
    Tensor table = right_table(oracle, setting);
    // One step away at three places, one at either end of the table; four steps away in the middle.
    const std::int64_t width = oracle.encoding().dim;
    const auto step_up = [&](std::int64_t index, int steps) {
      double value = table.at(index);
      for (int i = 0; i < steps; ++i) value = next_above(setting.dtype, value);
      table.set(index, value);
    };
    for (const std::int64_t index : {std::int64_t{0}, 513 * width + 7, table.elements() - 1}) step_up(index, 1);
    const TablePlace worst{300, 21};
    step_up(worst.row * width + worst.channel, 4);
    const TableComparison found = compare(oracle, setting.first, table);
    EXPECT_EQ(found.not_nearest, 4) << name_of(setting.dtype);
    EXPECT_EQ(found.largest_ulps_at.row, worst.row);
    EXPECT_EQ(found.largest_ulps_at.channel, worst.channel);
    // Its size, by the exact tier.
    for (std::int64_t pair = 0; pair < pairs(oracle.encoding()); ++pair) {
      const Channels channels = channels_of_pair(oracle.encoding(), pair);
      if (channels.first != worst.channel && channels.second != worst.channel) continue;
      const Rotation& rotation = oracle.rotation(setting.first + worst.row, pair, Precision{256});
      const Enclosure truth =
          Enclosure(setting.scale, Precision{256}) * (channels.first == worst.channel ? rotation.sin : rotation.cos);
      const double value = table.at(worst.row * width + worst.channel);
      EXPECT_NEAR(found.largest_ulps, ulp_error(setting.dtype, value, truth).upper(), found.largest_ulps * 0x1p-19);
    }
  }
}

TEST(TableComparison, CountsWhatIsNotFinite) {
  const Setting& setting = settings[0];
  SinusoidalReference oracle(encoding_of(setting));
  Tensor table = right_table(oracle, setting);
  table.set(5, std::numeric_limits<double>::quiet_NaN());
  table.set(40, std::numeric_limits<double>::infinity());
  const TableComparison found = compare(oracle, setting.first, table);
  EXPECT_EQ(found.not_finite, 2);
  EXPECT_EQ(found.not_nearest, 0);
  EXPECT_LT(found.largest_ulps, 0.51);
}

TEST(TableComparison, DoesNotDependOnTheThreads) {
  const Setting& setting = settings[1];
  SinusoidalReference oracle(encoding_of(setting));
  Tensor table = right_table(oracle, setting);
  // Equal errors in both strips: the first is told.
  for (std::int64_t i = 0; i < table.elements(); ++i) table.set(i, 0);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const TableComparison one = compare(oracle, setting.first, table);
  omp_set_num_threads(3);
  const TableComparison three = compare(oracle, setting.first, table);
  omp_set_num_threads(threads);
  EXPECT_EQ(one.not_nearest, three.not_nearest);
  EXPECT_EQ(one.largest_ulps, three.largest_ulps);
  EXPECT_EQ(one.largest_ulps_at.row, three.largest_ulps_at.row);
  EXPECT_EQ(one.largest_absolute_at.channel, three.largest_absolute_at.channel);
}

TEST(TableComparison, RefusesATableOfAnotherShape) {
  SinusoidalReference oracle(encoding_of(settings[0]));
  EXPECT_THROW(compare(oracle, 0, Tensor::zeros(Dtype::float32, {4, 32})), std::invalid_argument);
  EXPECT_THROW(compare(oracle, 0, Tensor::zeros(Dtype::float32, {34})), std::invalid_argument);
  EXPECT_THROW(compare(oracle, 0, Tensor::zeros(Dtype::int64, {1, 34})), std::invalid_argument);
  EXPECT_EQ(compare(oracle, 0, Tensor::zeros(Dtype::float32, {0, 34})).values, 0);
}

}  // namespace
}  // namespace sextant::reference::table_comparison_test
