#include "lib/binary/binary.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "lib/kernels/table_rows_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/binary.hpp"

namespace sextant::binary_test {
namespace {

void expect_truth(const Binary& encoding, const std::vector<std::int64_t>& positions) {
  for (const Dtype dtype : floating_dtypes) {
    const Tensor table = BinaryEncoder(encoding).encode(positions, dtype);
    for (std::int64_t i = 0; i < table.elements(); ++i) {
      const std::int64_t position = positions[static_cast<std::size_t>(i / encoding.dim)];
      ASSERT_EQ(table.at(i), reference::code(encoding, position, i % encoding.dim, reference::first_precision).lower())
          << position;
    }
  }
}

TEST(BinaryEncoder, EqualsTheOracleAtEveryPosition) {
  std::vector<std::int64_t> all(1 << 10);
  std::iota(all.begin(), all.end(), 0);
  expect_truth({10, false}, all);
  expect_truth({10, true}, all);
  expect_truth({63, false},
               {0, 1, (std::int64_t{1} << 53) - 1, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()});
}

TEST(BinaryEncoder, RefusesWhatItDoesNotHave) {
  EXPECT_THROW(BinaryEncoder({0, false}), SpecError);
  EXPECT_THROW(BinaryEncoder({64, false}), SpecError);
  const BinaryEncoder encoder({4, false});
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{16}, Dtype::float32), std::out_of_range);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{-1}, Dtype::float32), std::out_of_range);
  EXPECT_THROW(encoder.encode({}, Dtype::int64), std::invalid_argument);
  std::vector<std::byte> memory(7);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{1}, Dtype::float16, memory), std::invalid_argument);
}

TEST(BinaryEncoder, WritesItsRowsAndNothingElse) {
  for (const Dtype dtype : floating_dtypes) {
    for (const std::int64_t dim : {1, 2, 3, 17, 63}) {
      const BinaryEncoder encoder({dim, true});
      const std::vector<std::int64_t> positions{0, 1, (std::int64_t{1} << (dim - 1)), 0, 1};
      expect_only_its_rows(encoder.encode(positions, dtype), [&](const Rows& out) { encoder.encode(positions, out); });
    }
  }
  std::vector<std::byte> memory(64);
  expect_refusals({Dtype::float32, memory.data(), 2, 3, 4}, [](const Rows& out) {
    BinaryEncoder({3, false}).encode(std::vector<std::int64_t>{1, 2}, out);
  });
}

TEST(BinaryEncoder, WhatIsRefusedIsNotBegun) {
  std::vector<std::byte> memory(8, std::byte{7});
  EXPECT_THROW(BinaryEncoder({1, false}).encode(std::vector<std::int64_t>{1, 2}, Dtype::float32, memory),
               std::out_of_range);
  EXPECT_EQ(memory, std::vector<std::byte>(8, std::byte{7}));
}

}  // namespace
}  // namespace sextant::binary_test
