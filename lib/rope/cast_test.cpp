#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>

#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/strided_heads_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/numeric/ulp.hpp"
#include "lib/rope/oracle_test.hpp"
#include "lib/rope/rope.hpp"

// Results of another dtype than x: the oracle's nearest values, ties of the wider dtype among them, in any memory.

namespace sextant::rope_cast_test {
namespace {

class RopeCastOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(RopeCastOn);

Tensor turned(const RopeEncoder& encoder, const Tensor& x, std::span<const std::int64_t> positions, Dtype dtype,
              Rounding rounding = Rounding::certified) {
  Tensor y = Tensor::zeros(dtype, x.shape);
  encoder.apply(heads_of(x), positions, heads_of(y), rounding);
  return y;
}

// Mostly of common size, some that are subnormal or beyond the range of a narrower dtype, some zero.
Tensor drawn(Dtype dtype, std::vector<std::int64_t> shape, unsigned seed) {
  Tensor x = Tensor::zeros(dtype, std::move(shape));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(-2, 2);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    double value = unit(random);
    if (random() % 4 == 0) value = std::ldexp(value, static_cast<int>(random() % 44) - 27);
    if (random() % 16 == 0) value = std::ldexp(value, random() % 2 == 0 ? -133 : 125);
    if (random() % 32 == 0) value = std::copysign(0.0, value);
    x.set(i, std::clamp(value, -largest_finite(dtype), largest_finite(dtype)));
  }
  return x;
}

void expect_oracle(const Rope& encoding, const Tensor& x, const std::vector<std::int64_t>& positions, const Tensor& y) {
  PairOracle oracle(encoding);
  const std::int64_t heads = x.shape[2];
  const std::int64_t length = reference::sequence_length(positions);
  for (std::int64_t row = 0; row < std::ssize(positions) * heads; ++row) {
    const std::int64_t position = positions[static_cast<std::size_t>(row / heads)];
    const auto expect = [&](std::int64_t channel, double truth) {
      const double got = y.at(row * encoding.head_dim + channel);
      ASSERT_TRUE(got == truth && std::signbit(got) == std::signbit(truth))
          << name_of(x.dtype) << " to " << name_of(y.dtype) << ", position " << position << ", channel " << channel
          << ": " << std::hexfloat << got << ", the nearest is " << truth;
    };
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
      const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
      const auto truth = oracle.rotated(y.dtype, position, pair, length, x.at(row * encoding.head_dim + from.first),
                                        x.at(row * encoding.head_dim + from.second));
      expect(to.first, truth.first);
      expect(to.second, truth.second);
    }
    for (const Passthrough& channel : passthrough_channels(encoding))
      expect(channel.output, round_to(y.dtype, x.at(row * encoding.head_dim + channel.input)));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(RopeCastOn, IsTheOraclesNearestValueOfAnyDtype) {
  const std::vector<std::int64_t> positions{0, 1, 2, 131071, -3, std::int64_t{1} << 53};
  for (const char* fields :
       {R"("head_dim":40)", R"("head_dim":40,"pairing":"interleaved","direction":"clockwise")",
        R"("head_dim":40,"rotary_dim":34,"output_pairing":"interleaved")",
        R"("head_dim":40,"rotary_dim":18,"rotary_layout":"spread","pairing":"interleaved","output_pairing":"half")",
        R"("head_dim":40,"rope_scaling":{"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096,)"
        R"("attention_factor":1.25})"}) {
    const Rope encoding = rope_of(fields);
    const RopeEncoder encoder(encoding);
    for (const Dtype from : floating_dtypes) {
      const Tensor x = drawn(from, {1, std::ssize(positions), 2, encoding.head_dim}, 11);
      for (const Dtype to : floating_dtypes) {
        if (from == to) continue;
        expect_oracle(encoding, x, positions, turned(encoder, x, positions, to));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// More pairs than a tile of frequencies has, whose places change.
TEST_P(RopeCastOn, WritesEveryHeadOfLongOnes) {
  const std::vector<std::int64_t> positions{5, 6, 9};
  const Rope encoding = rope_of(R"("head_dim":518,"rotary_dim":516,"pairing":"interleaved","output_pairing":"half")");
  const RopeEncoder encoder(encoding);
  for (const Dtype from : floating_dtypes) {
    const Tensor x = drawn(from, {1, std::ssize(positions), 3, encoding.head_dim}, 12);
    for (const Dtype to : floating_dtypes) {
      if (from == to) continue;
      expect_oracle(encoding, x, positions, turned(encoder, x, positions, to));
      if (HasFatalFailure()) return;
    }
  }
}

// Every result whose nearest float is a tie of the narrower dtype, among a million: rounding twice is wrong in about
// half of them.
TEST_P(RopeCastOn, TiesOfTheWiderDtypeAreDecidedByTheRealNumber) {
  const Rope encoding = rope_of(R"("head_dim":128)");
  const RopeEncoder encoder(encoding);
  PairOracle oracle(encoding);
  std::vector<std::int64_t> positions(64);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = 1 + static_cast<std::int64_t>(i) * 1031;
  Tensor x = Tensor::zeros(Dtype::float32, {1, 64, 128, 128});
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-2, 2);
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, unit(random));
  const Tensor wide = encoder.rotate(x, positions);
  for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
    const Tensor y = turned(encoder, x, positions, dtype);
    const double places = std::ldexp(1.0, format_of(dtype).precision);
    std::int64_t ties = 0;
    std::int64_t wrong_by_two = 0;
    for (std::int64_t i = 0; i < wide.elements(); ++i) {
      const double value = wide.at(i);
      const double twice = std::ldexp(std::fabs(value), -std::ilogb(value)) * places;  // an odd whole number at a tie
      if (std::fabs(value) < 0x1p-14) continue;
      if (twice != std::floor(twice) || std::fmod(twice, 2) == 0) {
        ASSERT_EQ(y.at(i), round_to(dtype, value));
        continue;
      }
      const std::int64_t row = i / 128 * 128;
      const std::int64_t pair = i % 64;
      const auto truth = oracle.rotated(dtype, positions[static_cast<std::size_t>(row / 128 / 128)], pair, 1,
                                        x.at(row + pair), x.at(row + pair + 64));
      const double nearest = i % 128 < 64 ? truth.first : truth.second;
      ASSERT_EQ(y.at(i), nearest) << name_of(dtype) << ' ' << std::hexfloat << value;
      ++ties;
      wrong_by_two += round_to(dtype, value) != nearest ? 1 : 0;
    }
    EXPECT_GE(ties, 5) << name_of(dtype);
    EXPECT_GE(wrong_by_two, 2) << name_of(dtype);
  }
}

// More than the caches hold, where heads begin with a line: past the caches, ties and values that are subnormal among
// them.
TEST_P(RopeCastOn, StreamedResultsAreTheSame) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  const RopeEncoder encoder(rope_of(R"("head_dim":96,"rotary_dim":64)"));
  std::vector<std::int64_t> positions(96);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i) * 57;
  const Tensor x = drawn(Dtype::float32, {1, std::ssize(positions), 128, 96}, 2);
  for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
    const Tensor dense = turned(encoder, x, positions, dtype);
    std::vector<Line> lines(dense.data.size() / sizeof(Line));
    Heads slots = heads_of(dense, {lines.front().bytes, dense.data.size()});
    encoder.apply(heads_of(x), positions, slots);
    EXPECT_EQ(std::memcmp(lines.data(), dense.data.data(), dense.data.size()), 0) << name_of(dtype);
    // The same with every head off the line.
    std::vector<Line> shifted(lines.size() + 1);
    slots.data = shifted.front().bytes + 2;
    encoder.apply(heads_of(x), positions, slots);
    EXPECT_EQ(std::memcmp(slots.data, dense.data.data(), dense.data.size()), 0) << name_of(dtype);
  }
}

