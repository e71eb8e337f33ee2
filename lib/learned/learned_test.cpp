#include "lib/learned/learned.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include "lib/kernels/exact_sum.hpp"
#include "lib/kernels/table_rows_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/learned.hpp"

namespace sextant::learned_test {
namespace {

TEST(LearnedEncoder, LooksRowsUpBitForBit) {
  for (const Dtype dtype : floating_dtypes) {
    const Tensor weight = random_tensor(dtype, {7, 3}, 1);
    const std::vector<std::int64_t> positions{6, 0, 0, 3};
    const Tensor rows = LearnedEncoder({3, 7}).encode(positions, weight);
    for (std::int64_t i = 0; i < rows.elements(); ++i) {
      const auto truth = reference::code({3, 7}, weight, positions[static_cast<std::size_t>(i / 3)], i % 3,
                                         reference::first_precision);
      EXPECT_EQ(rows.at(i), truth.lower());
    }
  }
}

// Positions repeat, and the terms cancel, so that any order of rounded additions would show.
TEST(LearnedEncoder, TheGradientIsTheNearestValueToTheSum) {
  constexpr std::int64_t tokens = 300;
  std::mt19937_64 random(2);
  std::vector<std::int64_t> positions(tokens);
  for (std::int64_t& position : positions) position = static_cast<std::int64_t>(random() % 7);
  const LearnedEncoder encoder({5, 9});
  for (const Dtype dtype : floating_dtypes) {
    Tensor grad = random_tensor(dtype, {tokens, 5}, 3, 1000);
    for (std::int64_t i = 0; i < grad.elements(); i += 2) grad.set(i, grad.at(i) * 0x1p-12);
    for (std::int64_t i = 3; i < grad.elements(); i += 15)
      grad.set(i, grad.at(i) * 0x1p-90);  // channel 3: of float64 two doubles do not hold its sums
    const Tensor gradient = encoder.grad_weight(positions, grad);
    ASSERT_EQ(gradient.shape, (std::vector<std::int64_t>{9, 5}));
    for (std::int64_t row = 0; row < 9; ++row) {
      for (std::int64_t channel = 0; channel < 5; ++channel) {
        const double truth = nearest(dtype, [&](reference::Precision) {
          constexpr reference::Precision exact{2200};
          reference::Enclosure sum(0.0, exact);
          for (std::int64_t token = 0; token < tokens; ++token) {
            if (positions[static_cast<std::size_t>(token)] == row)
              sum = sum + reference::Enclosure(grad.at(token * 5 + channel), exact);
          }
          return sum;
        });
        EXPECT_EQ(gradient.at(row * 5 + channel), truth) << row << ", " << channel << " " << name_of(dtype);
      }
    }
  }
}

// More channels than are summed at a time.
TEST(LearnedEncoder, TheGradientOfWideRowsIsThatOfTheirChannels) {
  constexpr std::int64_t dim = 1037;
  const std::vector<std::int64_t> positions{2, 0, 2, 2};
  for (const Dtype dtype : floating_dtypes) {
    const Tensor grad = random_tensor(dtype, {4, dim}, 5);
    const Tensor gradient = LearnedEncoder({dim, 3}).grad_weight(positions, grad);
    for (std::int64_t channel = 0; channel < dim; ++channel) {
      ExactSum sum;
      for (const std::int64_t token : {0, 2, 3}) sum.add(grad.at(token * dim + channel));
      ASSERT_EQ(gradient.at(2 * dim + channel), sum.rounded(dtype)) << channel;
      ASSERT_EQ(gradient.at(channel), grad.at(dim + channel)) << channel;
      ASSERT_EQ(gradient.at(dim + channel), 0) << channel;
    }
  }
}

TEST(LearnedEncoder, NeitherTheOrderOfTheTokensNorTheThreadsChangeTheGradient) {
  constexpr std::int64_t tokens = 500;
  const LearnedEncoder encoder({4, 64});
  const Tensor grad = random_tensor(Dtype::float32, {tokens, 4}, 4, 1e6);
  std::vector<std::int64_t> positions(tokens);
  for (std::int64_t i = 0; i < tokens; ++i) positions[static_cast<std::size_t>(i)] = i * i % 61;
  expect_same_on_threads([&] { return encoder.grad_weight(positions, grad); });

  Tensor reversed = grad;
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t channel = 0; channel < 4; ++channel)
      reversed.set((tokens - 1 - i) * 4 + channel, grad.at(i * 4 + channel));
  }
  std::vector<std::int64_t> backwards(positions.rbegin(), positions.rend());
  EXPECT_EQ(encoder.grad_weight(backwards, reversed).data, encoder.grad_weight(positions, grad).data);
}

TEST(LearnedEncoder, AnIndexOutsideTheTableIsAnError) {
  const LearnedEncoder encoder({3, 7});
  const Tensor weight = random_tensor(Dtype::float32, {7, 3}, 1);
  for (const std::int64_t position : {std::int64_t{7}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{0, position}, weight), std::out_of_range);
    EXPECT_THROW(encoder.grad_weight(std::vector<std::int64_t>{position}, Tensor::zeros(Dtype::float32, {1, 3})),
                 std::out_of_range);
  }
  EXPECT_THROW(encoder.encode({}, random_tensor(Dtype::float32, {3, 7}, 1)), std::invalid_argument);
  EXPECT_THROW(encoder.encode({}, Tensor::zeros(Dtype::int64, {7, 3})), std::invalid_argument);
  EXPECT_THROW(encoder.grad_weight(std::vector<std::int64_t>{1}, Tensor::zeros(Dtype::float32, {2, 3})),
               std::invalid_argument);
  EXPECT_THROW(LearnedEncoder({3, 0}), SpecError);
}

TEST(LearnedEncoder, WritesItsRowsAndNothingElse) {
  const std::vector<std::int64_t> positions{6, 0, 0, 3};
  for (const Dtype dtype : floating_dtypes) {
    for (const std::int64_t dim : {1, 3, 17}) {
      const LearnedEncoder encoder({dim, 7});
      const Tensor weight = random_tensor(dtype, {7, dim}, 1);
      expect_only_its_rows(encoder.encode(positions, weight),
                           [&](const Rows& out) { encoder.encode(positions, weight, out); });
    }
  }
  std::vector<std::byte> memory(64);
  const Tensor weight = random_tensor(Dtype::float32, {7, 3}, 1);
  expect_refusals({Dtype::float32, memory.data(), 2, 3, 4}, [&](const Rows& out) {
    LearnedEncoder({3, 7}).encode(std::vector<std::int64_t>{1, 2}, weight, out);
  });
  EXPECT_THROW(LearnedEncoder({3, 7}).encode(std::vector<std::int64_t>{1, 2}, weight,
                                             Rows{Dtype::float16, memory.data(), 2, 3, 3}),
               std::invalid_argument);
}

}  // namespace
}  // namespace sextant::learned_test
