#include "lib/alibi/alibi.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/alibi.hpp"

namespace sextant::alibi_test {
namespace {

void expect_truth(const Alibi& encoding, const std::vector<std::int64_t>& queries,
                  const std::vector<std::int64_t>& keys) {
  const AlibiEncoder encoder(encoding);
  reference::AlibiReference truth(encoding);
  for (const Dtype dtype : floating_dtypes) {
    const Tensor matrices = encoder.bias(queries, keys, dtype);
    ASSERT_EQ(matrices.shape, (std::vector<std::int64_t>{encoding.num_heads, std::ssize(queries), std::ssize(keys)}));
    std::int64_t i = 0;
    for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
      for (const std::int64_t query : queries) {
        for (const std::int64_t key : keys) {
          const double got = matrices.at(i++);
          if (!truth.bias(query, key, head, reference::first_precision)) {
            ASSERT_EQ(got, -std::numeric_limits<double>::infinity());
            continue;
          }
          ASSERT_EQ(
              got,
              nearest(dtype, [&](reference::Precision precision) { return *truth.bias(query, key, head, precision); }))
              << "head " << head << " of " << encoding.num_heads << ", " << query << " to " << key << " "
              << name_of(dtype);
          ASSERT_FALSE(got == 0 && std::signbit(got));
        }
      }
    }
  }
}

// Slopes of every dtype, where products are exact, are ties, and need more bits than a double has.
constexpr std::optional<Dtype> slope_dtypes[] = {std::nullopt, Dtype::bfloat16, Dtype::float16, Dtype::float32,
                                                 Dtype::float64};

std::vector<std::int64_t> from_to(std::int64_t first, std::int64_t end) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(end - first));
  std::iota(list.begin(), list.end(), first);
  return list;
}

TEST(AlibiEncoder, EqualsTheOracleForAnyNumberOfHeads) {
  for (const std::int64_t heads : {1, 2, 3, 8, 12, 20}) {
    expect_truth({heads, Mask::causal, AlibiForm::distance}, from_to(0, 9), from_to(0, 9));
    expect_truth({heads, Mask::symmetric, AlibiForm::distance}, from_to(0, 9), from_to(0, 9));
    expect_truth({heads, Mask::causal, AlibiForm::key_index}, from_to(0, 9), from_to(0, 9));
    for (const std::int64_t most : {1, 8, 16, 24})
      expect_truth({heads, Mask::symmetric, AlibiForm::distance, AlibiSlopes::geometric, most}, from_to(0, 9),
                   from_to(0, 9));
  }
}

TEST(AlibiEncoder, EqualsTheOracleForSlopesOfEveryDtype) {
  for (const std::optional<Dtype> slope_dtype : slope_dtypes) {
    for (const std::int64_t most : {8, 24}) {
      Alibi encoding{12, Mask::causal, AlibiForm::key_index, AlibiSlopes::released, most, slope_dtype};
      expect_truth(encoding, from_to(2000, 2001), from_to(0, 1000));
      encoding = {7, Mask::symmetric, AlibiForm::distance, AlibiSlopes::geometric, most, slope_dtype};
      expect_truth(encoding, from_to(0, 9), from_to(0, 40));
    }
  }
}

TEST(AlibiEncoder, EqualsTheOracleFarAway) {
  const std::int64_t far = std::int64_t{1} << 53;
  const std::vector<std::int64_t> positions{-far, -far + 1, -131071, 0, 65521, 131071, far - 1, far};
  for (const std::int64_t heads : {4, 6, 16}) {
    for (const AlibiSlopes slopes : {AlibiSlopes::released, AlibiSlopes::geometric}) {
      for (const std::int64_t most : {1, 8, 24}) {
        for (const std::optional<Dtype> slope_dtype : slope_dtypes) {
          if (!slope_dtype || most == 8)
            expect_truth({heads, Mask::symmetric, AlibiForm::distance, slopes, most, slope_dtype}, positions,
                         positions);
        }
      }
    }
  }
}

class AlibiGuardsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(AlibiGuardsOn);

