#include "lib/rope/rope.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace sextant::rope_test {
namespace {

Rope small() {
  Rope encoding;
  encoding.head_dim = 4;
  encoding.rotary_dim = 4;
  return encoding;
}

// Rotates one vector at one position, in float64.
std::vector<double> rotated(const Rope& encoding, const std::vector<double>& x, std::int64_t position) {
  Tensor input = Tensor::zeros(Dtype::float64, {1, 1, 1, encoding.head_dim});
  for (std::size_t i = 0; i < x.size(); ++i) input.set(static_cast<std::int64_t>(i), x[i]);
  const Tensor output = RopeEncoder(encoding).rotate(input, std::vector<std::int64_t>{position});
  std::vector<double> values;
  for (std::int64_t i = 0; i < output.elements(); ++i) values.push_back(output.at(i));
  return values;
}

TEST(RopeEncoder, HalfPairingTurnsChannelsHalfTheWidthApart) {
  const std::vector<double> y = rotated(small(), {1, 0, 0, 1}, 3);
  EXPECT_DOUBLE_EQ(y[0], std::cos(3.0));
  EXPECT_DOUBLE_EQ(y[2], std::sin(3.0));
  EXPECT_DOUBLE_EQ(y[1], -std::sin(0.03));
  EXPECT_DOUBLE_EQ(y[3], std::cos(0.03));
}

TEST(RopeEncoder, InterleavedPairingTurnsNeighbours) {
  Rope encoding = small();
  encoding.pairing = encoding.output_pairing = Pairing::interleaved;
  const std::vector<double> y = rotated(encoding, {1, 0, 0, 1}, 3);
  EXPECT_DOUBLE_EQ(y[0], std::cos(3.0));
  EXPECT_DOUBLE_EQ(y[1], std::sin(3.0));
  EXPECT_DOUBLE_EQ(y[2], -std::sin(0.03));
}

TEST(RopeEncoder, OutputPairingMovesTheResult) {
  Rope encoding = small();
  encoding.pairing = Pairing::interleaved;
  const std::vector<double> y = rotated(encoding, {1, 0, 0, 1}, 3);
  EXPECT_DOUBLE_EQ(y[2], std::sin(3.0));
  EXPECT_DOUBLE_EQ(y[1], -std::sin(0.03));
}

TEST(RopeEncoder, ClockwiseIsTheTranspose) {
  Rope encoding = small();
  encoding.direction = Direction::clockwise;
  EXPECT_EQ(rotated(encoding, {1, 2, 3, 4}, 7), rotated(small(), {1, 2, 3, 4}, -7));
}

TEST(RopeEncoder, PartialRotaryUsesTheRotaryWidthForPrefixAndTheFullOneForSpread) {
  Rope prefix;
  prefix.head_dim = 8;
  prefix.rotary_dim = 4;
  std::vector<double> y = rotated(prefix, {0, 1, 0, 0, 5, 6, 7, 8}, 3);
  EXPECT_DOUBLE_EQ(y[1], std::cos(0.03));  // 10000^(-2/4)
  EXPECT_EQ(std::vector<double>(y.begin() + 4, y.end()), (std::vector<double>{5, 6, 7, 8}));
  Rope spread = prefix;
  spread.rotary_layout = RotaryLayout::spread;
  y = rotated(spread, {0, 1, 3, 4, 0, 0, 7, 8}, 3);
  EXPECT_DOUBLE_EQ(y[1], std::cos(0.3));  // 10000^(-2/8)
  EXPECT_DOUBLE_EQ(y[5], std::sin(0.3));
  EXPECT_EQ(y[2], 3);
  EXPECT_EQ(y[7], 8);
}

TEST(RopeEncoder, TheLastChannelsTurnUnderSuffix) {
  Rope suffix;
  suffix.head_dim = 8;
  suffix.rotary_dim = 4;
  suffix.rotary_layout = RotaryLayout::suffix;
  std::vector<double> y = rotated(suffix, {5, 6, 7, 8, 0, 1, 0, 0}, 3);
  EXPECT_EQ(std::vector<double>(y.begin(), y.begin() + 4), (std::vector<double>{5, 6, 7, 8}));
  EXPECT_DOUBLE_EQ(y[5], std::cos(0.03));  // 10000^(-2/4)
  EXPECT_DOUBLE_EQ(y[7], std::sin(0.03));
  suffix.pairing = Pairing::interleaved;
  y = rotated(suffix, {5, 6, 7, 8, 0, 0, 1, 0}, 3);
  EXPECT_DOUBLE_EQ(y[5], std::cos(0.03));  // halves out
  EXPECT_DOUBLE_EQ(y[7], std::sin(0.03));
}

// Layers without positions: bits are copied, NaN's and the sign of zero too, to the output's pairing.
TEST(RopeEncoder, NoneCarriesEveryBit) {
  Rope encoding = small();
  encoding.rope_scaling = NoTurning{};
  Tensor x = Tensor::zeros(Dtype::float32, {2, 3, 2, 4});
  for (std::size_t i = 0; i < x.data.size(); ++i) x.data[i] = static_cast<std::byte>(i * 37 + 1);
  x.set(1, -0.0);
  x.set(2, std::numeric_limits<double>::quiet_NaN());
  const std::vector<std::int64_t> positions{0, 5, 1 << 20, 7, -3, 2};
  EXPECT_EQ(RopeEncoder(encoding).rotate(x, positions).data, x.data);
  EXPECT_EQ(RopeEncoder(encoding).backward(x, positions).data, x.data);
  encoding.pairing = Pairing::interleaved;
  const Tensor moved = RopeEncoder(encoding).rotate(x, positions);
  EXPECT_EQ(RopeEncoder(encoding).backward(moved, positions).data, x.data);
  Tensor in_place = x;
  RopeEncoder(encoding).apply(heads_of(in_place), positions);
  EXPECT_EQ(in_place.data, moved.data);
  EXPECT_EQ(std::memcmp(moved.data.data() + 4, x.data.data() + 8, 4), 0);  // channels 0 2 1 3
  EXPECT_EQ(std::memcmp(moved.data.data() + 8, x.data.data() + 4, 4), 0);
}

// Phi-3.5-MoE: one magnitude for each of the two caches.
TEST(RopeEncoder, EachCacheHasItsMagnitude) {
  Rope encoding = small();
  LongropeScaling longrope{16, {1, 2}, {4, 8}, std::nullopt, std::nullopt};
  longrope.short_mscale = 1.5;
  longrope.long_mscale = 0.75;
  encoding.rope_scaling = longrope;
  EXPECT_DOUBLE_EQ(rotated(encoding, {1, 0, 0, 0}, 15)[0], 1.5 * std::cos(15.0));
  EXPECT_DOUBLE_EQ(rotated(encoding, {1, 0, 0, 0}, 16)[0], 0.75 * std::cos(4.0));
  EXPECT_EQ(rotated(encoding, {1, 2, 3, 4}, 0), (std::vector<double>{1.5, 3, 4.5, 6}));
}

// Count n of steps of s is position n s: half a step at twice the count gives the same bits, under any rule.
TEST(RopeEncoder, RealPositionsAreCountsOfSteps) {
  for (const char* rule :
       {"null", R"({"rope_type":"linear","factor":3})", R"({"rope_type":"ntk","factor":3})",
        R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":64,"truncate":false})",
        R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":64,"low_freq_factor":1,)"
        R"("high_freq_factor":4})"}) {
    const auto of_step = [&](const std::string& fields) {
      return std::get<Rope>(
          parse_spec(R"({"encoding":"rope","head_dim":16)" + fields + R"(,"rope_scaling":)" + rule + "}").encoding);
    };
    const RopeEncoder whole(of_step(""));
    const RopeEncoder real(of_step(R"(,"position_dtype":"float32","position_step":0.0078125)"));
    for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
      Tensor x = Tensor::zeros(dtype, {1, 40, 2, 16});
      for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, static_cast<double>(i * 61 % 127 - 63) / 64);
      std::vector<std::int64_t> positions;
      std::vector<std::int64_t> counts;
      for (std::int64_t p = 0; p < 40; ++p) {
        positions.push_back(p * 1031 - 700);
        counts.push_back(128 * positions.back());
      }
      EXPECT_EQ(real.rotate(x, counts).data, whole.rotate(x, positions).data) << rule;
      EXPECT_EQ(real.backward(x, counts).data, whole.backward(x, positions).data) << rule;
      EXPECT_NE(real.rotate(x, positions).data, whole.rotate(x, positions).data) << rule;
    }
  }
}

