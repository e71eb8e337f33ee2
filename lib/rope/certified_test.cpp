#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "lib/kernels/target_test.hpp"
#include "lib/rope/frequencies.hpp"
#include "lib/rope/oracle_test.hpp"
#include "lib/rope/rope.hpp"

// Rounding::certified against the oracle, on every instruction set: every scaling rule, dtype, pairing, direction and
// layout, by the exact tier.

namespace sextant::rope_certified_test {
namespace {

constexpr Dtype dtypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64};
constexpr Pairing pairings[] = {Pairing::half, Pairing::interleaved};

struct Setting {
  const char* name;
  Rope encoding;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> list = [] {
    const auto scaled = [](const std::string& fields, const std::string& rule) {
      return rope_of(fields + R"(,"rope_scaling":)" + rule);
    };
    return std::vector<Setting>{
        {"default", rope_of(R"("head_dim":64)")},
        {"one pair", rope_of(R"("head_dim":2)")},
        {"prefix", rope_of(R"("head_dim":46,"rotary_dim":34,"rope_theta":77777.25)")},
        {"spread", rope_of(R"("head_dim":40,"rotary_dim":18,"rotary_layout":"spread")")},
        {"suffix", rope_of(R"("head_dim":46,"rotary_dim":34,"rotary_layout":"suffix")")},
        {"suffix, two pairings", rope_of(
                                     R"("head_dim":46,"rotary_dim":34,"rotary_layout":"suffix","pairing":"interleaved",
                "output_pairing":"half")")},
        {"huge base", rope_of(R"("head_dim":12,"rope_theta":1e308)")},
        {"base 1", rope_of(R"("head_dim":4,"rope_theta":1)")},
        {"linear", scaled(R"("head_dim":20)", R"({"rope_type":"linear","factor":8})")},
        {"ntk", scaled(R"("head_dim":20)", R"({"rope_type":"ntk","factor":8})")},
        {"dynamic",
         scaled(R"("head_dim":20)", R"({"rope_type":"dynamic","factor":2,"original_max_position_embeddings":2048})")},
        {"yarn", scaled(R"("head_dim":64,"rope_theta":1000000)",
                        R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":32768})")},
        {"yarn, not truncated",
         scaled(R"("head_dim":20)",
                R"({"rope_type":"yarn","factor":32,"original_max_position_embeddings":4096,"truncate":false})")},
        {"yarn, two mscales",
         scaled(R"("head_dim":20)", R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096,)"
                                    R"("mscale":0.707,"mscale_all_dim":1.25})")},
        {"yarn, factor 1.25",
         scaled(R"("head_dim":20)",
                R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096,"attention_factor":1.25})")},
        {"yarn, factor 1e-250",
         scaled(
             R"("head_dim":4)",
             R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096,"attention_factor":1e-250})")},
        {"yarn, factor 1e30",
         scaled(R"("head_dim":4)",
                R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096,"attention_factor":1e30})")},
        {"longrope", scaled(R"("head_dim":8)",
                            R"({"rope_type":"longrope","factor":32,"original_max_position_embeddings":4096,
                                "short_factor":[1,1,1.05,1.1],"long_factor":[1,1.5,2.25,4]})")},
        {"llama3", scaled(R"("head_dim":32,"rope_theta":500000)",
                          R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,)"
                          R"("low_freq_factor":1,"high_freq_factor":4})")},
        {"proportional",
         scaled(R"("head_dim":16,"partial_rotary_factor":0.25)", R"({"rope_type":"proportional","factor":2})")},
    };
  }();
  return list;
}

// Calls of different lengths: the rules that look at it take other frequencies.
const std::vector<std::vector<std::int64_t>>& calls() {
  static const std::vector<std::vector<std::int64_t>> list{
      {0, 1, 2, -3},
      {131071, 5, 4095, 4096},
      {(std::int64_t{1} << 31) + 1, std::int64_t{1} << 40, std::int64_t{1} << 53, -(std::int64_t{1} << 53)},
  };
  return list;
}

double largest(Dtype dtype) { return largest_finite(dtype); }

// A value of the dtype for channel `c` of pair `pair`, head `head`: mostly of common size, some near the ends of the
// format, some zero. The ends of float64 are left to the last tier, half a millisecond each: `ends` says whether they
// are drawn.
enum class Ends { left_out, drawn };
double element(Dtype dtype, std::mt19937_64& random, std::int64_t head, Ends ends) {
  std::uniform_real_distribution<double> unit(-2, 2);
  const Format format = format_of(dtype);
  double value = unit(random);
  switch (head) {
    case 0: break;
    case 1: value = std::ldexp(value, static_cast<int>(random() % 60) - 40); break;
    case 2: {
      if (ends == Ends::left_out) break;
      // The ends of the format, and zeros.
      const int exponents[] = {format.min_exponent - format.precision + 2, format.min_exponent, format.max_exponent,
                               format.max_exponent, 0};
      value = std::ldexp(value, exponents[random() % 5] - 1);
      if (random() % 5 == 0) value = std::copysign(0.0, value);
      break;
    }
    default: break;
  }
  return std::clamp(round_to(dtype, value), -largest(dtype), largest(dtype));
}

class CertifiedRopeOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(CertifiedRopeOn);

constexpr std::int64_t heads = 3;

enum class Pass { forward, backward };

// Element i of the row-major [tokens, heads, head_dim].
std::int64_t at(const Rope& encoding, std::int64_t token, std::int64_t head, std::int64_t channel) {
  return (token * heads + head) * encoding.head_dim + channel;
}

void expect_oracle(const Setting& setting, const Rope& encoding, Dtype dtype, Pass pass,
                   std::span<const std::int64_t> positions, const Tensor& x, const Tensor& y,
                   const std::vector<PairOracle::Values>& truth) {
  const bool forward = pass == Pass::forward;
  const Pairing in = forward ? encoding.pairing : encoding.output_pairing;
  const Pairing out = forward ? encoding.output_pairing : encoding.pairing;
  Tensor expected = Tensor::zeros(dtype, x.shape);
  for (std::int64_t token = 0; token < std::ssize(positions); ++token) {
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const PairOracle::Values& value =
            truth[static_cast<std::size_t>((token * heads + head) * pairs(encoding) + pair)];
        const Channels to = channels_of_pair(encoding, out, pair);
        expected.set(at(encoding, token, head, to.first), value.first);
        expected.set(at(encoding, token, head, to.second), value.second);
      }
      Rope passing = encoding;
      passing.pairing = in;
      passing.output_pairing = out;
      for (const Passthrough& channel : passthrough_channels(passing)) {
        expected.set(at(encoding, token, head, channel.output), x.at(at(encoding, token, head, channel.input)));
      }
    }
  }
  if (y.data == expected.data) return;
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    const std::size_t byte = static_cast<std::size_t>(i) * size_of(dtype);
    if (std::memcmp(&y.data[byte], &expected.data[byte], size_of(dtype)) == 0) continue;
    ADD_FAILURE() << setting.name << ' ' << name_of(dtype) << (forward ? " forward" : " backward") << " pairings "
                  << static_cast<int>(in) << static_cast<int>(out) << " direction "
                  << static_cast<int>(encoding.direction) << " position "
                  << positions[static_cast<std::size_t>(i / encoding.head_dim / heads)] << " head "
                  << i / encoding.head_dim % heads << " channel " << i % encoding.head_dim << ": " << std::hexfloat
                  << y.at(i) << ", the nearest is " << expected.at(i);
    return;
  }
}

void check_setting(const Setting& setting, Dtype dtype, Direction direction, Pass pass) {
  Rope encoding = setting.encoding;
  encoding.direction = direction;
  // The adjoint turns the other way.
  Rope turned = encoding;
  if (pass == Pass::backward)
    turned.direction = direction == Direction::clockwise ? Direction::counterclockwise : Direction::clockwise;
  PairOracle oracle(turned);
  std::mt19937_64 random(7);
  // A factor beyond [2^-20, 2^20] sends every pair to the last tier: one call and one pairing of those.
  const double factor = attention_factor(encoding).high;
  const bool slow = factor < 0x1p-20 || factor > 0x1p20;
  for (const std::vector<std::int64_t>& positions : calls()) {
    if (slow && positions != calls().front()) continue;
    const std::int64_t tokens = std::ssize(positions);
    const std::int64_t length = reference::sequence_length(positions);
    std::vector<double> values;
    std::vector<PairOracle::Values> truth;
    for (std::int64_t token = 0; token < tokens; ++token) {
      for (std::int64_t head = 0; head < heads; ++head) {
        for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
          const Ends ends = dtype == Dtype::float64 && (pair > 1 || token > 1) ? Ends::left_out : Ends::drawn;
          values.push_back(element(dtype, random, head, ends));
          values.push_back(element(dtype, random, head, ends));
          truth.push_back(oracle.rotated(dtype, positions[static_cast<std::size_t>(token)], pair, length,
                                         values.end()[-2], values.back()));
        }
      }
    }
    for (const Pairing pairing : pairings) {
      for (const Pairing output : pairings) {
        if (slow && (pairing != Pairing::half || output != Pairing::half)) continue;
        encoding.pairing = pairing;
        encoding.output_pairing = output;
        const Pairing in = pass == Pass::forward ? pairing : output;
        Tensor x = Tensor::zeros(dtype, {1, tokens, heads, encoding.head_dim});
        for (std::int64_t i = 0; i < x.elements(); ++i)
          x.set(i, static_cast<double>(i % 97) - 0.5);  // what is not turned
        std::size_t next = 0;
        for (std::int64_t token = 0; token < tokens; ++token) {
          for (std::int64_t head = 0; head < heads; ++head) {
            for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
              const Channels from = channels_of_pair(encoding, in, pair);
              x.set(at(encoding, token, head, from.first), values[next++]);
              x.set(at(encoding, token, head, from.second), values[next++]);
            }
          }
        }
        const RopeEncoder encoder(encoding);
        const Tensor y = pass == Pass::forward ? encoder.rotate(x, positions) : encoder.backward(x, positions);
        expect_oracle(setting, encoding, dtype, pass, positions, x, y, truth);
        // In place, from the same bits.
        Tensor z = x;
        const Heads view{
            dtype, z.data.data(), 1, tokens, heads, encoding.head_dim, 0, heads * encoding.head_dim, encoding.head_dim};
        if (pass == Pass::forward) {
          encoder.apply(view, positions);
        } else {
          encoder.backward({dtype, z.data.data(), 1, tokens, heads, encoding.head_dim, 0, heads * encoding.head_dim,
                            encoding.head_dim},
                           positions, view);
        }
        EXPECT_EQ(z.data, y.data) << setting.name << ' ' << name_of(dtype) << ": in place is not out of place";
      }
    }
  }
}

