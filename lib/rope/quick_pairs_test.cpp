#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "lib/kernels/target_test.hpp"
#include "lib/rope/oracle_test.hpp"
#include "lib/rope/rope.hpp"

// Pairs for which the arithmetic of the quick tier rounds to the wrong neighbour, so that its certificate must not
// hold: found among 2^31 values in float32 and 2^25 or more in each 16-bit type by comparing what it computes with what
// is certified. In some one y is small beside the other, in some not.

namespace sextant::rope_quick_pairs_test {
namespace {

struct Case {
  std::int64_t position;
  std::int64_t pair;
  double first;
  double second;
};

constexpr Case wrong_in_double[] = {
    {9183, 54, 0x1.add9c6p+0, 0x1.df820cp+0},     {48109, 24, -0x1.d06f1ap+0, 0x1.e732dep+0},
    {64045, 44, 0x1.71315ap+0, 0x1.6beeb2p+0},    {76017, 48, 0x1.838282p+0, -0x1.13ee76p+0},
    {81226, 3, 0x1.ef8e6ep+0, 0x1.872bcap+0},     {100168, 57, 0x1.a62766p+0, 0x1.dae6fap+0},
    {107829, 51, 0x1.7449b6p+0, 0x1.230e8cp+0},   {207444, 12, -0x1.d958c2p+0, 0x1.c080d8p+0},
    {208665, 33, -0x1.0e75dap+0, -0x1.ba6cb2p+0}, {243266, 8, 0x1.bc5afep+0, 0x1.612bbp+0},
    {266778, 46, -0x1.80e05cp+0, 0x1.69965cp+0},  {278555, 57, 0x1.ef9e9p+0, 0x1.983258p+0},
    {286646, 55, 0x1.cf52f8p+0, 0x1.277184p+0},   {335126, 9, -0x1.7834e2p+0, -0x1.19b86cp+0},
    {407730, 46, -0x1.737278p+0, -0x1.c67238p+0},
};

// The same where the row is turned from the one before.
constexpr Case wrong_in_double_of_next_row[] = {{160881, 46, 0x1.de772p+1, 0x1.94f4bap+1},
                                                {314703, 57, 0x1.266dacp+1, 0x1.01defcp-1},
                                                {266908, 34, -0x1.36edf8p-2, -0x1.c10fa4p-1},
                                                {409780, 50, 0x1.68e428p-1, 0x1.dd7d1ep-2}};

constexpr Case wrong_in_float16[] = {
    {2194, 52, -0x1.e18p+0, -0x1.f5p+1},  {7013, 32, -0x1.078p-2, -0x1.b98p-1}, {5750, 26, 0x1.654p+0, -0x1.f3cp-1},
    {4774, 5, -0x1.7fcp+1, -0x1.fd8p+0},  {356, 53, 0x1.314p+0, -0x1.938p+1},   {6988, 24, 0x1.3b8p+0, -0x1.b18p-1},
    {1128, 30, 0x1.198p+1, 0x1.204p-1},   {1349, 44, -0x1.1cp+0, -0x1.c64p-2},  {5638, 27, 0x1.f34p-1, 0x1.dccp-1},
    {4436, 60, 0x1.4ep+1, 0x1.94p+0},     {5356, 13, 0x1.7dcp-1, 0x1.39cp+1},   {1022, 14, -0x1.23p+0, -0x1.3a8p-1},
    {7571, 46, -0x1.35cp+0, -0x1.bb4p+0}, {5759, 62, -0x1.fc8p-1, -0x1.07p+0}};

constexpr Case wrong_in_bfloat16[] = {
    {16787, 34, -0x1.04p+0, -0x1.4ap-1}, {20439, 1, 0x1.0ap+0, -0x1.f4p-2},   {28916, 19, 0x1.2ap+0, 0x1.38p-2},
    {63194, 40, 0x1.d8p-2, -0x1.c8p+0},  {47242, 29, 0x1.ep-1, 0x1.42p-2},    {60502, 59, -0x1.cap-1, 0x1.3cp-2},
    {41362, 9, -0x1.4cp-2, 0x1.54p-2},   {23237, 30, 0x1.7ep-1, 0x1.8cp-1},   {27344, 16, -0x1.82p+0, 0x1.04p+1},
    {60868, 61, 0x1.e6p+0, -0x1.52p-2},  {41609, 17, -0x1.16p+0, -0x1.b6p-2}, {21810, 30, 0x1.3cp+0, 0x1.b4p+1},
    {59979, 52, 0x1.1ep+1, -0x1.ep+0},   {46722, 53, 0x1.68p+1, 0x1.7ap+1}};

class QuickPairsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(QuickPairsOn);

// The pair in question in the first head of the last of some tokens, among others, so that all vectors are full. Of
// four tokens with so many heads the last two have rows turned from the ones before.
void expect_oracle(Dtype dtype, Pairing pairing, std::int64_t tokens, const Case& given) {
  constexpr std::int64_t heads = 16;
  Rope encoding = rope_of(R"("head_dim":128)");
  encoding.pairing = encoding.output_pairing = pairing;
  const Channels channels = channels_of_pair(encoding, pairing, given.pair);
  Tensor x = Tensor::zeros(dtype, {1, tokens, heads, 128});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, 1 + static_cast<double>(i % 128) / 128);
  const std::int64_t head = (tokens - 1) * heads * 128;
  x.set(head + channels.first, given.first);
  x.set(head + channels.second, given.second);
  std::vector<std::int64_t> positions;
  for (std::int64_t token = 1; token <= tokens; ++token) positions.push_back(given.position - tokens + token);
  const Tensor y = RopeEncoder(encoding).rotate(x, positions);
  const PairOracle::Values truth =
      PairOracle(encoding).rotated(dtype, given.position, given.pair, 1, given.first, given.second);
  EXPECT_EQ(y.at(head + channels.first), truth.first)
      << given.position << " pair " << given.pair << ", " << tokens << " tokens";
  EXPECT_EQ(y.at(head + channels.second), truth.second)
      << given.position << " pair " << given.pair << ", " << tokens << " tokens";
}

TEST_P(QuickPairsOn, PairsThatItsArithmeticRoundsWronglyAreSeen) {
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    for (const std::int64_t tokens : {1, 4}) {
      for (const Case& given : wrong_in_double) expect_oracle(Dtype::float32, pairing, tokens, given);
      for (const Case& given : wrong_in_double_of_next_row) expect_oracle(Dtype::float32, pairing, tokens, given);
      for (const Case& given : wrong_in_float16) expect_oracle(Dtype::float16, pairing, tokens, given);
      for (const Case& given : wrong_in_bfloat16) expect_oracle(Dtype::bfloat16, pairing, tokens, given);
    }
  }
}

