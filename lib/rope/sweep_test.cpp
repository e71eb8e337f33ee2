#include <gtest/gtest.h>
#include <omp.h>

#include <numeric>

#include "lib/kernels/target_test.hpp"
#include "lib/numeric/content_hash.hpp"
#include "lib/rope/oracle_test.hpp"
#include "lib/rope/rope.hpp"

// Every position of 0 .. 131071 at head_dim 128: one digest for every instruction set and number of threads, and a
// sample against the oracle.

namespace sextant {
namespace {

class RopeSweepOn : public OnEveryTarget {
 protected:
  void TearDown() override {
    omp_set_num_threads(threads_);
    OnEveryTarget::TearDown();
  }

 private:
  int threads_ = omp_get_max_threads();
};
SEXTANT_ON_EVERY_TARGET(RopeSweepOn);

constexpr std::int64_t positions_in_all = 131072;
constexpr std::int64_t block = 8192;
constexpr std::int64_t dim = 128;

struct Digest {
  Dtype dtype;
  std::uint64_t value;
};

// ContentHash over the outputs' bytes in words of 64 bits.
constexpr Digest digests[] = {{Dtype::float32, 0x1f8d513f4b8551c4U},
                              {Dtype::float16, 0x1ad8177e10d78c88U},
                              {Dtype::bfloat16, 0x1bbcc69504cae240U}};

TEST_P(RopeSweepOn, EveryPositionHasTheSameBitsOnAnyNumberOfThreads) {
  const Rope encoding = rope_of(R"("head_dim":128)");
  const RopeEncoder encoder(encoding);
  PairOracle oracle(encoding);
  for (const Digest& expected : digests) {
    Tensor x = Tensor::zeros(expected.dtype, {1, block, 1, dim});
    for (std::int64_t i = 0; i < x.elements(); ++i)
      x.set(i, static_cast<double>((i % dim * 61) % 127 - 63) / 64 + 0.001);
    std::vector<std::int64_t> positions(block);
    ContentHash digest;
    for (std::int64_t first = 0; first < positions_in_all; first += block) {
      omp_set_num_threads(1 + static_cast<int>(first / block % 3));
      std::iota(positions.begin(), positions.end(), first);
      const Tensor y = encoder.rotate(x, positions);
      digest.add_words(y.data);
      const std::int64_t row = first / block * 509 % block;
      for (std::int64_t pair = 0; pair < dim / 2; ++pair) {
        const auto truth = oracle.rotated(expected.dtype, first + row, pair, 1, x.at(pair), x.at(pair + dim / 2));
        ASSERT_EQ(y.at(row * dim + pair), truth.first) << first + row << " pair " << pair;
        ASSERT_EQ(y.at(row * dim + pair + dim / 2), truth.second) << first + row << " pair " << pair;
      }
    }
    EXPECT_EQ(digest.value(), expected.value) << name_of(expected.dtype) << std::hex << " 0x" << digest.value();
  }
}

}  // namespace
}  // namespace sextant
