#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "lib/kernels/strided_heads_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/xpos/xpos.hpp"

namespace sextant::xpos_memory_test {
namespace {

class XposMemoryOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(XposMemoryOn);

Xpos encoding_of(Pairing pairing, Pairing output_pairing, double scale_base, std::int64_t rotary_dim = 32) {
  Xpos encoding;
  encoding.rope.head_dim = rotary_dim + 4;
  encoding.rope.rotary_dim = rotary_dim;
  encoding.rope.pairing = pairing;
  encoding.rope.output_pairing = output_pairing;
  encoding.scale_base = scale_base;
  return encoding;
}

// With scale_base 0.25 the powers are too steep for the kernels, and pairs are turned one by one. Tokens at position 0
// keep their bits even where they are overwritten.
TEST(XposMemory, AnyMemoryAndInPlaceGiveTheSameBits) {
  for (const double scale_base : {512.0, 0.25}) {
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
      for (const Pairing output_pairing : {Pairing::half, Pairing::interleaved}) {
        const XposEncoder encoder(encoding_of(pairing, output_pairing, scale_base));
        for (const Dtype dtype : floating_dtypes) {
          const std::int64_t tokens = scale_base < 1 || dtype == Dtype::float64 ? 3 : 23;
          std::vector<std::int64_t> positions;
          for (std::int64_t i = 0; i < 2 * tokens; ++i) positions.push_back(i % 5 == 0 ? 0 : i * 37 % 91 - 13);
          expect_same_in_any_memory(encoder, tensor_of_bits(dtype, {2, tokens, 3, 36}, 5), positions);
        }
      }
    }
  }
}

TEST_P(XposMemoryOn, HeadsOfEveryWidth) {
  const std::vector<std::int64_t> positions{5, 6, 0, 90, 91};
  for (std::int64_t width = 2; width <= 70; width += 2) {
    const XposEncoder encoder(encoding_of(Pairing::half, Pairing::half, 512, width));
    const XposEncoder mixed(encoding_of(Pairing::interleaved, Pairing::half, 512, width));
    for (const Dtype dtype : floating_dtypes) {
      const Tensor x = tensor_of_bits(dtype, {1, 5, 2, width + 4}, 7);
      expect_same_in_any_memory(encoder, x, positions);
      expect_same_in_any_memory(mixed, x, positions);
      if (HasFailure()) return;
    }
  }
}

TEST(XposMemory, RefusesViewsThatDoNotFit) {
  const XposEncoder encoder(encoding_of(Pairing::half, Pairing::half, 512));
  Tensor x = Tensor::zeros(Dtype::float32, {1, 2, 1, 36});
  const std::vector<std::int64_t> positions(2, 1);
  Heads view = heads_of(x);
  EXPECT_NO_THROW(encoder.apply(view, positions));
  EXPECT_THROW(encoder.apply(view, std::vector<std::int64_t>(3, 1)), std::invalid_argument);
  EXPECT_THROW(encoder.apply(view, std::vector<std::int64_t>(2, std::int64_t{1} << 54)), std::out_of_range);
  view.head_stride = 35;
  view.heads = 2;
  view.tokens = 1;
  EXPECT_THROW(encoder.apply(view, std::vector<std::int64_t>(1, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::xpos_memory_test
