#include "lib/xpos/xpos.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "lib/numeric/truth_test.hpp"
#include "reference/xpos.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;

Xpos with(std::int64_t head_dim, Role role) {
  Xpos encoding;
  encoding.rope.head_dim = head_dim;
  encoding.rope.rotary_dim = head_dim;
  encoding.rope.pairing = encoding.rope.output_pairing = Pairing::interleaved;
  encoding.role = role;
  return encoding;
}

// x: [1, tokens, 1, head_dim]. Channels that no frequency turns must keep their bits.
void expect_truth(const Xpos& encoding, const Tensor& x, const std::vector<std::int64_t>& positions) {
  const Tensor y = XposEncoder(encoding).rotate(x, positions);
  reference::XposReference truth(encoding);
  const Rope& rope = encoding.rope;
  for (std::int64_t token = 0; token < x.shape[1]; ++token) {
    const std::int64_t position = positions[static_cast<std::size_t>(token)];
    const std::int64_t start = token * rope.head_dim;
    for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
      const Channels from = channels_of_pair(rope, rope.pairing, pair);
      const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
      const auto turned = [&](Precision precision) {
        return truth.turned(position, pair, {Enclosure(x.at(start + from.first), precision), Enclosure(x.at(start + from.second), precision)}, precision);
      };
      ASSERT_EQ(y.at(start + to.first), nearest(x.dtype, [&](Precision precision) { return turned(precision).first; })) << position << " pair " << pair;
      ASSERT_EQ(y.at(start + to.second), nearest(x.dtype, [&](Precision precision) { return turned(precision).second; })) << position << " pair " << pair;
    }
    for (const Passthrough& channel : passthrough_channels(rope)) ASSERT_EQ(y.at(start + channel.output), x.at(start + channel.input));
  }
}

const std::vector<std::int64_t> near_positions{0, 1, -1, 5, 511, 512, 4096, -2048, 20000, 131071};

TEST(XposEncoder, EqualsTheOracle) {
  for (const Dtype dtype : floating_dtypes) {
    for (const Role role : {Role::query, Role::key}) {
      expect_truth(with(16, role), random_tensor(dtype, {1, 10, 1, 16}, 1), near_positions);
      Xpos other = with(12, role);
      other.rope.rotary_dim = 8;
      other.rope.output_pairing = Pairing::half;
      other.rope.direction = Direction::clockwise;
      other.scale_base = 77.25;
      expect_truth(other, random_tensor(dtype, {1, 10, 1, 12}, 2), near_positions);
      other.rope.rotary_layout = RotaryLayout::spread;
      expect_truth(other, random_tensor(dtype, {1, 10, 1, 12}, 3), near_positions);
    }
  }
}

TEST(XposEncoder, EqualsTheOracleWhereTheFactorLeavesTheRange) {
  // zeta_0 = 2/7: with scale_base 1 its powers pass each dtype's subnormals and its largest value.
  for (const Dtype dtype : floating_dtypes) {
    for (const Role role : {Role::query, Role::key}) {
      Xpos encoding = with(4, role);
      encoding.scale_base = 1;
      expect_truth(encoding, random_tensor(dtype, {1, 10, 1, 4}, 4), {3, 7, 12, 13, 70, 71, 83, 590, 595, 800});
    }
  }
  Xpos slow = with(4, Role::query);
  slow.scale_base = 1e300;
  expect_truth(slow, random_tensor(Dtype::float64, {1, 3, 1, 4}, 5), {1, 1000, std::int64_t{1} << 53});
}

// The oracle's exponent has bounds too, so beyond them only what the formula says of the limits.
TEST(XposEncoder, FarPositionsGiveZerosAndInfinitiesOfTheRightSign) {
  const Tensor x = random_tensor(Dtype::float32, {1, 1, 1, 4}, 6);
  for (const std::int64_t position : {std::int64_t{1} << 40, std::int64_t{1} << 53}) {
    const Tensor vanished = XposEncoder(with(4, Role::query)).rotate(x, std::vector<std::int64_t>{position});
    const Tensor exploded = XposEncoder(with(4, Role::key)).rotate(x, std::vector<std::int64_t>{position});
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(vanished.at(i), 0);
      EXPECT_TRUE(std::isinf(exploded.at(i)));
      EXPECT_EQ(std::signbit(vanished.at(i)), std::signbit(exploded.at(i)));
    }
  }
}

// <backward(g), x> = <g, rotate(x)> for the real maps: transposed channel by channel, with one factor.
TEST(XposEncoder, BackwardIsTheAdjoint) {
  Xpos encoding = with(12, Role::key);
  encoding.rope.rotary_dim = 8;
  encoding.rope.output_pairing = Pairing::half;
  const XposEncoder encoder(encoding);
  const std::vector<std::int64_t> position{777};
  for (std::int64_t i = 0; i < 12; ++i) {
    for (std::int64_t j = 0; j < 12; ++j) {
      Tensor x = Tensor::zeros(Dtype::float64, {1, 1, 1, 12});
      Tensor grad = x;
      x.set(i, 1);
      grad.set(j, 1);
      EXPECT_EQ(encoder.rotate(x, position).at(j), encoder.backward(grad, position).at(i)) << i << ", " << j;
    }
  }
}

TEST(XposEncoder, TheSameBitsOnAnyNumberOfThreads) {
  const XposEncoder encoder(with(64, Role::query));
  const Tensor x = random_tensor(Dtype::float16, {2, 5, 3, 64}, 7);
  expect_same_on_threads([&] { return encoder.rotate(x, near_positions); });
}

TEST(XposEncoder, RefusesWhatDoesNotFit) {
  const XposEncoder encoder(with(4, Role::query));
  const std::vector<std::int64_t> one{0};
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 1, 1, 6}), one), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::int64, {1, 1, 1, 4}), one), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 2, 1, 4}), one), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 1, 1, 4}), std::vector<std::int64_t>{-(std::int64_t{1} << 53) - 1}), std::out_of_range);
  Xpos stretched = with(4, Role::query);
  stretched.rope.rope_scaling = LinearScaling{2};
  EXPECT_THROW(XposEncoder{stretched}, SpecError);
}

}  // namespace
}  // namespace sextant
