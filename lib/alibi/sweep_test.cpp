#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>
#include <vector>

#include "lib/alibi/alibi.hpp"
#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/alibi.hpp"

// Every head count from 1 to 128, each head at every distance up to 4095, in one dtype a head count: in all of them
// where SEXTANT_TEST_MULTIPLIER is above 1. Where bias_max is 8, the slopes of n <= 128 heads are 2^(-8(h+1)/n') and
// 2^(-8(2j+1)/2n'), n' a power of two, so each is one of the 128 slopes 2^(-k/16) of 128 heads: these are held against
// the oracle, and every other row against the row of its slope. AlibiEncoder.EverySlopeEqualsTheOracle says that a head
// has the slope that it should have.

namespace sextant::alibi_sweep_test {
namespace {

constexpr std::int64_t distances = 4096;

std::vector<std::int64_t> keys() {
  std::vector<std::int64_t> list(distances);
  std::iota(list.begin(), list.end(), 0);
  return list;
}

Tensor last_rows(const Alibi& encoding, Dtype dtype) {
  return AlibiEncoder(encoding).bias(std::vector<std::int64_t>{distances - 1}, keys(), dtype);
}

class AlibiSweepOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(AlibiSweepOn);

TEST(AlibiSweep, EverySlopeOf128HeadsEqualsTheOracleAtEveryDistance) {
  const Alibi encoding{128, Mask::causal, AlibiForm::distance};
  std::int64_t wrong = 0;
  for (const Dtype dtype : floating_dtypes) {
    const Tensor rows = last_rows(encoding, dtype);
#pragma omp parallel reduction(+ : wrong)
    {
      reference::AlibiReference truth(encoding);
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < rows.elements(); ++i) {
        const double value = nearest(dtype, [&](reference::Precision precision) {
          return *truth.bias(distances - 1, i % distances, i / distances, precision);
        });
        wrong += rows.at(i) != value ? 1 : 0;
      }
    }
    EXPECT_EQ(wrong, 0) << name_of(dtype);
  }
}

TEST(AlibiSweep, EveryHeadCountHasTheRowsOfItsSlopes) {
  const AlibiEncoder largest({128, Mask::causal, AlibiForm::distance});
  const char* multiplier = std::getenv("SEXTANT_TEST_MULTIPLIER");
  const std::int64_t step = multiplier != nullptr && std::atoi(multiplier) > 1 ? 1 : std::ssize(floating_dtypes);
  std::int64_t first = 1;
  for (const Dtype dtype : floating_dtypes) {
    const Tensor rows = last_rows(largest.encoding(), dtype);
    const std::size_t row_bytes = distances * size_of(dtype);
    for (std::int64_t heads = step == 1 ? 1 : first++; heads < 128; heads += step) {
      const AlibiEncoder encoder({heads, Mask::causal, AlibiForm::distance});
      const Tensor got = last_rows(encoder.encoding(), dtype);
      for (std::int64_t head = 0; head < heads; ++head) {
        std::int64_t same = 0;
        while (same < 128 && largest.slope(same, Dtype::float64) != encoder.slope(head, Dtype::float64)) ++same;
        ASSERT_LT(same, 128) << "head " << head << " of " << heads;
        const std::byte* row = got.data.data() + static_cast<std::size_t>(head) * row_bytes;
        const std::byte* row_of_slope = rows.data.data() + static_cast<std::size_t>(same) * row_bytes;
        ASSERT_EQ(std::memcmp(row, row_of_slope, row_bytes), 0)
            << "head " << head << " of " << heads << " " << name_of(dtype);
      }
    }
  }
}

// Every number of keys up to some vectors, at any alignment: each element once, and no byte beside the rows.
TEST_P(AlibiSweepOn, WritesItsMatricesAndNothingElse) {
  std::vector<std::int64_t> positions(40);
  std::iota(positions.begin(), positions.end(), 100);
  const AlibiEncoder encoder({3, Mask::causal, AlibiForm::distance});
  for (const Dtype dtype : floating_dtypes) {
    const Tensor whole = encoder.bias(positions, positions, dtype);
    for (std::size_t count = 1; count <= positions.size(); ++count) {
      const std::span<const std::int64_t> some(positions.data(), count);
      const std::size_t row_bytes = count * size_of(dtype);
      for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
        const std::size_t shift = count % 5;
        GuardedBytes memory(3 * count * row_bytes + shift, against);
        std::byte* start = memory.data() + (against == GuardedBytes::Against::start ? shift : 0);
        encoder.bias(some, some, dtype, {start, 3 * count * row_bytes});
        for (std::size_t row = 0; row < 3 * count; ++row) {
          const std::size_t row_of_whole =
              (row / count * positions.size() + row % count) * positions.size() * size_of(dtype);
          ASSERT_EQ(std::memcmp(start + row * row_bytes, whole.data.data() + row_of_whole, row_bytes), 0)
              << count << " keys, row " << row;
        }
        for (std::size_t i = 0; i < shift; ++i) {
          const std::byte* rest =
              against == GuardedBytes::Against::start ? memory.data() : memory.data() + 3 * count * row_bytes;
          ASSERT_EQ(rest[i], std::byte{GuardedBytes::filler});
        }
      }
    }
  }
}

