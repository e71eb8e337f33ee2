#include "reference/relative_bias.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <limits>
#include <stdexcept>
#include <vector>

#include "reference/decimal.hpp"

namespace sextant::reference::relative_bias_test {
namespace {

using boost::multiprecision::cpp_int;

RelativeBias with(std::int64_t num_buckets, std::int64_t max_distance, bool bidirectional) {
  RelativeBias encoding;
  encoding.num_buckets = num_buckets;
  encoding.max_distance = max_distance;
  encoding.bidirectional = bidirectional;
  return encoding;
}

// The formula by integers alone, from the borders: step k begins at the least n with (n/e)^L >= (d/e)^k.
std::vector<std::int64_t> buckets_by_borders(std::int64_t buckets, std::int64_t max_distance, std::int64_t last) {
  const std::int64_t e = buckets / 2;
  const std::int64_t steps = buckets - e;
  std::vector<std::int64_t> result;
  std::int64_t step = 0;
  for (std::int64_t n = 0; n <= last; ++n) {
    if (n < e) {
      result.push_back(n);
      continue;
    }
    const auto begun = [&](std::int64_t k) {
      cpp_int left = 1;
      cpp_int right = 1;
      for (std::int64_t i = 0; i < steps; ++i) left *= n;
      for (std::int64_t i = 0; i < k; ++i) left *= e;
      for (std::int64_t i = 0; i < k; ++i) right *= max_distance;
      for (std::int64_t i = 0; i < steps; ++i) right *= e;
      return left >= right;
    };
    while (e + step < buckets - 1 && begun(step + 1)) ++step;
    result.push_back(e + step);
  }
  return result;
}

TEST(RelativeBiasReference, EveryDistanceAgreesWithIntegerArithmetic) {
  struct Setting {
    std::int64_t num_buckets;
    std::int64_t max_distance;
  };
  for (const Setting& setting :
       {Setting{32, 128}, {32, 256}, {64, 128}, {8, 1000}, {4, 2}, {4, 16}, {320, 800}, {32, 17}, {10, 81}}) {
    for (const bool bidirectional : {true, false}) {
      const RelativeBias encoding = with(setting.num_buckets, setting.max_distance, bidirectional);
      if (directed_buckets(encoding) / 2 >= setting.max_distance) continue;
      const std::int64_t directed = directed_buckets(encoding);
      const std::int64_t last = 2 * setting.max_distance;
      const std::vector<std::int64_t> expected = buckets_by_borders(directed, setting.max_distance, last);
      for (std::int64_t relative = -last; relative <= last; ++relative) {
        const std::int64_t distance = bidirectional ? std::abs(relative) : std::max<std::int64_t>(-relative, 0);
        const std::int64_t start = bidirectional && relative > 0 ? directed : 0;
        ASSERT_EQ(bucket(encoding, relative), start + expected[static_cast<std::size_t>(distance)])
            << setting.num_buckets << " " << setting.max_distance << " " << bidirectional << " " << relative;
      }
    }
  }
}

// Hugging Face's T5Attention._relative_position_bucket (transformers 5, float32), which agrees here.
TEST(RelativeBiasReference, WellKnownValuesOfT5) {
  struct Row {
    std::int64_t relative;
    std::int64_t both;
    std::int64_t causal;
  };
  const Row rows[] = {{-200, 15, 31}, {-128, 15, 31}, {-127, 15, 31}, {-91, 15, 29}, {-64, 14, 26}, {-32, 12, 21},
                      {-16, 10, 16},  {-15, 9, 15},   {-8, 8, 8},     {-7, 7, 7},    {-1, 1, 1},    {0, 0, 0},
                      {1, 17, 0},     {7, 23, 0},     {8, 24, 0},     {11, 24, 0},   {12, 25, 0},   {16, 26, 0},
                      {23, 27, 0},    {32, 28, 0},    {46, 29, 0},    {64, 30, 0},   {90, 30, 0},   {91, 31, 0},
                      {127, 31, 0},   {128, 31, 0},   {1000, 31, 0}};
  for (const Row& row : rows) {
    EXPECT_EQ(bucket(with(32, 128, true), row.relative), row.both) << row.relative;
    EXPECT_EQ(bucket(with(32, 128, false), row.relative), row.causal) << row.relative;
  }
}

TEST(RelativeBiasReference, TheFarthestDistancesAndFinestBuckets) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bucket(with(32, 128, true), least), 15);
  EXPECT_EQ(bucket(with(32, 128, true), greatest), 31);
  EXPECT_EQ(bucket(with(32, 128, false), least), 31);
  EXPECT_EQ(bucket(with(32, 128, false), greatest), 0);
  // A tie with large powers: e = 2^14, d = 2^34, so that n = 2^24 stands just at half of the 2^14 steps.
  const RelativeBias fine = with(1 << 15, std::int64_t{1} << 34, false);
  EXPECT_EQ(bucket(fine, -(std::int64_t{1} << 24)), (1 << 14) + (1 << 13));
  EXPECT_EQ(bucket(fine, -(std::int64_t{1} << 24) + 1), (1 << 14) + (1 << 13) - 1);
}