// At position 0 with a factor of 1.25 products are ties themselves: to even.
TEST_P(RopeCastOn, ExactTiesGoToEven) {
  const Rope encoding =
      rope_of(R"("head_dim":2,"rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":16,)"
              R"("attention_factor":1.25})");
  const RopeEncoder encoder(encoding);
  for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
    const double u = unit_roundoff(dtype);
    Tensor x = Tensor::zeros(Dtype::float32, {1, 1, 1, 2});
    for (const double target : {1.25 * (1 + 4 * u), 1.25 * (1 + 4 * u) + 0x1p-20}) {
      x.set(0, target / 1.25);
      x.set(1, -5 * u);
      const Tensor y = turned(encoder, x, std::vector<std::int64_t>{0}, dtype);
      EXPECT_EQ(y.at(0), round_to(dtype, 1.25 * x.at(0))) << name_of(dtype);
      EXPECT_EQ(y.at(1), round_to(dtype, 1.25 * x.at(1))) << name_of(dtype);
    }
  }
}

// Bits of every kind into slots with gaps, against either guard page, and by one thread's blocks of any shape.
TEST_P(RopeCastOn, TouchesNothingButTheSlots) {
  for (const std::int64_t width : {2, 18, 34, 66, 130}) {
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
      Rope encoding;
      encoding.head_dim = width + 2;
      encoding.rotary_dim = width;
      encoding.pairing = pairing;
      const RopeEncoder encoder(encoding);
      const std::vector<std::int64_t> positions{5, 0, 70001, 7};
      for (const Dtype from : floating_dtypes) {
        const Tensor x = tensor_of_bits(from, {2, 2, 3, encoding.head_dim}, 3);
        for (const Dtype to : floating_dtypes) {
          if (from == to) continue;
          const Tensor expected = turned(encoder, x, positions, to);
          StridedHeads slots(Tensor::zeros(to, x.shape));
          const StridedHeads source(x);
          encoder.apply(read_only(source.view()), positions, slots.view());
          ASSERT_EQ(slots.dense().data, expected.data) << name_of(from) << " to " << name_of(to) << ": strided";
          for (const auto against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
            GuardedBytes guarded_x(x.data.size(), against);
            GuardedBytes guarded_y(expected.data.size(), against);
            std::memcpy(guarded_x.data(), x.data.data(), x.data.size());
            ConstHeads in = heads_of(x);
            in.data = guarded_x.data();
            Heads out = slots.view();
            out.data = guarded_y.data();
            out.head_stride = in.head_stride;
            out.token_stride = in.token_stride;
            out.batch_stride = in.batch_stride;
            encoder.apply(in, positions, out);
            ASSERT_EQ(std::memcmp(guarded_y.data(), expected.data.data(), expected.data.size()), 0)
                << name_of(from) << " to " << name_of(to);
          }
        }
      }
    }
  }
}

