#include "lib/xpos/xpos.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/xpos/rotate_pairs.hpp"
#include "reference/xpos.hpp"

namespace sextant::xpos_test {
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
  const std::int64_t length = *std::ranges::max_element(positions) + 1;
  for (std::int64_t token = 0; token < x.shape[1]; ++token) {
    const std::int64_t position = positions[static_cast<std::size_t>(token)];
    const std::int64_t start = token * rope.head_dim;
    for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
      const Channels from = channels_of_pair(rope, rope.pairing, pair);
      const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
      const auto turned = [&](Precision precision) {
        return truth.turned(
            position, pair,
            {Enclosure(x.at(start + from.first), precision), Enclosure(x.at(start + from.second), precision)},
            precision, length);
      };
      ASSERT_EQ(y.at(start + to.first), nearest(x.dtype, [&](Precision precision) { return turned(precision).first; }))
          << position << " pair " << pair;
      ASSERT_EQ(y.at(start + to.second),
                nearest(x.dtype, [&](Precision precision) { return turned(precision).second; }))
          << position << " pair " << pair;
    }
    for (const Passthrough& channel : passthrough_channels(rope))
      ASSERT_EQ(y.at(start + channel.output), x.at(start + channel.input));
  }
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

// One value in three of the common size, the others from the whole format and what is no number.
Tensor hard_tensor(Dtype dtype, const std::vector<std::int64_t>& shape, std::int64_t seed) {
  Tensor x = random_tensor(dtype, shape, static_cast<unsigned>(seed));
  const Format format = format_of(dtype);
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    switch (random() % 12) {
      case 0: x.set(i, random() % 2 == 0 ? 0.0 : -0.0); break;
      case 1: x.set(i, random() % 4 == 0 ? std::numeric_limits<double>::infinity() : 0.0); break;
      case 2: x.set(i, random() % 4 == 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0); break;
      case 3: x.set(i, largest_finite(dtype)); break;
      case 4: x.set(i, std::ldexp(x.at(i), format.min_exponent - static_cast<int>(random() % 8))); break;
      case 5:
        x.set(i, std::ldexp(x.at(i), static_cast<int>(random() % static_cast<std::uint64_t>(2 * format.max_exponent)) -
                                         format.max_exponent));
        break;
      default: break;
    }
  }
  return x;
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
      other.rope.rotary_layout = RotaryLayout::suffix;
      expect_truth(other, random_tensor(dtype, {1, 10, 1, 12}, 13), near_positions);
    }
  }
}

// torchscale's and x-transformers' centres, of odd and even lengths, and centres far away: the kernels tell distances
// from those up to 2^53 - 16.
TEST(XposEncoder, EqualsTheOracleFromEachCentre) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::bfloat16}) {
    for (const std::variant<std::int64_t, HalfOfCall> centre :
         {std::variant<std::int64_t, HalfOfCall>(std::int64_t{300}),
          {std::int64_t{-70000}},
          {HalfOfCall::floor},
          {HalfOfCall::ceil}}) {
      for (const Role role : {Role::query, Role::key}) {
        for (const Direction direction : {Direction::counterclockwise, Direction::clockwise}) {
          Xpos encoding = with(16, role);
          encoding.centre = centre;
          encoding.rope.direction = direction;
          for (const std::int64_t last : {16, 17, 1001}) {
            const std::vector<std::int64_t> positions{1, 2, 3, 15, last, 5, -40, last - 1};
            expect_truth(encoding, random_tensor(dtype, {1, 8, 1, encoding.rope.head_dim}, static_cast<unsigned>(last)),
                         positions);
          }
        }
      }
    }
  }
  Xpos far = with(16, Role::query);
  far.scale_base = 1e16;
  for (const std::int64_t centre :
       {(std::int64_t{1} << 53) - 20, (std::int64_t{1} << 53) - 16, std::int64_t{1} << 53}) {
    far.centre = centre;
    expect_truth(far, random_tensor(Dtype::float32, {1, 4, 1, far.rope.head_dim}, 3), {1, 4, -1, 5});
    expect_truth(far, random_tensor(Dtype::float32, {1, 2, 1, far.rope.head_dim}, 3), {centre, -centre});
  }
}

