#include "lib/window_bias/window_bias.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/window_bias.hpp"

namespace sextant::window_bias_test {
namespace {

const WindowBias settings[] = {{{7, 7}, ClassToken::none},    {{5, 7}, ClassToken::none},
                               {{7, 5}, ClassToken::first},   {{14, 14}, ClassToken::first},
                               {{8, 3, 4}, ClassToken::none}, {{2, 3, 5}, ClassToken::first},
                               {{16}, ClassToken::none},      {{1, 1}, ClassToken::none},
                               {{1}, ClassToken::first},      {{1, 9}, ClassToken::first}};

std::vector<std::int64_t> tokens_of(const WindowBias& encoding) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(position_count(encoding)));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

TEST(WindowBiasEncoder, EveryPairOfTokensHasTheOraclesRow) {
  for (const WindowBias& encoding : settings) {
    const WindowBiasEncoder encoder(encoding);
    for (const std::int64_t query : tokens_of(encoding)) {
      for (const std::int64_t key : tokens_of(encoding))
        ASSERT_EQ(encoder.index(query, key), reference::window_row(encoding, query, key)) << query << " and " << key;
    }
  }
}

TEST(WindowBiasEncoder, LooksWeightsUpBitForBit) {
  for (const WindowBias& encoding : settings) {
    const WindowBiasEncoder encoder(encoding);
    const std::vector<std::int64_t> keys = tokens_of(encoding);
    const std::vector<std::int64_t> queries{keys.back(), 0, keys.back() / 2};
    for (const Dtype dtype : floating_dtypes) {
      const Tensor weight = random_tensor(dtype, {weight_rows(encoding), 3}, 1);
      const Tensor matrices = encoder.bias(queries, keys, weight);
      ASSERT_EQ(matrices.shape, (std::vector<std::int64_t>{3, 3, std::ssize(keys)}));
      std::int64_t i = 0;
      for (std::int64_t head = 0; head < 3; ++head) {
        for (const std::int64_t query : queries) {
          for (const std::int64_t key : keys) {
            ASSERT_EQ(matrices.at(i++),
                      reference::bias(encoding, weight, query, key, head, reference::first_precision).lower());
          }
        }
      }
    }
  }
}

TEST(WindowBiasEncoder, TheGradientIsTheNearestValueToTheSum) {
  const WindowBias encoding{{3, 4}, ClassToken::first};
  const std::vector<std::int64_t> tokens = tokens_of(encoding);
  const std::int64_t n = std::ssize(tokens);
  for (const Dtype dtype : floating_dtypes) {
    Tensor grad = random_tensor(dtype, {2, n, n}, 2, 100);
    for (std::int64_t i = 0; i < 60; i += 5) grad.set(i, grad.at(i) * 0x1p-90);
    const Tensor gradient = WindowBiasEncoder(encoding).grad_weight(tokens, tokens, grad);
    ASSERT_EQ(gradient.shape, (std::vector<std::int64_t>{38, 2}));
    for (std::int64_t row = 0; row < 38; ++row) {
      for (std::int64_t head = 0; head < 2; ++head) {
        const double truth = nearest(dtype, [&](reference::Precision) {
          constexpr reference::Precision exact{2200};
          reference::Enclosure sum(0.0, exact);
          for (std::int64_t query = 0; query < n; ++query) {
            for (std::int64_t key = 0; key < n; ++key) {
              if (reference::window_row(encoding, query, key) == row)
                sum = sum + reference::Enclosure(grad.at((head * n + query) * n + key), exact);
            }
          }
          return sum;
        });
        EXPECT_EQ(gradient.at(row * 2 + head), truth);
      }
    }
    expect_same_on_threads([&] { return WindowBiasEncoder(encoding).grad_weight(tokens, tokens, grad); });
  }
}

TEST(WindowBiasEncoder, WritesItsMatricesAndNothingElse) {
  const WindowBias encoding{{3, 5}, ClassToken::none};
  const WindowBiasEncoder encoder(encoding);
  const std::vector<std::int64_t> tokens = tokens_of(encoding);
  for (const Dtype dtype : floating_dtypes) {
    const Tensor weight = random_tensor(dtype, {weight_rows(encoding), 3}, 4);
    const Tensor wanted = encoder.bias(tokens, tokens, weight);
    for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
      GuardedBytes memory(wanted.data.size() + 3, against);
      std::byte* start = memory.data() + (against == GuardedBytes::Against::start ? 3 : 0);
      encoder.bias(tokens, tokens, weight, {start, wanted.data.size()});
      ASSERT_EQ(std::memcmp(start, wanted.data.data(), wanted.data.size()), 0);
      const std::byte* rest = against == GuardedBytes::Against::start ? memory.data() : start + wanted.data.size();
      for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(rest[i], std::byte{GuardedBytes::filler});
    }
  }
}

