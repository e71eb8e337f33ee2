#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "lib/binary/binary.hpp"
#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/binary.hpp"

// Every position that a code of up to 16 digits has, and those around each power of two in the longest code, in all
// dtypes.

namespace sextant::binary_sweep_test {
namespace {

std::vector<std::int64_t> below(std::int64_t end) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(end));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

// Digits are exact, so that the oracle is asked once for all dtypes.
void expect_truth(const Binary& encoding, const std::vector<std::int64_t>& positions) {
  std::vector<Tensor> tables;
  for (const Dtype dtype : floating_dtypes) tables.push_back(BinaryEncoder(encoding).encode(positions, dtype));
  for (std::int64_t i = 0; i < tables[0].elements(); ++i) {
    const std::int64_t position = positions[static_cast<std::size_t>(i / encoding.dim)];
    const double digit = reference::code(encoding, position, i % encoding.dim, reference::first_precision).lower();
    for (const Tensor& table : tables)
      ASSERT_EQ(table.at(i), digit) << position << " digit " << i % encoding.dim << " in " << name_of(table.dtype);
  }
}

TEST(BinarySweep, EveryPositionOfEveryWidthEqualsTheOracle) {
  for (std::int64_t dim = 1; dim <= 16; ++dim) {
    expect_truth({dim, false}, below(std::int64_t{1} << dim));
    expect_truth({dim, true}, below(std::int64_t{1} << dim));
  }
}

TEST(BinarySweep, TheLongestCodeEqualsTheOracleAroundEveryPowerOfTwo) {
  std::vector<std::int64_t> positions;
  for (int power = 2; power < 63; ++power) {
    for (std::int64_t nudge = -2; nudge <= 2; ++nudge) positions.push_back((std::int64_t{1} << power) + nudge);
  }
  expect_truth({63, false}, positions);
  expect_truth({63, true}, positions);
}

TEST(BinarySweep, TablesHaveThePublishedDigests) {
  Digests digests;
  for (const Dtype dtype : floating_dtypes) {
    for (const bool normalize : {false, true}) {
      digests[std::string(name_of(dtype)) + (normalize ? " signs" : " digits")] = digest_on_threads([&] {
        return BinaryEncoder({17, normalize}).encode(below(131072), dtype);
      });
    }
  }
  expect_published("binary", digests);
}

}  // namespace
}  // namespace sextant::binary_sweep_test