// Where the real number is an integer, and one distance before: powers of fractions (d/e = (9/8)^2 and (3/2)^4), and
// the largest spec, whose steps are 2^15.
TEST(RelativeBiasReference, ADistanceOnABorderBelongsToTheBucketThatBegins) {
  struct Border {
    std::int64_t num_buckets;
    std::int64_t max_distance;
    std::int64_t distance;
    std::int64_t step;
  };
  for (const Border& border : {Border{128, 81, 72, 32},
                               {64, 162, 48, 8},
                               {64, 162, 72, 16},
                               {64, 162, 108, 24},
                               {1 << 16, std::int64_t{1} << 53, std::int64_t{1} << 34, 1 << 14}}) {
    const RelativeBias encoding = with(border.num_buckets, border.max_distance, false);
    const std::int64_t begins = border.num_buckets / 2 + border.step;
    EXPECT_EQ(bucket(encoding, -border.distance), begins) << border.max_distance << " " << border.distance;
    EXPECT_LT(bucket(encoding, 1 - border.distance), begins) << border.max_distance << " " << border.distance;
  }
  const RelativeBias largest = with(1 << 16, std::int64_t{1} << 53, false);
  EXPECT_EQ(bucket(largest, 1 - largest.max_distance), (1 << 16) - 1);
  EXPECT_EQ(bucket(largest, -(1 << 15)), 1 << 15);
  // The least spec, and the one with the least distance between the exact ones and the last.
  EXPECT_EQ(bucket(with(2, 2, false), -1), 1);
  EXPECT_EQ(bucket(with(1 << 16, (1 << 15) + 1, false), -(1 << 15)), 1 << 15);
}

RelativeBias of_log(std::int64_t num_buckets, std::int64_t max_distance) {
  RelativeBias encoding = with(num_buckets, max_distance, true);
  encoding.buckets = BucketRule::log;
  return encoding;
}

// make_log_bucket_position by integers alone: the least k with n^s m^k <= d^k m^s.
TEST(RelativeBiasReference, LogarithmicRowsAgreeWithIntegerArithmetic) {
  for (const auto& [buckets, furthest] :
       {std::pair(512, 512), {32, 128}, {8, 4}, {8, 100}, {64, 17 + 2}, {16, 33}, {56, 3000}}) {
    const RelativeBias encoding = of_log(buckets, furthest);
    const std::int64_t span = buckets / 2;
    const std::int64_t m = span / 2;
    const std::int64_t s = m - 1;
    for (std::int64_t n = 0; n <= 2 * furthest; ++n) {
      std::int64_t e = n;
      if (n > m) {
        const auto reaches = [&](std::int64_t k) {
          const auto power = [](std::int64_t base, std::int64_t exponent) -> cpp_int {
            return pow(cpp_int(base), static_cast<unsigned>(exponent));
          };
          return power(n, s) * power(m, k) <= power(furthest - 1, k) * power(m, s);
        };
        std::int64_t k = 0;
        while (k < m && !reaches(k)) ++k;
        e = m + k;
      }
      ASSERT_EQ(bucket(encoding, -n), std::min(span + e, 2 * span - 1)) << buckets << " " << furthest << " " << n;
      ASSERT_EQ(bucket(encoding, n), n == 0 ? span : span - e) << buckets << " " << furthest << " " << n;
    }
  }
}

// transformers 5.24, make_log_bucket_position(d, 256, 512) + 256, clamped, d = query - key, in float32.
TEST(RelativeBiasReference, WellKnownValuesOfDeberta) {
  const RelativeBias encoding = of_log(512, 512);
  for (const auto& [relative, row] : {std::pair(0, 256),
                                      {-1, 257},
                                      {1, 255},
                                      {-128, 384},
                                      {128, 128},
                                      {-129, 385},
                                      {129, 127},
                                      {-200, 425},
                                      {-511, 511},
                                      {511, 1},
                                      {-512, 511},
                                      {512, 0},
                                      {100000, 0},
                                      {-100000, 511}})
    EXPECT_EQ(bucket(encoding, relative), row) << relative;
  EXPECT_EQ(bucket(encoding, std::numeric_limits<std::int64_t>::min()), 511);
  EXPECT_EQ(bucket(encoding, std::numeric_limits<std::int64_t>::max()), 0);
}

