#include "reference/window_bias.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "reference/decimal.hpp"

namespace sextant::reference::window_bias_test {
namespace {

constexpr Precision precision{128};

WindowBias with(std::vector<std::int64_t> window, ClassToken class_token = ClassToken::none) {
  return {std::move(window), class_token};
}

void expect_rows(const WindowBias& encoding, const std::vector<std::vector<std::int64_t>>& rows) {
  for (std::size_t query = 0; query < rows.size(); ++query) {
    for (std::size_t key = 0; key < rows.size(); ++key) {
      EXPECT_EQ(window_row(encoding, static_cast<std::int64_t>(query), static_cast<std::int64_t>(key)),
                rows[query][key])
          << query << " and " << key;
    }
  }
}

// relative_position_index of the released codes, run: Swin's of 2 x 2 and 2 x 3, BEiT's of 2 x 2, Video Swin's of
// 2 x 1 x 2.
TEST(WindowBiasReference, RowsAreTheReleasedCodes) {
  expect_rows(with({2, 2}), {{4, 3, 1, 0}, {5, 4, 2, 1}, {7, 6, 4, 3}, {8, 7, 5, 4}});
  expect_rows(with({2, 3}), {{7, 6, 5, 2, 1, 0},
                             {8, 7, 6, 3, 2, 1},
                             {9, 8, 7, 4, 3, 2},
                             {12, 11, 10, 7, 6, 5},
                             {13, 12, 11, 8, 7, 6},
                             {14, 13, 12, 9, 8, 7}});
  expect_rows(with({2, 2}, ClassToken::first),
              {{11, 9, 9, 9, 9}, {10, 4, 3, 1, 0}, {10, 5, 4, 2, 1}, {10, 7, 6, 4, 3}, {10, 8, 7, 5, 4}});
  expect_rows(with({2, 1, 2}), {{4, 3, 1, 0}, {5, 4, 2, 1}, {7, 6, 4, 3}, {8, 7, 5, 4}});
}

// Two pairs of tokens share a row where their coordinates differ alike, and only there; every row is used.
TEST(WindowBiasReference, ARowIsADifferenceOfCoordinates) {
  const WindowBias encoding = with({3, 4, 2});
  std::map<std::vector<std::int64_t>, std::int64_t> row_of;
  std::set<std::int64_t> rows;
  for (std::int64_t query = 0; query < 24; ++query) {
    for (std::int64_t key = 0; key < 24; ++key) {
      const std::vector<std::int64_t> difference{query / 8 - key / 8, query / 2 % 4 - key / 2 % 4, query % 2 - key % 2};
      const std::int64_t row = window_row(encoding, query, key);
      EXPECT_EQ(row_of.try_emplace(difference, row).first->second, row);
      rows.insert(row);
    }
  }
  EXPECT_EQ(row_of.size(), 5 * 7 * 3);
  EXPECT_EQ(rows.size(), row_of.size());
  EXPECT_EQ(*rows.begin(), 0);
  EXPECT_EQ(*rows.rbegin(), weight_rows(encoding) - 1);
}

TEST(WindowBiasReference, ReadsTheWeight) {
  const WindowBias encoding = with({2, 2});
  Tensor weight = Tensor::zeros(Dtype::float32, {9, 2});
  for (std::int64_t i = 0; i < 18; ++i) weight.set(i, static_cast<double>(i));
  EXPECT_TRUE(is_exactly(bias(encoding, weight, 0, 1, 1, precision), 7));
  EXPECT_THROW(bias(encoding, weight, 0, 4, 0, precision), std::out_of_range);
  EXPECT_THROW(bias(encoding, weight, 0, 1, 2, precision), std::out_of_range);
  EXPECT_THROW(bias(encoding, Tensor::zeros(Dtype::float32, {8, 2}), 0, 1, 0, precision), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::reference::window_bias_test