TEST(RopeEncoder, EachTokenOfEachRowHasItsOwnPosition) {
  const Tensor x = [] {
    Tensor ones = Tensor::zeros(Dtype::float32, {2, 3, 2, 4});
    for (std::int64_t i = 0; i < ones.elements(); ++i) ones.set(i, 1);
    return ones;
  }();
  const std::vector<std::int64_t> positions{0, 1, 2, 10, 11, 12};
  const Tensor y = RopeEncoder(small()).rotate(x, positions);
  for (std::int64_t token = 0; token < 6; ++token) {
    const auto expected = rotated(small(), {1, 1, 1, 1}, positions[static_cast<std::size_t>(token)]);
    for (std::int64_t i = 0; i < 8; ++i) {
      EXPECT_FLOAT_EQ(static_cast<float>(y.at(token * 8 + i)),
                      static_cast<float>(expected[static_cast<std::size_t>(i % 4)]));
    }
  }
}

TEST(RopeEncoder, NaNStaysInItsPair) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> y = rotated(small(), {nan, 1, 1, 1}, 5);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[2]));
  EXPECT_TRUE(std::isfinite(y[1]) && std::isfinite(y[3]));
}

TEST(RopeEncoder, RefusesShapesThatDoNotFit) {
  const RopeEncoder encoder(small());
  const std::vector<std::int64_t> one{0};
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 1, 1, 6}), one), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 1, 4}), one), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 2, 1, 4}), one), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::int64, {1, 1, 1, 4}), one), std::invalid_argument);
  Rope odd = small();
  odd.rotary_dim = 3;
  EXPECT_THROW(RopeEncoder{odd}, SpecError);
}

}  // namespace
}  // namespace sextant::rope_test
