#include <gtest/gtest.h>

#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/learned/learned.hpp"
#include "reference/learned.hpp"

// Every row of a table of GPT-2's shape in small, and the gradient by it: the same bits on any number of threads.

namespace sextant::learned_sweep_test {
namespace {

constexpr Learned encoding{96, 1024};

// Values of either sign over many binades, so that the order of rounded additions would show.
Tensor values(Dtype dtype, std::int64_t rows) {
  Tensor tensor = Tensor::zeros(dtype, {rows, encoding.dim});
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.set(i, static_cast<double>(i * 40503 % 65521 - 32760) * static_cast<double>(1 << (i * 31 % 13)) * 0x1p-20);
  }
  return tensor;
}

TEST(LearnedSweep, EveryRowEqualsTheOracle) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < encoding.max_positions; ++i) positions.push_back(i * 389 % encoding.max_positions);
  for (const Dtype dtype : floating_dtypes) {
    const Tensor weight = values(dtype, encoding.max_positions);
    const Tensor rows = LearnedEncoder(encoding).encode(positions, weight);
    for (std::int64_t i = 0; i < rows.elements(); ++i) {
      const std::int64_t position = positions[static_cast<std::size_t>(i / encoding.dim)];
      ASSERT_EQ(rows.at(i),
                reference::code(encoding, weight, position, i % encoding.dim, reference::first_precision).lower())
          << position;
    }
  }
}

TEST(LearnedSweep, GradientsHaveThePublishedDigests) {
  constexpr std::int64_t tokens = 5000;
  std::vector<std::int64_t> positions(tokens);
  for (std::int64_t i = 0; i < tokens; ++i) positions[static_cast<std::size_t>(i)] = i * i % 1021;
  const LearnedEncoder encoder(encoding);
  Digests digests;
  for (const Dtype dtype : floating_dtypes) {
    const Tensor grad = values(dtype, tokens);
    digests[std::string(name_of(dtype)) + " gradient"] =
        digest_on_threads([&] { return encoder.grad_weight(positions, grad); });
    const Tensor weight = values(dtype, encoding.max_positions);
    digests[std::string(name_of(dtype)) + " rows"] =
        digest_on_threads([&] { return encoder.encode(positions, weight); });
  }
  expect_published("learned", digests);
}

}  // namespace
}  // namespace sextant::learned_sweep_test
