#include "lib/relative_bias/relative_bias.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/relative_bias.hpp"

namespace sextant::relative_bias_test {
namespace {

const RelativeBias settings[] = {{32, 128, true},
                                 {32, 128, false},
                                 {4, 3, true},
                                 {2, 2, false},
                                 {2, 100, false},
                                 {5, 17, false},
                                 {64, 4096, true},
                                 {100, 1000, false},
                                 {256, 131072, false},
                                 {512, 512, true, LaterKeys::at_zero, BucketRule::log},
                                 {8, 4, true, LaterKeys::at_zero, BucketRule::log},
                                 {16, 33, true, LaterKeys::at_zero, BucketRule::log},
                                 {56, 114689, true, LaterKeys::at_zero, BucketRule::log},
                                 {2048, 4096, true, LaterKeys::at_zero, BucketRule::log},
                                 {2, 1, true, LaterKeys::at_zero, BucketRule::clipped},
                                 {1024, 512, true, LaterKeys::at_zero, BucketRule::clipped}};

TEST(RelativeBiasEncoder, EveryBucketEqualsTheOracle) {
  for (const RelativeBias& encoding : settings) {
    const RelativeBiasEncoder encoder(encoding);
    const std::int64_t reach = std::min<std::int64_t>(encoding.max_distance + 3, 5000);
    for (std::int64_t relative = -reach; relative <= reach; ++relative) {
      ASSERT_EQ(encoder.bucket(relative), reference::bucket(encoding, relative))
          << encoding.num_buckets << " " << encoding.max_distance << " at " << relative;
    }
    for (const std::int64_t far : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                   encoding.max_distance, -encoding.max_distance}) {
      EXPECT_EQ(encoder.bucket(far), reference::bucket(encoding, far));
    }
  }
}

// The borders are where a floating logarithm goes astray: each of them and its neighbours, for many sizes.
TEST(RelativeBiasEncoder, EveryBorderEqualsTheOracle) {
  const RelativeBias large[] = {{1024, std::int64_t{1} << 53, false},
                                {300, std::int64_t{1} << 40, true},
                                {48, 3 * 3 * 3 * 3 * 3 * 3 * 12, false},
                                {1024, std::int64_t{1} << 53, true, LaterKeys::at_zero, BucketRule::log},
                                {300, (std::int64_t{1} << 40) + 1, true, LaterKeys::at_zero, BucketRule::log}};
  for (const RelativeBias& encoding : large) {
    const RelativeBiasEncoder encoder(encoding);
    const std::int64_t least = encoding.buckets == BucketRule::log ? directed_buckets(encoding) : 0;
    const std::int64_t last = directed_buckets(encoding) - 1;
    for (std::int64_t bucket = least + 1; bucket <= least + last; bucket += 1 + last / 60) {
      // The least distance of the bucket, by bisection over the encoder's own answers.
      std::int64_t below = 0;
      std::int64_t inside = encoding.max_distance;
      while (inside - below > 1) {
        const std::int64_t middle = below + (inside - below) / 2;
        (encoder.bucket(-middle) >= bucket ? inside : below) = middle;
      }
      EXPECT_EQ(encoder.bucket(-inside), reference::bucket(encoding, -inside)) << inside;
      EXPECT_EQ(encoder.bucket(-below), reference::bucket(encoding, -below)) << below;
    }
  }
}

TEST(RelativeBiasEncoder, LooksWeightsUpBitForBit) {
  const std::vector<std::int64_t> queries{0, 5, 200};
  const std::vector<std::int64_t> keys{0, 1, 100, 131071};
  for (const Dtype dtype : floating_dtypes) {
    const Tensor weight = random_tensor(dtype, {32, 3}, 1);
    const Tensor matrices = RelativeBiasEncoder({32, 128, true}).bias(queries, keys, weight);
    ASSERT_EQ(matrices.shape, (std::vector<std::int64_t>{3, 3, 4}));
    std::int64_t i = 0;
    for (std::int64_t head = 0; head < 3; ++head) {
      for (const std::int64_t query : queries) {
        for (const std::int64_t key : keys) {
          EXPECT_EQ(matrices.at(i++),
                    reference::bias({32, 128, true}, weight, query, key, head, reference::first_precision).lower());
        }
      }
    }
  }
}

// Matrices of neighbouring keys are made from one strip of values, others pair by pair: each pair has the same value in
// both.
TEST(RelativeBiasEncoder, NeighbouringKeysHaveTheValuesOfTheirPairs) {
  const RelativeBiasEncoder encoder({32, 128, true});
  const Tensor weight = random_tensor(Dtype::bfloat16, {32, 3}, 5);
  std::vector<std::int64_t> keys(70);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i) - 20;
  for (const std::vector<std::int64_t>& queries :
       {std::vector<std::int64_t>{0}, {69, -30, 5}, {10, 150, 11}, {-1000, 5}}) {
    const Tensor matrices = encoder.bias(queries, keys, weight);
    std::int64_t i = 0;
    for (std::int64_t head = 0; head < 3; ++head) {
      for (const std::int64_t query : queries) {
        for (const std::int64_t key : keys)
          ASSERT_EQ(matrices.at(i++), weight.at(encoder.bucket(key - query) * 3 + head)) << query << " to " << key;
      }
    }
  }
}