// The rows of kernels end at positions of 2^52, products in double at factors of 2^53: both sides of each, in whole
// vectors.
TEST_P(AlibiGuardsOn, PositionsAndDistancesAtBothEnds) {
  const std::int64_t row = std::int64_t{1} << 52;
  for (const auto& [query, first_key] :
       {std::pair{row, row - 9}, {row + 1, row - 8}, {-row, -row - 8}, {row, -row}, {row, -row - 5}, {2 * row, -9}}) {
    for (const std::int64_t heads : {4, 6}) {
      for (const AlibiForm form : {AlibiForm::distance, AlibiForm::key_index}) {
        const Mask mask = form == AlibiForm::distance ? Mask::symmetric : Mask::causal;
        for (const AlibiSlopes slopes : {AlibiSlopes::released, AlibiSlopes::geometric}) {
          for (const std::int64_t most : {1, 8, 24}) {
            for (const std::optional<Dtype> slope_dtype : slope_dtypes) {
              if (slope_dtype && most != 8) continue;
              expect_truth({heads, mask, form, slopes, most, slope_dtype}, {query, query - 1},
                           from_to(first_key, first_key + 9));
              if (HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
}

TEST(AlibiEncoder, EverySlopeEqualsTheOracle) {
  for (std::int64_t heads = 1; heads <= 130; ++heads) {
    for (const AlibiSlopes slopes : {AlibiSlopes::released, AlibiSlopes::geometric}) {
      const std::optional<Dtype> slope_dtype = slope_dtypes[heads % std::ssize(slope_dtypes)];
      const AlibiEncoder encoder({heads, Mask::causal, AlibiForm::distance, slopes, 1 + heads % 24, slope_dtype});
      reference::AlibiReference truth(encoder.encoding());
      for (std::int64_t head = 0; head < heads; ++head) {
        for (const Dtype dtype : floating_dtypes) {
          ASSERT_EQ(encoder.slope(head, dtype),
                    nearest(dtype, [&](reference::Precision precision) { return truth.slope(head, precision); }))
              << heads << ' ' << head;
        }
      }
    }
  }
}

// One query at the end of eight keys, as in decoding: its row is the last one of the square matrix.
TEST(AlibiEncoder, QueriesAreAlignedByTheirPositions) {
  const AlibiEncoder encoder({2, Mask::causal, AlibiForm::distance});
  const Tensor square = encoder.bias(from_to(0, 8), from_to(0, 8), Dtype::float32);
  const Tensor last = encoder.bias(from_to(7, 8), from_to(0, 8), Dtype::float32);
  for (std::int64_t head = 0; head < 2; ++head) {
    for (std::int64_t key = 0; key < 8; ++key) EXPECT_EQ(last.at(head * 8 + key), square.at((head * 8 + 7) * 8 + key));
  }
  EXPECT_EQ(last.at(7), 0);
}

TEST(AlibiEncoder, TheSameBitsOnAnyNumberOfThreads) {
  const AlibiEncoder encoder({6, Mask::symmetric, AlibiForm::distance});
  expect_same_on_threads([&] { return encoder.bias(from_to(0, 40), from_to(0, 40), Dtype::float64); });
}

TEST(AlibiEncoder, RefusesWhatItDoesNotHave) {
  EXPECT_THROW(AlibiEncoder({0, Mask::causal, AlibiForm::distance}), SpecError);
  EXPECT_THROW(AlibiEncoder({2, Mask::symmetric, AlibiForm::key_index}), SpecError);
  for (const std::int64_t most : {0, 25})
    EXPECT_THROW(AlibiEncoder({2, Mask::causal, AlibiForm::distance, AlibiSlopes::released, most}), SpecError);
  const AlibiEncoder encoder({2, Mask::causal, AlibiForm::distance});
  EXPECT_THROW(encoder.bias(from_to(0, 1), from_to(0, 1), Dtype::int64), std::invalid_argument);
  EXPECT_THROW(encoder.bias(std::vector<std::int64_t>{(std::int64_t{1} << 53) + 1}, from_to(0, 1), Dtype::float32),
               std::out_of_range);
  std::vector<std::byte> memory(4);
  EXPECT_THROW(encoder.bias(from_to(0, 1), from_to(0, 1), Dtype::float32, memory), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::alibi_test