// zeta_3 = 1/2 of 20 channels and zeta_31 = 9/16 of 160: their powers at position 0, which does not turn, are values
// and ties of the dtype, and each is rounded to even.
TEST(XposEncoder, ExactPowersAtPositionZero) {
  const auto at_zero = [](std::int64_t width, std::int64_t centre, std::int64_t pair, double x, Dtype dtype) {
    Xpos encoding;
    encoding.rope.head_dim = encoding.rope.rotary_dim = width;
    encoding.centre = centre;
    Tensor given = Tensor::zeros(dtype, {1, 1, 1, width});
    given.set(pair, x);
    return XposEncoder(encoding).rotate(given, std::vector<std::int64_t>{0}).at(pair);
  };
  EXPECT_EQ(at_zero(20, 512, 3, 0.3125, Dtype::float32), 0.625);
  EXPECT_EQ(at_zero(20, -512, 3, 0.3125, Dtype::float32), 0.15625);
  EXPECT_EQ(at_zero(20, -512, 3, 3 * 0x1p-149, Dtype::float32), 2 * 0x1p-149);  // 1.5 and
  EXPECT_EQ(at_zero(20, -512, 3, 5 * 0x1p-149, Dtype::float32), 2 * 0x1p-149);  // 2.5 least values
  EXPECT_EQ(at_zero(20, -512, 3, 0x1p-149, Dtype::float32), 0);
  EXPECT_EQ(at_zero(20, -1024, 3, -6 * 0x1p-1074, Dtype::float64), -2 * 0x1p-1074);
  EXPECT_EQ(at_zero(160, -256, 31, 2, Dtype::float64), 1.5);
  EXPECT_EQ(at_zero(160, 256, 31, 0.75, Dtype::float64), 1);
  EXPECT_EQ(at_zero(160, -256, 31, 1 + 0x1p-7, Dtype::bfloat16), 0.7578125);  // 0.755859375, a tie
  EXPECT_EQ(at_zero(20, 0, 3, 0.3, Dtype::float64), 0.3);
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
  Xpos fast = with(4, Role::key);
  fast.scale_base = 0.25;
  expect_truth(fast, random_tensor(Dtype::float32, {1, 5, 1, 4}, 6), {0, 1, -2, 7, 15});
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

// The factor of a key is infinite in float64 there, and a product with it no number.
TEST(XposEncoder, ZerosStayZeroWhateverTheFactor) {
  for (const Dtype dtype : floating_dtypes) {
    for (const Role role : {Role::query, Role::key}) {
      const Tensor y = XposEncoder(with(16, role))
                           .rotate(Tensor::zeros(dtype, {1, 3, 1, 16}),
                                   std::vector<std::int64_t>{777, 1000000, std::int64_t{1} << 53});
      for (std::int64_t i = 0; i < y.elements(); ++i) ASSERT_EQ(y.at(i), 0) << i;
    }
  }
}

// Whole vectors, their rests and more than one tile of pairs, values of all sizes, zeros, infinities and NaN: what the
// kernels do against each pair by itself, on every instruction set.
class XposEncoderOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(XposEncoderOn);

TEST_P(XposEncoderOn, EqualsTheTurnOfEachPair) {
  const std::vector<std::int64_t> all{
      2047, 131071, -5000, 1, 15, 16, 17, 5660, 70000, std::int64_t{1} << 22, std::int64_t{1} << 53};
  for (const std::int64_t head_dim : {22, 64, 528}) {
    const std::span<const std::int64_t> positions = std::span(all).first(head_dim == 528 ? 2 : all.size());
    const std::int64_t tokens = std::ssize(positions);
    for (const Dtype dtype : floating_dtypes) {
      Xpos encoding = with(head_dim, head_dim == 64 ? Role::key : Role::query);
      encoding.rope.output_pairing = Pairing::half;
      encoding.rope.direction = head_dim == 22 ? Direction::clockwise : Direction::counterclockwise;
      const XposEncoder encoder(encoding);
      const Tensor x = hard_tensor(dtype, {1, tokens, 2, head_dim}, head_dim);
      const Tensor y = encoder.rotate(x, positions);
      const GeometricRotations rotations(10000, head_dim, head_dim / 2);
      const Sense sense = head_dim == 22 ? Sense::clockwise : Sense::counterclockwise;
      for (std::int64_t pair = 0; pair < head_dim / 2; ++pair) {
        for (std::int64_t token = 0; token < tokens; ++token) {
          const std::int64_t position = positions[static_cast<std::size_t>(token)];
          auto turn = rotations.at(
              pair, position,
              {10 * pair + 2 * head_dim, 7 * head_dim, encoding.role == Role::query ? position : -position, 512});
          for (std::int64_t head = 0; head < 2; ++head) {
            const std::int64_t start = (2 * token + head) * head_dim;
            const TurnedPair expected =
                turned_pair(turn, sense, dtype, x.at(start + 2 * pair), x.at(start + 2 * pair + 1));
            ASSERT_TRUE(same_bits(y.at(start + pair), expected.first))
                << name_of(dtype) << " " << position << " pair " << pair << ": " << y.at(start + pair) << " for "
                << expected.first << " x " << x.at(start + 2 * pair) << " " << x.at(start + 2 * pair + 1);
            ASSERT_TRUE(same_bits(y.at(start + head_dim / 2 + pair), expected.second))
                << name_of(dtype) << " " << position << " pair " << pair;
          }
        }
      }
    }
  }
}

TEST(XposEncoder, WritesToAnyAddress) {
  const XposEncoder encoder(with(64, Role::query));
  const Tensor x = random_tensor(Dtype::float32, {1, 10, 1, 64}, 8);
  std::vector<std::byte> memory(x.data.size() + 1);
  encoder.rotate(x, near_positions, std::span(memory).subspan(1));
  EXPECT_TRUE(std::ranges::equal(encoder.rotate(x, near_positions).data, std::span(memory).subspan(1)));
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

class XposGuardsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(XposGuardsOn);

// zeta_0^p = (2/7)^p passes 2^+-60, the quick tier's end, at 33, 2^+-498 and 2^+-499, double-double's, at 276, and
// 2^+-500, where exponents are held, at 277; slower pairs are then between.
TEST_P(XposGuardsOn, PowersAtBothEnds) {
  for (const Dtype dtype : floating_dtypes) {
    for (const Role role : {Role::query, Role::key}) {
      Xpos encoding = with(16, role);
      encoding.scale_base = 1;
      const std::vector<std::int64_t> positions{-34, -33, 32, 33, 34, 35, -277, -276, 275, 276, 277, 278};
      const std::vector<std::int64_t> shape{1, std::ssize(positions), 1, 16};
      expect_truth(encoding, random_tensor(dtype, shape, 9), positions);
      // Values that such powers bring back into the dtype's range.
      for (const double sign : {1.0, -1.0}) {
        Tensor x = random_tensor(dtype, shape, 10);
        const Format format = format_of(dtype);
        const double exponent = sign > 0 ? format.max_exponent - 2 : format.min_exponent + 2;
        for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, std::ldexp(x.at(i), static_cast<int>(exponent)));
        expect_truth(encoding, x, positions);
      }
      if (HasFatalFailure()) return;
    }
  }
}

// PairBounds of lib/rope/row-inl.h: |x0| + |x1| in [2^-400, 2^400].
TEST_P(XposGuardsOn, MagnitudesAtBothEndsOfDoubleDouble) {
  for (const double end : {0x1p-400, 0x1p400}) {
    for (const double first : {end / 2, std::nextafter(end, 0.0), end, std::nextafter(end, HUGE_VAL)}) {
      for (const double second : {0.0, end / 2, -end / 3}) {
        Tensor x = Tensor::zeros(Dtype::float64, {1, 3, 1, 16});
        for (std::int64_t i = 0; i < x.elements(); i += 2) {
          x.set(i, first);
          x.set(i + 1, second);
        }
        expect_truth(with(16, Role::query), x, {1, -131071, std::int64_t{1} << 20});
        if (HasFatalFailure()) return;
      }
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
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 1, 1, 4}),
                              std::vector<std::int64_t>{-(std::int64_t{1} << 53) - 1}),
               std::out_of_range);
  Xpos stretched = with(4, Role::query);
  stretched.rope.rope_scaling = LinearScaling{2};
  EXPECT_THROW(XposEncoder{stretched}, SpecError);
}

}  // namespace
}  // namespace sextant::xpos_test