TEST_P(CertifiedRopeOn, IsTheOraclesNearestValueForEveryRule) {
  for (const Setting& setting : settings()) {
    for (const Dtype dtype : dtypes) {
      check_setting(setting, dtype, Direction::counterclockwise, Pass::forward);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST_P(CertifiedRopeOn, IsTheOraclesNearestValueForTheAdjointAndClockwise) {
  for (const Setting& setting : settings()) {
    for (const Dtype dtype : dtypes) {
      check_setting(setting, dtype, Direction::clockwise, Pass::forward);
      check_setting(setting, dtype, Direction::counterclockwise, Pass::backward);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Near a tie by less than frequencies were once known to: the ends of YaRN's ramp are doubles beside each other, so
// that the ramp is known to 2^-50 of what its ends are. x is by lattice reduction.
TEST_P(CertifiedRopeOn, EqualsTheOracleWhereTheRampIsAStep) {
  const Rope encoding = rope_of(
      R"("head_dim":8,"pairing":"interleaved","rope_scaling":{"rope_type":"yarn","factor":4,
         "original_max_position_embeddings":4096,"beta_slow":65.189864690440317,"beta_fast":65.189864690440331,
          "truncate":false,"attention_factor":1})");
  const std::int64_t position = (std::int64_t{1} << 53) - 1;
  const double first = 5719963280746874;
  const double second = -5215549463402181;
  Tensor x = Tensor::zeros(Dtype::float64, {1, 1, 1, 8});
  x.set(2, first);
  x.set(3, second);
  const Tensor y = RopeEncoder(encoding).rotate(x, std::vector<std::int64_t>{position});
  const PairOracle::Values truth =
      PairOracle(encoding).rotated(Dtype::float64, position, 1, position + 1, first, second);
  EXPECT_EQ(y.at(2), truth.first);
  EXPECT_EQ(y.at(3), truth.second);
  EXPECT_TRUE(truth.first == -7660207661778329 || truth.second == -7660207661778329)
      << "another pair than the one that was found";
}

// A NaN of each payload and sign, as either of a pair whose other is a number.
TEST_P(CertifiedRopeOn, MakesCanonicalNaNOfAny) {
  const RopeEncoder encoder(rope_of(R"("head_dim":64,"partial_rotary_factor":1)"));
  for (const Dtype dtype : dtypes) {
    const Format format = format_of(dtype);
    const std::size_t width = size_of(dtype);
    const std::uint64_t sign = std::uint64_t{1} << (8 * width - 1);
    const std::uint64_t infinity = (sign - 1) >> (format.precision - 1) << (format.precision - 1);
    const std::uint64_t canonical = infinity | (std::uint64_t{1} << (format.precision - 2));
    for (const std::int64_t channel : {0, 32}) {
      Tensor x = Tensor::zeros(dtype, {1, 1, 1, 64});
      for (std::int64_t i = 0; i < 64; ++i) x.set(i, i % 3 == 0 ? -1.25 : 0.75);
      for (std::int64_t pair = 0; pair < 32; ++pair) {
        const std::uint64_t bits = infinity | (pair % 2 == 0 ? canonical : 0) |
                                   static_cast<std::uint64_t>(1 + pair % 5) | (pair % 3 == 0 ? sign : 0);
        std::memcpy(x.data.data() + static_cast<std::size_t>(channel + pair) * width, &bits, width);
      }
      const Tensor y = encoder.rotate(x, std::vector<std::int64_t>{1});
      for (std::size_t i = 0; i < 64; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, y.data.data() + i * width, width);
        ASSERT_EQ(bits, canonical) << name_of(dtype) << ", NaN from channel " << channel << ", at " << i;
      }
    }
  }
}

}  // namespace
}  // namespace sextant::rope_certified_test