// One y of each pair is 2^-14 to 2^-17 of the other, so that its last places are small beside what is lost: of those
// that are within 2^-10 of a place from a tie, which are compared, some are within the error. No row is turned from the
// one before, which would lose less.
TEST_P(QuickPairsOn, OfASmallOneTheTiesAreFartherAway) {
  constexpr std::int64_t heads = 16;
  constexpr std::int64_t pairs = 64;
  constexpr std::int64_t tokens = 512;
  std::vector<std::int64_t> positions;
  for (std::int64_t token = 0; token < tokens; ++token) positions.push_back(9183 + token * token);
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    Rope encoding = rope_of(R"("head_dim":128)");
    encoding.pairing = encoding.output_pairing = pairing;
    PairOracle oracle(encoding);
    Tensor x = Tensor::zeros(Dtype::float32, {1, tokens, heads, 2 * pairs});
    struct Near {
      std::int64_t position;
      std::int64_t pair;
      std::int64_t first;
      std::int64_t second;
    };
    std::vector<Near> near;
    for (std::int64_t i = 0; i < tokens * heads * pairs; ++i) {
      const Channels channels = channels_of_pair(encoding, pairing, i % pairs);
      const std::int64_t head = i / pairs * 2 * pairs;
      const std::int64_t position = positions[static_cast<std::size_t>(i / pairs / heads)];
      const double angle = static_cast<double>(position) * std::pow(10000.0, -static_cast<double>(i % pairs) / pairs);
      const double c = std::cos(angle);
      const double s = std::sin(angle);
      // What turns into (small, 1), nearly.
      const double small = std::ldexp(1 + static_cast<double>(i % 251) / 251, -14 - static_cast<int>(i / 7 % 4));
      const double first = static_cast<float>(small * c + s);
      const double second = static_cast<float>(c - small * s);
      x.set(head + channels.first, first);
      x.set(head + channels.second, second);
      int exponent = 0;
      const double places = std::ldexp(std::frexp(first * c - second * s, &exponent), 24);
      if (std::fabs(std::fabs(places - std::round(places)) - 0.5) < 0x1p-10)
        near.push_back({position, i % pairs, head + channels.first, head + channels.second});
    }
    EXPECT_GE(near.size(), 500U);
    const Tensor y = RopeEncoder(encoding).rotate(x, positions);
    for (const Near& at : near) {
      const PairOracle::Values truth =
          oracle.rotated(Dtype::float32, at.position, at.pair, tokens, x.at(at.first), x.at(at.second));
      ASSERT_EQ(y.at(at.first), truth.first) << at.position << " pair " << at.pair;
      ASSERT_EQ(y.at(at.second), truth.second) << at.position << " pair " << at.pair;
    }
  }
}