TEST(WindowBiasEncoder, RefusesWhatDoesNotFit) {
  EXPECT_THROW(WindowBiasEncoder({{}, ClassToken::none}), SpecError);
  EXPECT_THROW(WindowBiasEncoder({{7, 0}, ClassToken::none}), SpecError);
  EXPECT_THROW(WindowBiasEncoder({{200, 200}, ClassToken::none}), SpecError);
  const WindowBiasEncoder encoder({{7, 7}, ClassToken::none});
  const std::vector<std::int64_t> one{0};
  EXPECT_THROW(encoder.bias(one, one, Tensor::zeros(Dtype::float32, {168, 2})), std::invalid_argument);
  EXPECT_THROW(encoder.bias(one, one, Tensor::zeros(Dtype::float32, {169})), std::invalid_argument);
  EXPECT_THROW(encoder.bias(one, one, Tensor::zeros(Dtype::int64, {169, 2})), std::invalid_argument);
  EXPECT_THROW(encoder.grad_weight(one, one, Tensor::zeros(Dtype::float32, {1, 1, 2})), std::invalid_argument);
  for (const std::int64_t position : {std::int64_t{-1}, std::int64_t{49}, std::numeric_limits<std::int64_t>::max()}) {
    const std::vector<std::int64_t> beyond{position};
    EXPECT_THROW(encoder.bias(one, beyond, Tensor::zeros(Dtype::float32, {169, 2})), std::out_of_range);
    EXPECT_THROW(encoder.bias(beyond, one, Tensor::zeros(Dtype::float32, {169, 2})), std::out_of_range);
    EXPECT_THROW(encoder.index(position, 0), std::out_of_range);
  }
  EXPECT_EQ(encoder.bias({}, one, Tensor::zeros(Dtype::float32, {169, 2})).shape, (std::vector<std::int64_t>{2, 0, 1}));
}

TEST(WindowBiasEncoder, TablesHaveThePublishedDigests) {
  Digests digests;
  for (const auto& [name, encoding] :
       std::vector<std::pair<std::string, WindowBias>>{{"7 x 7", {{7, 7}, ClassToken::none}},
                                                       {"14 x 14 class token", {{14, 14}, ClassToken::first}},
                                                       {"8 x 7 x 5", {{8, 7, 5}, ClassToken::none}}}) {
    const WindowBiasEncoder encoder(encoding);
    const std::vector<std::int64_t> tokens = tokens_of(encoding);
    for (const Dtype dtype : floating_dtypes) {
      Tensor weight = Tensor::zeros(dtype, {weight_rows(encoding), 3});
      for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, static_cast<double>(i * 61 % 127 - 63) / 64);
      digests[std::string(name_of(dtype)) + " " + name] =
          digest_on_threads([&] { return encoder.bias(tokens, tokens, weight); });
    }
  }
  expect_published("window_bias", digests);
}

}  // namespace
}  // namespace sextant::window_bias_test