// Rounding to nearest is odd: slope times key is the opposite of the bias of that distance, and a symmetric bias
// mirrors the causal one.
TEST(AlibiSweep, TheOtherFormsFollowFromTheCausalDistances) {
  for (const std::int64_t heads : {12, 128}) {
    for (const Dtype dtype : floating_dtypes) {
      const Tensor causal = last_rows({heads, Mask::causal, AlibiForm::distance}, dtype);
      const Tensor by_key = last_rows({heads, Mask::causal, AlibiForm::key_index}, dtype);
      const Tensor ahead =
          AlibiEncoder({heads, Mask::symmetric, AlibiForm::distance}).bias(std::vector<std::int64_t>{0}, keys(), dtype);
      for (std::int64_t i = 0; i < causal.elements(); ++i) {
        const std::int64_t mirrored = i / distances * distances + (distances - 1 - i % distances);
        ASSERT_EQ(by_key.at(i), -causal.at(mirrored)) << i;
        ASSERT_EQ(ahead.at(i), causal.at(mirrored)) << i;
      }
    }
  }
}

TEST_P(AlibiSweepOn, TablesHaveThePublishedDigests) {
  struct Case {
    const char* name;
    Alibi encoding;
  };
  constexpr Case cases[] = {
      {"12 causal distance", {12, Mask::causal, AlibiForm::distance}},
      {"12 symmetric distance", {12, Mask::symmetric, AlibiForm::distance}},
      {"12 causal key_index", {12, Mask::causal, AlibiForm::key_index}},
      {"12 symmetric distance geometric", {12, Mask::symmetric, AlibiForm::distance, AlibiSlopes::geometric}},
      {"20 symmetric distance", {20, Mask::symmetric, AlibiForm::distance}},
      {"12 symmetric distance bfloat16",
       {12, Mask::symmetric, AlibiForm::distance, AlibiSlopes::released, 8, Dtype::bfloat16}},
      {"12 symmetric distance float64",
       {12, Mask::symmetric, AlibiForm::distance, AlibiSlopes::released, 8, Dtype::float64}}};
  std::vector<std::int64_t> positions(128);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i) * 1031;
  Digests digests;
  for (const Case& entry : cases) {
    const AlibiEncoder encoder(entry.encoding);
    for (const Dtype dtype : floating_dtypes) {
      digests[std::string(name_of(dtype)) + " " + entry.name] =
          digest_on_threads([&] { return encoder.bias(positions, positions, dtype); });
    }
  }
  // The very rows that the oracle is asked for above.
  for (const Dtype dtype : floating_dtypes) {
    digests[std::string(name_of(dtype)) + " 128 rows"] = digest_on_threads([&] {
      return last_rows({128, Mask::causal, AlibiForm::distance}, dtype);
    });
  }
  expect_published("alibi", digests);
}

}  // namespace
}  // namespace sextant::alibi_sweep_test
