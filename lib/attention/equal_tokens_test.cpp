#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "lib/attention/attention.hpp"
#include "lib/binary/binary.hpp"
#include "lib/fourier/fourier.hpp"
#include "lib/integer/integer.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/learned/learned.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"
#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"
#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"

// "The dog chased another dog": tokens 1 and 4 have the same embedding. Attention without positions is blind to order
// (Vaswani et al. 2017, section 3.5), so that it gives both the same; each encoding must tell them apart.

namespace sextant::attention_equal_tokens_test {
namespace {

constexpr std::int64_t tokens = 5;
constexpr std::int64_t width = 8;
constexpr std::int64_t first_dog = 1;
constexpr std::int64_t second_dog = 4;
const std::vector<std::int64_t> places{0, 1, 2, 3, 4};

// [tokens, width], of values within +-1.
Tensor embeddings() {
  Tensor words = random_tensor(Dtype::float64, {4, width}, 17, 1);  // the, dog, chased, another
  Tensor sentence = Tensor::zeros(Dtype::float64, {tokens, width});
  const std::int64_t word_of[] = {0, 1, 2, 3, 1};
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::int64_t i = 0; i < width; ++i) sentence.set(token * width + i, words.at(word_of[token] * width + i));
  }
  return sentence;
}

Tensor sum(const Tensor& x, const Tensor& code) {
  Tensor result = x;
  for (std::int64_t i = 0; i < x.elements(); ++i) result.set(i, x.at(i) + code.at(i));
  return result;
}

// The greatest difference of a channel between the outputs of the two dogs. q, k and v are the input itself.
double difference(Tensor input, const std::optional<PositionEncoding>& position,
                  std::span<const std::int64_t> positions, const Tensor* weight = nullptr) {
  input.shape = {1, 1, tokens, width};
  const Tensor out =
      DotProductAttention({1, 1, width, false, position}).attend({input, input, input, positions, weight});
  double greatest = 0;
  for (std::int64_t i = 0; i < width; ++i)
    greatest = std::max(greatest, std::fabs(out.at(first_dog * width + i) - out.at(second_dog * width + i)));
  return greatest;
}

// |score| <= 8 / sqrt(8), |value| <= 1: both outputs are within this of one true value.
double blindness() {
  return 2 * attention_error({1, 1, width, false, std::nullopt}, tokens, Dtype::float64, {std::sqrt(8.0), 0, 1});
}

// Far beyond any rounding.
constexpr double told_apart = 1e-3;

TEST(EqualTokens, AreTheSameToAttentionWithoutPositions) {
  EXPECT_LE(difference(embeddings(), std::nullopt, {}), blindness());
}

TEST(EqualTokens, AreToldApartByEachCodeAddedToThem) {
  Sinusoidal sinusoidal;
  sinusoidal.dim = width;
  Sinusoidal2d grid;
  grid.dim = width;
  grid.height = 2;
  grid.width = 3;
  SinusoidalNd axes;
  axes.dim = width;
  axes.extents = {2, 3};
  axes.channels = {width / 2, width / 2};
  axes.coordinates = Coordinates::normalized;
  axes.position_offset = 1;
  Fourier features;
  features.axes = 2;
  features.bands = width / 4;
  features.highest = 2;
  const std::vector<std::int64_t> grid_places{0, 0, 0, 1, 1, 0, 1, 2, 0, 1};
  const Tensor x = embeddings();
  const Tensor codes[] = {
      IntegerEncoder({width, true}, tokens).encode(places, Dtype::float64),
      BinaryEncoder({width, false}).encode(places, Dtype::float64),
      SinusoidalEncoder(sinusoidal).encode(places, Dtype::float64),
      Sinusoidal2dEncoder(grid).encode(grid_places, Dtype::float64),
      SinusoidalNdEncoder(axes).encode(grid_places, Dtype::float64),
      FourierEncoder(features).encode(grid_places, Dtype::float64),
      LearnedEncoder({width, tokens}).encode(places, random_tensor(Dtype::float64, {tokens, width}, 18, 1)),
  };
  for (const Tensor& code : codes) EXPECT_GT(difference(sum(x, code), std::nullopt, {}), told_apart);
}

TEST(EqualTokens, AreToldApartByEachRotationAndBias) {
  Rope rope;
  rope.head_dim = rope.rotary_dim = width;
  RopeNd rope_nd;
  rope_nd.rope = rope;
  rope_nd.sections = {2, 2};
  const std::vector<std::int64_t> two_axes{0, 0, 0, 1, 1, 0, 1, 2, 0, 1};
  Xpos xpos;
  xpos.rope = rope;
  const Tensor weight = random_tensor(Dtype::float64, {8, 1}, 19, 1);
  EXPECT_GT(difference(embeddings(), rope, places), told_apart);
  EXPECT_GT(difference(embeddings(), rope_nd, two_axes), told_apart);
  EXPECT_GT(difference(embeddings(), xpos, places), told_apart);
  EXPECT_GT(difference(embeddings(), Alibi{1, Mask::symmetric, AlibiForm::distance}, places), told_apart);
  EXPECT_GT(difference(embeddings(), RelativeBias{8, 20, true}, places, &weight), told_apart);
}

}  // namespace
}  // namespace sextant::attention_equal_tokens_test