// One vector of pairs at a time is left to the next tier: its neighbours, and what is not finite, zero or near the ends
// of the format, come out right.
TEST_P(QuickPairsOn, OnePairThatIsLeftOpenDisturbsNoOther) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const double least = std::ldexp(1.0, format_of(dtype).min_exponent);
    const double largest = largest_finite(dtype);
    const std::pair<double, double> odd[] = {{0.0, 0.0},         {-0.0, 0.0},         {0.0, 1.5},
                                             {largest, largest}, {largest, -largest}, {least, least},
                                             {least / 2, least}, {least, 2.0},        {least * 4, least * 3},
                                             {infinity, 1.0},    {1.0, -infinity},    {1.0, least / 4}};
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
      Rope encoding = rope_of(R"("head_dim":128)");
      encoding.pairing = encoding.output_pairing = pairing;
      const RopeEncoder encoder(encoding);
      PairOracle oracle(encoding);
      const std::vector<std::int64_t> positions{7};
      Tensor plain = Tensor::zeros(dtype, {1, 1, 1, 128});
      for (std::int64_t channel = 0; channel < 128; ++channel)
        plain.set(channel, 1 + static_cast<double>(channel) / 128);
      const Tensor undisturbed = encoder.rotate(plain, positions);
      std::int64_t pair = 3;
      for (const auto& [first, second] : odd) {
        pair = (pair + 5) % 64;
        const Channels channels = channels_of_pair(encoding, pairing, pair);
        Tensor x = plain;
        x.set(channels.first, first);
        x.set(channels.second, second);
        const Tensor y = encoder.rotate(x, positions);
        if (std::isfinite(first) && std::isfinite(second)) {
          const PairOracle::Values truth = oracle.rotated(dtype, 7, pair, 1, first, second);
          EXPECT_EQ(y.at(channels.first), truth.first)
              << name_of(dtype) << " pair " << pair << ": " << first << ", " << second;
          EXPECT_EQ(y.at(channels.second), truth.second)
              << name_of(dtype) << " pair " << pair << ": " << first << ", " << second;
        } else {
          EXPECT_TRUE(std::isinf(y.at(channels.first))) << name_of(dtype) << " pair " << pair;
          EXPECT_TRUE(std::isinf(y.at(channels.second))) << name_of(dtype) << " pair " << pair;
        }
        for (std::int64_t channel = 0; channel < 128; ++channel) {
          if (channel == channels.first || channel == channels.second) continue;
          ASSERT_EQ(y.at(channel), undisturbed.at(channel))
              << name_of(dtype) << " channel " << channel << " beside pair " << pair;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant::rope_quick_pairs_test
