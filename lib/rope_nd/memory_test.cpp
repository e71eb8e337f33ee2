#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "lib/kernels/strided_heads_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/rope_nd/rope_nd.hpp"

namespace sextant::rope_nd_memory_test {
namespace {

class RopeNdMemoryOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(RopeNdMemoryOn);

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

TEST_P(RopeNdMemoryOn, HeadsOfEveryWidth) {
  const std::vector<std::int64_t> positions{5, 5, 5, 6, 6, 0, 1, 2, 3, 0, 7, 7, 90, 90, 91};
  for (std::int64_t width = 6; width <= 74; width += 2) {
    for (const SectionOrder order : {SectionOrder::blocked, SectionOrder::interleaved}) {
      RopeNd encoding = encoding_of(order, width % 4 == 0 ? Pairing::half : Pairing::interleaved);
      encoding.rope.head_dim = encoding.rope.rotary_dim = width;
      encoding.sections = {width / 2 - 2 * (width / 6), width / 6, width / 6};
      const RopeNdEncoder encoder(encoding);
      for (const Dtype dtype : floating_dtypes)
        expect_same_in_any_memory(encoder, tensor_of_bits(dtype, {1, 5, 2, width}, 7), positions);
      if (HasFailure()) return;
    }
  }
}

// Rows keep what the token before them has in common with them.
TEST(RopeNdMemory, TokensAreTurnedAlikeWhateverTokenWasBefore) {
  // Each axis stands still, goes on by one, to other anchors, backwards and far away, together and by itself.
  constexpr std::int64_t moves[] = {0, 0, 1, 0, 0, 1, 15, 0, -1, 16, 0, 0, -32, 1, 1000003, 0, -1000003, 0, 7, 0};
  constexpr std::int64_t tokens = 200;
  std::vector<std::int64_t> positions;
  for (const std::int64_t stride : {1, 3, 7}) {
    std::int64_t position = -5;
    for (std::int64_t token = 0; token < tokens; ++token)
      positions.push_back(position += token % stride == 0 ? moves[token / stride % 20] : 0);
  }
  for (const SectionOrder order : {SectionOrder::blocked, SectionOrder::interleaved}) {
    for (const Dtype dtype : floating_dtypes) {
      const RopeNdEncoder encoder(encoding_of(order, Pairing::half));
      const Tensor x = tensor_of_bits(dtype, {1, tokens, 1, 32}, 11);
      for (const auto turned : {+[](const RopeNdEncoder&by, const Tensor&of, const std::vector<std::int64_t>&at) {
                                  return by.rotate(of, at);
                                },
                                +[](const RopeNdEncoder&by, const Tensor&of, const std::vector<std::int64_t>&at) {
                                  return by.backward(of, at);
                                }}) {
        const Tensor together = turned(encoder, x, positions);
        const std::size_t bytes = x.data.size() / tokens;
        for (std::size_t token = 0; token < tokens; ++token) {
          Tensor one = Tensor::zeros(dtype, {1, 1, 1, 32});
          std::copy_n(x.data.begin() + static_cast<std::ptrdiff_t>(token * bytes), bytes, one.data.begin());
          const Tensor alone =
              turned(encoder, one, {positions[token], positions[tokens + token], positions[2 * tokens + token]});
          ASSERT_TRUE(std::equal(alone.data.begin(), alone.data.end(),
                                 together.data.begin() + static_cast<std::ptrdiff_t>(token * bytes)))
              << name_of(dtype) << ", token " << token;
        }
      }
    }
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
