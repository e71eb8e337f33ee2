#include "lib/integer/integer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "lib/kernels/table_rows_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/integer.hpp"

namespace sextant::integer_test {
namespace {

void expect_truth(const Integer& encoding, std::int64_t max_position, const std::vector<std::int64_t>& positions) {
  const IntegerEncoder encoder(encoding, max_position);
  for (const Dtype dtype : floating_dtypes) {
    const Tensor table = encoder.encode(positions, dtype);
    ASSERT_EQ(table.shape, (std::vector<std::int64_t>{std::ssize(positions), encoding.dim}));
    for (std::int64_t i = 0; i < table.elements(); ++i) {
      const std::int64_t position = positions[static_cast<std::size_t>(i / encoding.dim)];
      const double truth = nearest(dtype, [&](reference::Precision precision) {
        return reference::code(encoding, max_position, position, precision);
      });
      ASSERT_EQ(table.at(i), truth) << position << " of " << max_position << " in " << name_of(dtype);
    }
  }
}

TEST(IntegerEncoder, EqualsTheOracle) {
  std::vector<std::int64_t> positions(5000);
  std::iota(positions.begin(), positions.end(), -100);
  expect_truth({1, false}, 131072, positions);
  expect_truth({3, true}, 4901, positions);
  // Positions that 16-bit dtypes do not hold, or only as ties, and the last ones of all.
  const std::vector<std::int64_t> far{65504,
                                      65519,
                                      65520,
                                      131071,
                                      (1 << 24) + 1,
                                      (std::int64_t{1} << 53) - 1,
                                      std::int64_t{1} << 53,
                                      -(std::int64_t{1} << 53)};
  expect_truth({1, false}, 131072, far);
  for (const std::int64_t last : {2, 3, 7, 131072, 16777216, 33554433}) expect_truth({1, true}, last, far);
}

TEST(IntegerEncoder, ATieOfTheQuotientGoesToEvenAndAHairBesideItDoesNot) {
  // 513/512 and 515/512 lie between bfloat16's 1, 1 + 2^-7 and 1 + 2^-6 beside the ties 514/512, 518/512.
  const IntegerEncoder encoder({1, true}, 513);
  const Tensor table = encoder.encode(std::vector<std::int64_t>{514, 515, 518}, Dtype::bfloat16);
  EXPECT_EQ(table.at(0), 1);
  EXPECT_EQ(table.at(1), 1 + 0x1p-7);
  EXPECT_EQ(table.at(2), 1 + 0x1p-6);
}

TEST(IntegerEncoder, RefusesWhatItDoesNotHave) {
  EXPECT_THROW(IntegerEncoder({0, false}, 10), SpecError);
  EXPECT_THROW(IntegerEncoder({1, true}, 1), SpecError);
  const IntegerEncoder encoder({2, false}, 10);
  const std::vector<std::int64_t> one{3};
  std::vector<std::byte> memory(8);
  EXPECT_THROW(encoder.encode(one, Dtype::int64, memory), std::invalid_argument);
  EXPECT_THROW(encoder.encode(one, Dtype::float64, memory), std::invalid_argument);
  EXPECT_NO_THROW(encoder.encode(one, Dtype::float32, memory));
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{(std::int64_t{1} << 53) + 1}, Dtype::float32),
               std::out_of_range);
  EXPECT_EQ(encoder.encode({}, Dtype::float16).shape, (std::vector<std::int64_t>{0, 2}));
}

TEST(IntegerEncoder, WritesItsRowsAndNothingElse) {
  const std::vector<std::int64_t> positions{0, 5, 131071, -7, 2};
  for (const Dtype dtype : floating_dtypes) {
    for (const std::int64_t dim : {1, 2, 3, 17}) {
      const IntegerEncoder encoder({dim, true}, 131072);
      expect_only_its_rows(encoder.encode(positions, dtype), [&](const Rows& out) { encoder.encode(positions, out); });
    }
  }
  std::vector<std::byte> memory(64);
  expect_refusals({Dtype::float32, memory.data(), 2, 3, 4}, [](const Rows& out) {
    IntegerEncoder({3, false}, 9).encode(std::vector<std::int64_t>{1, 2}, out);
  });
}

}  // namespace
}  // namespace sextant::integer_test
