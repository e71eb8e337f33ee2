#include <gtest/gtest.h>
#include <omp.h>

#include <numeric>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/numeric/content_hash.hpp"
#include "lib/rope/oracle_test.hpp"
#include "lib/rope/rope.hpp"

// Every position of 0 .. 131071 at head_dim 128: one digest for every instruction set and number of threads, and a
// sample against the oracle. And a digest for each layout, pairing and scaling rule.

namespace sextant::rope_sweep_test {
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

TEST_P(RopeSweepOn, LayoutsAndRulesHaveThePublishedDigests) {
  struct Case {
    const char* name;
    const char* fields;
  };
  constexpr Case cases[] = {
      {"half", R"("head_dim":48)"},
      {"interleaved", R"("head_dim":48,"pairing":"interleaved","direction":"clockwise")"},
      {"prefix", R"("head_dim":48,"rotary_dim":20,"output_pairing":"interleaved")"},
      {"spread", R"("head_dim":48,"rotary_dim":20,"rotary_layout":"spread","output_pairing":"interleaved")"},
      {"suffix", R"("head_dim":48,"rotary_dim":20,"rotary_layout":"suffix","output_pairing":"interleaved")"},
      {"linear", R"("head_dim":48,"rope_scaling":{"rope_type":"linear","factor":3})"},
      {"ntk", R"("head_dim":48,"rope_scaling":{"rope_type":"ntk","factor":3})"},
      {"dynamic",
       R"("head_dim":48,"rope_scaling":{"rope_type":"dynamic","factor":3,"original_max_position_embeddings":4096})"},
      {"yarn",
       R"("head_dim":48,"rope_scaling":{"rope_type":"yarn","factor":3,"original_max_position_embeddings":4096})"},
      {"longrope", R"("head_dim":4,"rope_scaling":{"rope_type":"longrope","factor":3,
                      "original_max_position_embeddings":4096,"short_factor":[1,1.1],"long_factor":[1.5,7]})"},
      {"longrope with two magnitudes",
       R"("head_dim":4,"rope_scaling":{"rope_type":"longrope","short_mscale":1.1,"long_mscale":1.25,
          "original_max_position_embeddings":4096,"short_factor":[1,1.1],"long_factor":[1.5,7]})"},
      {"none", R"("head_dim":48,"output_pairing":"interleaved","rope_scaling":{"rope_type":"none"})"},
      {"llama3", R"("head_dim":48,"rope_scaling":{"rope_type":"llama3","factor":8,
                    "original_max_position_embeddings":4096,"low_freq_factor":1,"high_freq_factor":4})"},
      {"real", R"("head_dim":48,"position_dtype":"float32")"},
      {"proportional", R"("head_dim":48,"rotary_dim":20,"rope_scaling":{"rope_type":"proportional","factor":3})"}};
  std::vector<std::int64_t> positions(64);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i) * 1031;
  struct OfDtype {
    std::string name;
    std::string of_dtype;
    std::string digest;
  };
  std::vector<OfDtype> of_dtypes;
  Digests computed;
  for (const Case& entry : cases) {
    const Rope encoding = rope_of(entry.fields);
    const RopeEncoder encoder(encoding);
    // x has the same numbers in every dtype, so that y is that of its own dtype whatever x is in.
    for (const Dtype dtype : floating_dtypes) {
      Tensor x = Tensor::zeros(dtype, {1, std::ssize(positions), 3, encoding.head_dim});
      for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, static_cast<double>(i * 61 % 127 - 63) / 64);
      for (const Dtype result : floating_dtypes) {
        const std::string digest = digest_on_threads([&] {
          Tensor y = Tensor::zeros(result, x.shape);
          if (result != dtype) encoder.apply(read_only(heads_of(x)), positions, heads_of(y));
          return result == dtype ? encoder.rotate(x, positions) : y;
        });
        const std::string name = std::string(name_of(result)) + " " + entry.name;
        if (result == dtype) computed[name] = digest;
        of_dtypes.push_back({name, std::string(name_of(dtype)), digest});
      }
    }
  }
  for (const auto& [name, of_dtype, digest] : of_dtypes)
    EXPECT_EQ(digest, computed[name]) << name << " of " << of_dtype;
  expect_published("rope", computed);
}

}  // namespace
}  // namespace sextant::rope_sweep_test