TEST_P(RopeCastOn, NaNIsCanonicalAndInfinityStaysInItsPair) {
  const Rope encoding =
      rope_of(R"("head_dim":6,"rotary_dim":4,"pairing":"interleaved","output_pairing":"interleaved")");
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x{-infinity, 1, 1, 2, 0, 1e30F};
  const std::uint32_t signalling = 0xFFA12345U;
  std::memcpy(&x[4], &signalling, sizeof signalling);
  std::vector<std::uint16_t> y(6);
  RopeEncoder(encoding).apply(
      ConstHeads{Dtype::float32, reinterpret_cast<const std::byte*>(x.data()), 1, 1, 1, 6, 6, 6, 6},
      std::vector<std::int64_t>{1}, Heads{Dtype::float16, reinterpret_cast<std::byte*>(y.data()), 1, 1, 1, 6, 6, 6, 6});
  EXPECT_EQ(y[0], 0xFC00U);  // -inf cos - sin
  EXPECT_EQ(y[1], 0xFC00U);  // -inf sin + cos
  EXPECT_EQ(y[4], 0x7E00U);
  EXPECT_EQ(y[5], 0x7C00U);
}

// The wider dtype's bound and half a ULP more: of 16 bits below 0.5 + 2.51 2^-13.
TEST_P(RopeCastOn, FastIsWithinItsStatedBound) {
  const Rope encoding = rope_of(R"("head_dim":128,"pairing":"interleaved","output_pairing":"interleaved")");
  const RopeEncoder encoder(encoding);
  const std::vector<std::int64_t> positions{0, 1, 77, 131071};
  const Tensor x = random_tensor(Dtype::float32, {1, 4, 32, 128}, 9);
  const Tensor exact = encoder.rotate(in_float64(x), positions);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const Tensor y = turned(encoder, x, positions, dtype, Rounding::fast);
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      const double norm = std::hypot(x.at(i / 2 * 2), x.at(i / 2 * 2 + 1));
      ASSERT_LE(std::fabs(y.at(i) - exact.at(i)), (0.5 + 2.51 * 0x1p-13) * ulp(dtype, norm)) << name_of(dtype);
    }
  }
}

TEST(RopeCast, CarriesWhatDoesNotTurnAndRefusesByName) {
  const Rope none = rope_of(R"("head_dim":4,"output_pairing":"interleaved","rope_scaling":{"rope_type":"none"})");
  Tensor x = Tensor::zeros(Dtype::float32, {1, 1, 1, 4});
  for (std::int64_t i = 0; i < 4; ++i) x.set(i, 1 + 0x1p-8 * static_cast<double>(2 * i + 1));
  const RopeEncoder carrying(none);
  const std::vector<std::int64_t> positions{3};
  const Tensor y = turned(carrying, x, positions, Dtype::bfloat16);
  for (const Passthrough& channel : passthrough_channels(none))
    EXPECT_EQ(y.at(channel.output), round_to(Dtype::bfloat16, x.at(channel.input)));

  const RopeEncoder encoder(rope_of(R"("head_dim":4)"));
  const auto refusal = [&](const Heads& to) -> std::string {
    const Tensor before = x;
    try {
      encoder.apply(read_only(heads_of(x)), positions, to);
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(x.data, before.data);
      return error.what();
    }
    return "accepted";
  };
  Heads same = heads_of(x);
  same.dtype = Dtype::bfloat16;
  EXPECT_EQ(refusal(same), "RopeEncoder: y: overlaps x, which has another dtype");
  same.dtype = Dtype::int64;
  EXPECT_EQ(refusal(same), "RopeEncoder: y: dtype int64 is not a floating dtype");
  Tensor other = Tensor::zeros(Dtype::float16, x.shape);
  EXPECT_THROW(encoder.backward(read_only(heads_of(x)), positions, heads_of(other)), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::rope_cast_test
