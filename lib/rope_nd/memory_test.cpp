#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "lib/kernels/strided_heads_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/rope_nd/rope_nd.hpp"

namespace sextant::rope_nd_memory_test {
namespace {

RopeNd encoding_of(SectionOrder order, Pairing pairing) {
  RopeNd encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 32;
  encoding.sections = {6, 5, 5};
  encoding.section_order = order;
  encoding.rope.pairing = encoding.rope.output_pairing = pairing;
  return encoding;
}

// Among the coordinates are many zeros.
TEST(RopeNdMemory, AnyMemoryAndInPlaceGiveTheSameBits) {
  for (const SectionOrder order : {SectionOrder::blocked, SectionOrder::interleaved}) {
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
      const RopeNdEncoder encoder(encoding_of(order, pairing));
      for (const Dtype dtype : floating_dtypes) {
        for (const std::int64_t tokens : {1, 23}) {
          std::vector<std::int64_t> positions;
          for (std::int64_t i = 0; i < 3 * 2 * tokens; ++i) positions.push_back(i % 5 == 0 ? 0 : i * 37 % 91 - 13);
          expect_same_in_any_memory(encoder, tensor_of_bits(dtype, {2, tokens, 3, 32}, 5), positions);
        }
      }
    }
  }
}

TEST(RopeNdMemory, PartsOfAHeadLieInAnyMemoryToo) {
  RopeNd encoding = encoding_of(SectionOrder::blocked, Pairing::half);
  encoding.sections = {4, 4, 4, 4};
  encoding.rope.parts = 4;
  const RopeNdEncoder encoder(encoding);
  for (const Dtype dtype : floating_dtypes) {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < 4 * 2 * 23; ++i) positions.push_back(i % 5 == 0 ? 0 : i * 37 % 91 - 13);
    expect_same_in_any_memory(encoder, tensor_of_bits(dtype, {2, 23, 3, 32}, 5), positions);
  }
}

TEST(RopeNdMemory, RefusesViewsThatDoNotFit) {
  const RopeNdEncoder encoder(encoding_of(SectionOrder::blocked, Pairing::half));
  Tensor x = Tensor::zeros(Dtype::float32, {1, 2, 1, 32});
  const std::vector<std::int64_t> positions(6, 1);
  Heads view = heads_of(x);
  EXPECT_NO_THROW(encoder.apply(view, positions));
  EXPECT_THROW(encoder.apply(view, std::vector<std::int64_t>(5, 1)), std::invalid_argument);
  EXPECT_THROW(encoder.apply(view, std::vector<std::int64_t>(6, std::int64_t{1} << 54)), std::out_of_range);
  view.head_dim = 30;
  EXPECT_THROW(encoder.apply(view, positions), std::invalid_argument);
  view = heads_of(x);
  Heads shifted = view;
  shifted.data += 4;
  EXPECT_THROW(encoder.apply(read_only(view), positions, shifted), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::rope_nd_memory_test