// Of every length of a row up to some vectors: from one strip, and pair by pair.
TEST(RelativeBiasEncoder, WritesItsMatricesAndNothingElse) {
  const RelativeBiasEncoder encoder({8, 20, true});
  const std::vector<std::int64_t> queries{4, 30, 5};
  for (const Dtype dtype : floating_dtypes) {
    const Tensor weight = random_tensor(dtype, {8, 3}, 5);
    for (const std::int64_t step : {1, 2}) {
      for (std::size_t count = 1; count <= 40; ++count) {
        std::vector<std::int64_t> keys(count);
        for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::int64_t>(i) * step;
        const Tensor wanted = encoder.bias(queries, keys, weight);
        const std::size_t shift = count % 5;
        for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
          GuardedBytes memory(wanted.data.size() + shift, against);
          const std::size_t before = against == GuardedBytes::Against::start ? shift : 0;
          std::vector<std::byte> expected(memory.size(), std::byte{GuardedBytes::filler});
          std::memcpy(expected.data() + before, wanted.data.data(), wanted.data.size());
          encoder.bias(queries, keys, weight, {memory.data() + before, wanted.data.size()});
          ASSERT_EQ(std::memcmp(memory.data(), expected.data(), expected.size()), 0)
              << name_of(dtype) << ", " << count << " keys";
        }
      }
    }
  }
}

TEST(RelativeBiasEncoder, TheGradientIsTheNearestValueToTheSum) {
  const RelativeBias encoding{8, 20, true};
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < 24; ++i) positions.push_back(i);
  for (const Dtype dtype : floating_dtypes) {
    Tensor grad = random_tensor(dtype, {2, 24, 24}, 2, 100);
    for (std::int64_t i = 0; i < 24; i += 5)
      grad.set(i, grad.at(i) * 0x1p-90);  // distances whose sums, of float64, two doubles do not hold
    const Tensor gradient = RelativeBiasEncoder(encoding).grad_weight(positions, positions, grad);
    ASSERT_EQ(gradient.shape, (std::vector<std::int64_t>{8, 2}));
    for (std::int64_t bucket = 0; bucket < 8; ++bucket) {
      for (std::int64_t head = 0; head < 2; ++head) {
        const double truth = nearest(dtype, [&](reference::Precision) {
          constexpr reference::Precision exact{2200};
          reference::Enclosure sum(0.0, exact);
          for (std::int64_t query = 0; query < 24; ++query) {
            for (std::int64_t key = 0; key < 24; ++key) {
              if (reference::bucket(encoding, key - query) == bucket)
                sum = sum + reference::Enclosure(grad.at((head * 24 + query) * 24 + key), exact);
            }
          }
          return sum;
        });
        EXPECT_EQ(gradient.at(bucket * 2 + head), truth);
      }
    }
    expect_same_on_threads([&] { return RelativeBiasEncoder(encoding).grad_weight(positions, positions, grad); });
  }
}

// Neighbouring keys are summed by distance, others one by one.
TEST(RelativeBiasEncoder, TheOrderOfTheKeysDoesNotChangeTheGradient) {
  const std::vector<std::int64_t> queries{100, 103, 95, 95, 140};
  std::vector<std::int64_t> keys;
  for (std::int64_t i = 0; i < 37; ++i) keys.push_back(80 + i);
  const std::vector<std::int64_t> backwards(keys.rbegin(), keys.rend());
  const RelativeBiasEncoder encoder({32, 128, true});
  for (const Dtype dtype : floating_dtypes) {
    Tensor grad = random_tensor(dtype, {3, 5, 37}, 7);
    grad.set(2, std::numeric_limits<double>::infinity());
    Tensor reversed = grad;
    for (std::int64_t i = 0; i < grad.elements(); ++i) reversed.set(i / 37 * 37 + 36 - i % 37, grad.at(i));
    EXPECT_EQ(encoder.grad_weight(queries, keys, grad).data, encoder.grad_weight(queries, backwards, reversed).data)
        << name_of(dtype);
  }
}

TEST(RelativeBiasEncoder, RefusesWhatDoesNotFit) {
  EXPECT_THROW(RelativeBiasEncoder({3, 128, true}), SpecError);
  EXPECT_THROW(RelativeBiasEncoder({32, 8, true}), SpecError);
  const RelativeBiasEncoder encoder({32, 128, true});
  const std::vector<std::int64_t> one{0};
  EXPECT_THROW(encoder.bias(one, one, Tensor::zeros(Dtype::float32, {31, 2})), std::invalid_argument);
  EXPECT_THROW(encoder.bias(one, one, Tensor::zeros(Dtype::float32, {32})), std::invalid_argument);
  EXPECT_THROW(encoder.bias(one, one, Tensor::zeros(Dtype::int64, {32, 2})), std::invalid_argument);
  EXPECT_THROW(
      encoder.bias(std::vector<std::int64_t>{(std::int64_t{1} << 53) + 1}, one, Tensor::zeros(Dtype::float32, {32, 2})),
      std::out_of_range);
  EXPECT_THROW(encoder.grad_weight(one, one, Tensor::zeros(Dtype::float32, {1, 1, 2})), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::relative_bias_test
