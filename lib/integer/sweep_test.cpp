#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "lib/integer/integer.hpp"
#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/integer.hpp"

// Every position within 131072 of zero as it is, and every position of a claim where it is normalised, in all dtypes.

namespace sextant::integer_sweep_test {
namespace {

std::vector<std::int64_t> from_to(std::int64_t first, std::int64_t end) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(end - first));
  std::iota(list.begin(), list.end(), first);
  return list;
}

void expect_truth(const Integer& encoding, std::int64_t max_position, const std::vector<std::int64_t>& positions) {
  const IntegerEncoder encoder(encoding, max_position);
  for (const Dtype dtype : floating_dtypes) {
    const Tensor table = encoder.encode(positions, dtype);
    for (std::int64_t i = 0; i < table.elements(); ++i) {
      const std::int64_t position = positions[static_cast<std::size_t>(i)];
      ASSERT_EQ(table.at(i), nearest(dtype,
                                     [&](reference::Precision precision) {
                                       return reference::code(encoding, max_position, position, precision);
                                     }))
          << position << " of " << max_position << " in " << name_of(dtype);
    }
  }
}

TEST(IntegerSweep, EveryPositionEqualsTheOracle) { expect_truth({1, false}, 131072, from_to(-131072, 131073)); }

// Last positions that are powers of two, one beside, and of many factors: quotients that are exact, nearly so, and
// ties.
TEST(IntegerSweep, EveryNormalisedPositionEqualsTheOracle) {
  for (const std::int64_t max_position : {2, 3, 4, 257, 512, 513, 2048, 5041, 16385, 131072}) {
    expect_truth({1, true}, max_position, from_to(0, max_position));
  }
}

TEST(IntegerSweep, TablesHaveThePublishedDigests) {
  Digests digests;
  for (const Dtype dtype : floating_dtypes) {
    for (const bool normalize : {false, true}) {
      const IntegerEncoder encoder({3, normalize}, 131072);
      digests[std::string(name_of(dtype)) + (normalize ? " normalised" : " counted")] =
          digest_on_threads([&] { return encoder.encode(from_to(0, 131072), dtype); });
    }
  }
  expect_published("integer", digests);
}

}  // namespace
}  // namespace sextant::integer_sweep_test