// 112/14 = (114688/14)^(3/13): a whole number of steps, which is not rounded up, and one distance beyond.
TEST(RelativeBiasReference, ALogarithmThatIsWholeIsNotRoundedUp) {
  const RelativeBias encoding = of_log(56, 114689);
  EXPECT_EQ(bucket(encoding, -112), 28 + 17);
  EXPECT_EQ(bucket(encoding, -113), 28 + 18);
  EXPECT_EQ(bucket(encoding, 114688), 1);
  EXPECT_EQ(bucket(encoding, 114689), 0);
}

TEST(RelativeBiasReference, ClippedDistancesHaveARowEachUpToTheLast) {
  RelativeBias encoding = with(8, 4, true);
  encoding.buckets = BucketRule::clipped;
  for (const auto& [relative, row] : {std::pair(0, 4), {-1, 5}, {-3, 7}, {-4, 7}, {-9, 7}, {1, 3}, {4, 0}, {9, 0}})
    EXPECT_EQ(bucket(encoding, relative), row) << relative;
}

constexpr BucketArithmetic in_float32{0x1p-24, 1};
constexpr BucketArithmetic in_float64{0x1p-53, 1};

TEST(RelativeBiasReference, AnotherBucketIsOpenWhereFloat32CannotTell) {
  // 54 / 24 = (81 / 24)^(16 / 24): a border that is met, of which only the formula's own answer is open.
  EXPECT_EQ(bucket_beside(with(48, 81, false), -54, in_float32), 24 + 15);
  EXPECT_EQ(bucket_beside(with(48, 81, false), -54, {0, 1}), std::nullopt);
  for (const std::int64_t relative : {-55, -53, -25, -24, -81, -82, 54})
    EXPECT_EQ(bucket_beside(with(48, 81, false), relative, in_float32), std::nullopt) << relative;
  const auto log_rows = [](std::int64_t rows, std::int64_t max_distance) {
    return RelativeBias{2 * rows, max_distance, true, LaterKeys::at_zero, BucketRule::log};
  };
  EXPECT_EQ(bucket(log_rows(28, 114689), -112), 28 + 17);
  EXPECT_EQ(bucket_beside(log_rows(28, 114689), -112, in_float32), 28 + 18);
  EXPECT_EQ(bucket_beside(log_rows(28, 114689), 112, in_float32), 28 - 18);
  // 32 / 16 = (128 / 16)^(5 / 15), which float64 has as a little more than 5 steps and float32 as 5.
  EXPECT_EQ(bucket(log_rows(32, 129), -32), 32 + 16 + 5);
  EXPECT_EQ(bucket_beside(log_rows(32, 129), -32, in_float32), 32 + 16 + 6);
  // A border that is nearly met, from either side.
  EXPECT_EQ(bucket(log_rows(512, 4096), -1643), 512 + 428);
  EXPECT_EQ(bucket_beside(log_rows(512, 4096), -1643, in_float32), 512 + 427);
  EXPECT_EQ(bucket_beside(log_rows(512, 4096), -1643, in_float64), std::nullopt);
  // Beyond the last step too.
  EXPECT_EQ(bucket(log_rows(56, 10000001), 10000001), 0);
  EXPECT_EQ(bucket_beside(log_rows(56, 10000001), 10000001, in_float32), 1);
  EXPECT_EQ(bucket_beside(log_rows(56, 10000001), -10000001, in_float32), std::nullopt);
  for (const std::int64_t relative :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(bucket_beside(log_rows(256, 512), relative, in_float32), std::nullopt);
}

// So that no defect hides behind one.
TEST(RelativeBiasReference, NoOtherBucketIsOpenOfModelsInUse) {
  const RelativeBias settings[] = {with(32, 128, true),
                                   with(32, 128, false),
                                   with(32, 256, true),
                                   with(32, 256, false),
                                   {512, 512, true, LaterKeys::at_zero, BucketRule::log},
                                   {1024, 512, true, LaterKeys::at_zero, BucketRule::clipped}};
  for (const RelativeBias& encoding : settings) {
    for (std::int64_t relative = -2100; relative <= 2100; ++relative)
      ASSERT_EQ(bucket_beside(encoding, relative, in_float32), std::nullopt) << encoding.num_buckets << " " << relative;
  }
}

TEST(RelativeBiasReference, TheBiasIsTheBucketsWeight) {
  const RelativeBias encoding = with(32, 128, true);
  Tensor weight = Tensor::zeros(Dtype::float32, {32, 3});
  for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, 0.1 * static_cast<double>(i));
  EXPECT_TRUE(is_exactly(bias(encoding, weight, 100, 112, 2, Precision{128}), weight.at(25 * 3 + 2)));
  EXPECT_TRUE(is_exactly(bias(encoding, weight, 112, 100, 0, Precision{128}), weight.at(9 * 3)));
  EXPECT_THROW(bias(encoding, weight, 0, 0, 3, Precision{128}), std::out_of_range);
  EXPECT_THROW(bias(encoding, Tensor::zeros(Dtype::float32, {16, 3}), 0, 0, 0, Precision{128}), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::reference::relative_bias_test
