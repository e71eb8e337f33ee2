#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/qk_norm_rope/qk_norm_rope.hpp"

// The same bits on every target and number of threads: heads whose channels and pairs fill no vector, both pairings and
// between them, channels that do not turn, and every pair of dtypes.

namespace sextant::qk_norm_rope_sweep_test {
namespace {

struct NamedSpec {
  const char* name;
  const char* json;
};
constexpr NamedSpec specs[] = {
    {"half", R"({"encoding":"qk_norm_rope","head_dim":70})"},
    {"interleaved", R"({"encoding":"qk_norm_rope","head_dim":64,"pairing":"interleaved","weight_offset":1})"},
    {"interleaved to half, clockwise",
     R"({"encoding":"qk_norm_rope","head_dim":44,"pairing":"interleaved","output_pairing":"half",)"
     R"("direction":"clockwise"})"},
    {"half to interleaved", R"({"encoding":"qk_norm_rope","head_dim":44,"output_pairing":"interleaved"})"},
    {"prefix", R"({"encoding":"qk_norm_rope","head_dim":80,"rotary_dim":20})"},
    {"suffix", R"({"encoding":"qk_norm_rope","head_dim":80,"rotary_dim":20,"rotary_layout":"suffix"})"},
    {"spread", R"({"encoding":"qk_norm_rope","head_dim":80,"rotary_dim":20,"rotary_layout":"spread"})"},
    {"nothing turns", R"({"encoding":"qk_norm_rope","head_dim":34,"rope_scaling":{"rope_type":"none"}})"}};

constexpr std::int64_t batch = 2;
constexpr std::int64_t tokens = 40;
constexpr std::int64_t heads = 6;

// Any values of magnitudes from 2^-20 to 2^20; in the last head of a token a NaN or an infinity.
Tensor drawn(Dtype dtype, std::int64_t head_dim) {
  Tensor tensor = Tensor::zeros(dtype, {batch, tokens, heads, head_dim});
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const std::int64_t vector = i / head_dim;
    tensor.set(i, std::ldexp(static_cast<double>(i * 7919 % 2047 - 1023) / 1024, static_cast<int>(vector % 41) - 20));
  }
  tensor.set(heads * head_dim - 1, std::nan(""));
  tensor.set(2 * heads * head_dim - 2, HUGE_VAL);
  return tensor;
}

class QkNormRopeSweepOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(QkNormRopeSweepOn);

TEST_P(QkNormRopeSweepOn, HeadsHaveThePublishedDigests) {
  Digests digests;
  for (const NamedSpec& spec : specs) {
    const auto encoding = std::get<QkNormRope>(parse_spec(spec.json).encoding);
    const QkNormRopeEncoder encoder(encoding);
    const std::int64_t head_dim = encoding.rope.head_dim;
    std::vector<std::int64_t> positions(batch * tokens);
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i * i * 31);
    for (const Dtype dtype : floating_dtypes) {
      const Tensor x = drawn(dtype, head_dim);
      Tensor weight = Tensor::zeros(dtype, {head_dim});
      for (std::int64_t i = 0; i < head_dim; ++i) weight.set(i, static_cast<double>(i % 37 - 11) / 16);
      for (const Dtype result : floating_dtypes) {
        Tensor y = Tensor::zeros(result, x.shape);
        const auto turned = [&]() -> const Tensor& {
          encoder.apply(heads_of(x), weight, positions, heads_of(y));
          return y;
        };
        digests[std::string(name_of(dtype)) + " to " + std::string(name_of(result)) + " " + spec.name] =
            digest_on_threads(turned);
      }
    }
  }
  expect_published("qk_norm_rope", digests);
}

}  // namespace
}  // namespace sextant::qk_norm_rope_sweep_test
