// Over 400 lines: a flat list of tests, each read alone.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"
#include "attack/cases/near_ties.hpp"
#include "attack/numbers/lattice.hpp"
#include "attack/run/execute.hpp"
#include "attack/truth/truths.hpp"

// The attack's own truth against numbers that others computed, or that a hand can; and that a wrong bit is found.

namespace sextant::attack::attack_test {
namespace {

constexpr Dtype floating[] = {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16};

std::optional<Mismatch> mismatch_of(const Case& example, const std::vector<Bits>& elements) {
  Checker checker(example.spec.dtype, elements);
  judge(example, checker);
  return checker.mismatch();
}

Bits element(Dtype dtype, double value) { return rounded(element_format(dtype), Real(64, value).get()); }

TEST(Element, IsReadAndWrittenInEveryFormat) {
  const ElementFormat half = element_format(Dtype::float16);
  EXPECT_EQ(value_of(half, 0x3C00), 1);
  EXPECT_EQ(value_of(half, 0x0001), 0x1p-24);
  EXPECT_EQ(value_of(half, 0x7BFF), 65504);
  EXPECT_EQ(value_of(half, 0xFC00), -HUGE_VAL);
  EXPECT_EQ(value_of(element_format(Dtype::bfloat16), 0x4049), 3.140625);
  EXPECT_EQ(value_of(element_format(Dtype::float32), 0x40490FDB), 0x1.921fb6p1);
  EXPECT_EQ(value_of(element_format(Dtype::float64), 0x400921FB54442D18), 0x1.921fb54442d18p1);
  for (const Dtype dtype : floating) {
    Random random(1);
    for (int i = 0; i < 2000; ++i) {
      const ElementFormat format = element_format(dtype);
      const Bits bits = draw_element(random, format, Kind::any_finite);
      EXPECT_EQ(bits_of(format, value_of(format, bits)), bits);
    }
  }
}

TEST(Rounding, IsToNearestWithTiesToEven) {
  EXPECT_EQ(element(Dtype::float16, 65519.99), 0x7BFFU);
  EXPECT_EQ(element(Dtype::float16, 65520), 0x7C00U);  // halfway to 65536, whose significand is even
  EXPECT_EQ(element(Dtype::float16, 2049), element(Dtype::float16, 2048));
  EXPECT_EQ(element(Dtype::float16, 2051), element(Dtype::float16, 2052));
  EXPECT_EQ(element(Dtype::float16, 0x1p-25), 0U);
  EXPECT_EQ(element(Dtype::float16, 0x1.8p-25), 1U);
  EXPECT_EQ(element(Dtype::float16, -0x1p-26), 0x8000U);
  EXPECT_EQ(element(Dtype::bfloat16, 1 + 0x1p-8), element(Dtype::bfloat16, 1));
  EXPECT_EQ(element(Dtype::float32, 0x1.ffffffp127), 0x7F800000U);
  // The processor's own conversion agrees.
  Random random(2);
  for (int i = 0; i < 20000; ++i) {
    const double value = random.sign() * random.of_magnitude(0x1p-155, 0x1p129);
    EXPECT_EQ(element(Dtype::float32, value), std::bit_cast<std::uint32_t>(static_cast<float>(value))) << value;
  }
}

TEST(Rounding, IsCertainOnlyWhereNoBorderIsNear) {
  const ElementFormat format = element_format(Dtype::float32);
  const Bits one = element(Dtype::float32, 1);
  EXPECT_TRUE(certainly_rounds_to(format, one, 1 + 0x1p-25L, 0x1p-40L));
  EXPECT_FALSE(certainly_rounds_to(format, one, 1 + 0x1p-24L, 0x1p-40L));
  EXPECT_FALSE(certainly_rounds_to(format, one + 1, 1 + 0x1p-25L, 0x1p-40L));
  EXPECT_FALSE(certainly_rounds_to(format, one - 1, 1 + 0x1p-25L, 0x1p-40L));
  EXPECT_FALSE(certainly_rounds_to(format, 0, 0x1p-160L, 0x1p-160L)) << "of either sign";
  EXPECT_TRUE(certainly_rounds_to(format, 0, 0x1p-160L, 0x1p-200L));
  EXPECT_FALSE(certainly_rounds_to(format, format.sign(), 0x1p-160L, 0x1p-200L));
  EXPECT_TRUE(certainly_rounds_to(format, format.infinity(), 0x1p128L, 0x1p70L));
  EXPECT_FALSE(certainly_rounds_to(format, format.largest(), 0x1p128L, 0x1p70L));
}

TEST(Interval, HoldsKnownConstants) {
  // pi and ln 2 to 60 digits (OEIS A000796, A002162).
  const auto holds = [](const Interval& interval, const char* digits) {
    Real low(400);
    Real high(400);
    mpfr_set_str(low.get(), digits, 10, MPFR_RNDD);
    mpfr_set_str(high.get(), (std::string(digits) + "9").c_str(), 10, MPFR_RNDU);
    return mpfr_lessequal_p(low.get(), interval.low.get()) != 0 &&
           mpfr_lessequal_p(interval.high.get(), high.get()) != 0;
  };
  EXPECT_TRUE(holds(pi(320), "3.14159265358979323846264338327950288419716939937510582097494"));
  EXPECT_TRUE(holds(log(exactly(320, 2.0)), "0.693147180559945309417232121458176568075500134360255254120680"));
  EXPECT_TRUE(holds(exp(exactly(320, 1.0)), "2.71828182845904523536028747135266249775724709369995957496696"));
  EXPECT_TRUE((exactly(320, 3.0) / exactly(320, 4.0)).is_point());
  EXPECT_FALSE((exactly(320, 1.0) / exactly(320, 3.0)).is_point());
}

TEST(Lattice, ConvergentsOfPi) {
  const auto list = convergents(pi(700).low, 100000);
  ASSERT_EQ(list.size(), 8U);
  EXPECT_EQ(list[1].numerator, 22);
  EXPECT_EQ(list[3].numerator, 355);
  EXPECT_EQ(list[3].denominator, 113);
  EXPECT_EQ(list[6].numerator, 208341);
}

// The distance of u x0 + v x1 from the nearest number with one bit more than the format has, relative to it.
double distance_from_tie(const ElementFormat& format, const Real& u, const Real& v, const NearTie& x) {
  Real y(3000);
  Real other(3000);
  mpfr_mul_d(y.get(), u.get(), value_of(format, x.x0), MPFR_RNDN);
  mpfr_mul_d(other.get(), v.get(), value_of(format, x.x1), MPFR_RNDN);
  mpfr_add(y.get(), y.get(), other.get(), MPFR_RNDN);
  Real tie(format.precision + 1);
  mpfr_set(tie.get(), y.get(), MPFR_RNDN);
  mpfr_sub(other.get(), y.get(), tie.get(), MPFR_RNDN);
  mpfr_div(other.get(), other.get(), y.get(), MPFR_RNDN);
  return std::fabs(other.nearest());
}

TEST(NearTies, LieAsDeepAsALatticeReaches) {
  Random random(3);
  for (const Dtype dtype : floating) {
    const ElementFormat format = element_format(dtype);
    int found = 0;
    for (int i = 0; i < 30; ++i) {
      const Real angle(factor_bits, random.between(-3.0, 3.0));
      Real c(factor_bits);
      Real s(factor_bits);
      mpfr_sin_cos(s.get(), c.get(), angle.get(), MPFR_RNDN);
      const auto list = near_ties(random, format, c, s);
      found += list.empty() ? 0 : 1;
      // 2^-2p of half a place, of which a number has 2^p at least; 2^12 for numbers smaller than their terms and for
      // the choice of one that is in range.
      for (const NearTie& x : list)
        EXPECT_LT(distance_from_tie(format, c, s, x), std::ldexp(1.0, 16 - 3 * format.precision)) << name_of(dtype);
    }
    EXPECT_GT(found, 10) << name_of(dtype);
  }
}

TEST(Truth, SinusoidalOfKnownAngles) {
  // sin 1 and cos 1 to double precision (OEIS A049469, A049470), and the second pair's angle 1/100 of the paper's
  // dim 4.
  Case example;
  Sinusoidal encoding;
  encoding.dim = 4;
  example.spec = spec_of(encoding, Dtype::float64);
  example.positions = {1};
  const std::vector<Bits> right{
      element(Dtype::float64, 0.841470984807896507), element(Dtype::float64, 0.540302305868139717),
      element(Dtype::float64, 0.009999833334166664682), element(Dtype::float64, 0.99995000041666527778)};
  EXPECT_FALSE(mismatch_of(example, right));
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (const Bits wrong : {right[i] + 1, right[i] - 1}) {
      auto other = right;
      other[i] = wrong;
      const auto mismatch = mismatch_of(example, other);
      ASSERT_TRUE(mismatch);
      EXPECT_EQ(mismatch->element, static_cast<std::int64_t>(i));
      EXPECT_EQ(mismatch->wanted, right[i]);
    }
  }
}

double frequency(const Rope& rope, std::int64_t pair, std::int64_t length = 1) {
  return frequencies_of(rope, length)->radians(pair, first_precision)->low.nearest();
}

Rope rope_with(const RopeScaling& scaling) {
  Rope rope;
  rope.head_dim = rope.rotary_dim = 8;
  rope.rope_scaling = scaling;
  return rope;
}

TEST(Truth, ScalingRulesByHand) {
  // theta^(-2i/8) = 10^-i.
  EXPECT_DOUBLE_EQ(frequency(rope_with(DefaultScaling{}), 2), 0.01);
  EXPECT_DOUBLE_EQ(frequency(rope_with(LinearScaling{4}), 2), 0.0025);
  // theta 8^(8/6): w_3 = 10^-3 8^(-1); at length 2 L dynamic has s 2 - (s - 1) = 5 of s = 4.
  EXPECT_DOUBLE_EQ(frequency(rope_with(NtkScaling{8}), 3), 0.000125);
  EXPECT_DOUBLE_EQ(frequency(rope_with(DynamicScaling{4, 100}), 3, 100), 0.001);
  EXPECT_DOUBLE_EQ(frequency(rope_with(DynamicScaling{4, 100}), 3, 200), 0.0002);
  // Wavelengths are 2 pi 10^i: within L = 63 pair 0 turns 10.03 times, more than high = 4; pair 3 0.01 times, less than
  // low = 1; pair 1 1.003 times.
  Llama3Scaling llama{8, 63, 1, 4};
  EXPECT_DOUBLE_EQ(frequency(rope_with(llama), 0), 1);
  EXPECT_DOUBLE_EQ(frequency(rope_with(llama), 3), 0.001 / 8);
  const double share = (63 * 0.1 / (2 * M_PI) - 1) / 3;
  EXPECT_NEAR(frequency(rope_with(llama), 1), 0.1 * (share + (1 - share) / 8), 1e-15);
  // c(b) = log10(L / (2 pi b)) for theta = 10^4 and n = 8.
  YarnScaling yarn;
  yarn.factor = 4;
  yarn.original_max_position_embeddings =
      6000;  // log10(6000/2pi) = 2.98: high = 3; log10(6000/(64 pi)) = 1.47: low = 1
  EXPECT_DOUBLE_EQ(frequency(rope_with(yarn), 1), 0.1);
  EXPECT_DOUBLE_EQ(frequency(rope_with(yarn), 2), 0.01 * (0.5 + 0.5 / 4));
  EXPECT_DOUBLE_EQ(frequency(rope_with(yarn), 3), 0.001 / 4);
  EXPECT_DOUBLE_EQ(AttentionFactor(rope_with(yarn), 1).times(exactly(320, 1.0)).low.nearest(), 0.1 * std::log(4.0) + 1);
  LongropeScaling longrope{16, {1, 2, 3, 4}, {10, 20, 30, 40}, 32.0, {}};  // 1 + ln 32 / ln 16 = 9/4
  EXPECT_DOUBLE_EQ(frequency(rope_with(longrope), 1, 16), 0.05);
  EXPECT_DOUBLE_EQ(frequency(rope_with(longrope), 1, 17), 0.005);
  const Interval factor = AttentionFactor(rope_with(longrope), 1).times(exactly(320, 2.0));
  EXPECT_TRUE(factor.is_point());
  EXPECT_EQ(factor.low.nearest(), 3);
  longrope.short_mscale = 1.25;
  longrope.long_mscale = 1.5;
  EXPECT_EQ(AttentionFactor(rope_with(longrope), 16).times(exactly(320, 2.0)).low.nearest(), 2.5);
  EXPECT_EQ(AttentionFactor(rope_with(longrope), 17).times(exactly(320, 2.0)).low.nearest(), 3);
}

TEST(Truth, PowersOfXpos) {
  Xpos encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 20;  // zeta_3 = 1/2
  const Interval half = xpos_power(encoding, 3, 512, 320);
  EXPECT_TRUE(half.is_point());
  EXPECT_EQ(half.low.nearest(), 0.5);
  EXPECT_EQ(xpos_power(encoding, 3, -1024, 320).low.nearest(), 4);
  EXPECT_DOUBLE_EQ(xpos_power(encoding, 3, 100, 320).low.nearest(), std::exp2(-100.0 / 512));
  encoding.role = Role::key;
  EXPECT_EQ(xpos_power(encoding, 3, 512, 320).low.nearest(), 2);
  encoding.rope.head_dim = encoding.rope.rotary_dim = 160;  // zeta_31 = 9/16
  EXPECT_TRUE(xpos_power(encoding, 31, -256, 320).is_point());
  EXPECT_EQ(xpos_power(encoding, 31, -256, 320).low.nearest(), 0.75);
  EXPECT_EQ(xpos_count(encoding, 7, 9), 7);
  encoding.centre = std::int64_t{-3};
  EXPECT_EQ(xpos_count(encoding, 7, 9), 10);
  encoding.centre = HalfOfCall::floor;
  EXPECT_EQ(xpos_count(encoding, 7, 9), 3);
  encoding.centre = HalfOfCall::ceil;
  EXPECT_EQ(xpos_count(encoding, 7, 9), 2);
  EXPECT_EQ(xpos_count(encoding, -7, -5), -5);
}

TEST(Truth, QuickTurnsAreTheRealOnes) {
  const auto frequencies = frequencies_of(rope_with(DefaultScaling{}), 1);
  Random random(4);
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t position = draw_position(random);
    const std::int64_t pair = random.between(0, 3);
    const auto quick = frequencies->quickly_turned(pair, position);
    if (!quick) continue;
    const auto turn = frequencies->turned(pair, position, first_precision);
    const auto near = [](long double value, const Interval& truth) {
      const long double real = mpfr_get_ld(truth.low.get(), MPFR_RNDN);
      return std::abs(value - real) <= quick_error * std::abs(real);
    };
    EXPECT_TRUE(near(quick->sine, turn->sine)) << position;
    EXPECT_TRUE(near(quick->cosine, turn->cosine)) << position;
  }
}

TEST(Truth, BucketsOfT5) {
  // Of the released code with 32 buckets and distance 128, as T5's unit tests and its users' tables have them.
  const RelativeBias t5;
  for (const auto& [relative, bucket] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0},
                                                                                           {-1, 1},
                                                                                           {-7, 7},
                                                                                           {-8, 8},
                                                                                           {-11, 8},
                                                                                           {-12, 9},
                                                                                           {-127, 15},
                                                                                           {-128, 15},
                                                                                           {1, 17},
                                                                                           {7, 23},
                                                                                           {8, 24},
                                                                                           {1000, 31},
                                                                                           {INT64_MIN, 15},
                                                                                           {INT64_MAX, 31}}) {
    EXPECT_EQ(bucket_of(t5, relative), bucket) << relative;
  }
  RelativeBias mirrored{32, 128, false, LaterKeys::mirrored};
  for (const std::int64_t distance : {1, 15, 16, 40, 127, 1000})
    EXPECT_EQ(bucket_of(mirrored, distance), bucket_of(mirrored, -distance)) << distance;
  mirrored.later_keys = LaterKeys::at_zero;
  EXPECT_EQ(bucket_of(mirrored, 1000), 0);
  // Borders that integers meet: exact 8, 8 buckets up to 8 * 2^8: each doubling is one.
  const RelativeBias doubling{16, 2048, false};
  EXPECT_EQ(bucket_of(doubling, -15), 8);
  EXPECT_EQ(bucket_of(doubling, -16), 9);
  EXPECT_EQ(bucket_of(doubling, -1023), 14);
  EXPECT_EQ(bucket_of(doubling, -1024), 15);
}

TEST(Truth, RowsOfDeberta) {
  // transformers 5.24, make_log_bucket_position(d, 256, 512) + 256, clamped; of 28 and 114689, 112 is on a border.
  const RelativeBias deberta{512, 512, true, LaterKeys::at_zero, BucketRule::log};
  for (const auto& [relative, row] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 256},
                                                                                        {-1, 257},
                                                                                        {128, 128},
                                                                                        {-129, 385},
                                                                                        {-200, 425},
                                                                                        {511, 1},
                                                                                        {512, 0},
                                                                                        {-512, 511},
                                                                                        {INT64_MIN, 511}})
    EXPECT_EQ(bucket_of(deberta, relative), row) << relative;
  const RelativeBias coarse{56, 114689, true, LaterKeys::at_zero, BucketRule::log};
  EXPECT_EQ(bucket_of(coarse, -112), 28 + 17);
  EXPECT_EQ(bucket_of(coarse, -113), 28 + 18);
  const RelativeBias clipped{8, 4, true, LaterKeys::at_zero, BucketRule::clipped};
  EXPECT_EQ(bucket_of(clipped, -9), 7);
  EXPECT_EQ(bucket_of(clipped, 9), 0);
  EXPECT_EQ(bucket_of(clipped, 3), 1);
}

TEST(Truth, SlopesOfAlibi) {
  const auto exponent = [](AlibiSlopes slopes, std::int64_t head, std::int64_t bias_max = 8) {
    const Alibi encoding{.num_heads = 12, .slopes = slopes, .bias_max = bias_max};
    const auto [numerator, denominator] = alibi_exponent(encoding, head);
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  };
  // get_slopes(12): 2^-1 .. 2^-8, then 2^-0.5, 2^-1.5, 2^-2.5, 2^-3.5.
  EXPECT_EQ(exponent(AlibiSlopes::released, 7), -8);
  EXPECT_EQ(exponent(AlibiSlopes::released, 8), -0.5);
  EXPECT_EQ(exponent(AlibiSlopes::released, 11), -3.5);
  EXPECT_EQ(exponent(AlibiSlopes::geometric, 2), -2);
  EXPECT_EQ(exponent(AlibiSlopes::geometric, 11), -8);
  EXPECT_EQ(exponent(AlibiSlopes::released, 8, 16), -1);
  EXPECT_EQ(exponent(AlibiSlopes::geometric, 11, 24), -24);
}

TEST(Truth, SlopesOfAlibiAreRoundedToTheirDtype) {
  // 2^-0.5 = 0.70710678 is 0.70703125 in bfloat16; 2^-2 is itself.
  Alibi encoding{.num_heads = 12, .slope_dtype = Dtype::bfloat16};
  EXPECT_EQ(alibi_slope(encoding, 8, 320).low.nearest(), 0.70703125);
  EXPECT_EQ(alibi_slope(encoding, 1, 320).low.nearest(), 0.25);
  encoding.slope_dtype.reset();
  EXPECT_EQ(static_cast<float>(alibi_slope(encoding, 8, 320).low.nearest()), std::sqrt(0.5F));
}

TEST(Truth, FrequenciesOfStepsScalesAndShifts) {
  Sinusoidal encoding{.dim = 11, .layout = Layout::concatenated, .downscale_freq_shift = 3};
  const auto radians = [](const auto& encoding_or_rope, auto... length) {
    return frequencies_of(encoding_or_rope, length...)->radians(1, first_precision)->low.nearest();
  };
  EXPECT_DOUBLE_EQ(radians(encoding), 0.01);  // 10000^(-1/(5 - 3))
  encoding.angle_scale = 1000;
  EXPECT_DOUBLE_EQ(radians(encoding), 10);
  encoding.positions = {0x1p-7, Dtype::float32};
  EXPECT_DOUBLE_EQ(radians(encoding), 10.0 / 128);
  const Rope rope{.head_dim = 4, .rotary_dim = 4, .rope_scaling = {}, .positions = {0x1p-7, Dtype::float64}};
  EXPECT_DOUBLE_EQ(radians(rope, std::int64_t{1}), 0.01 / 128);
}

TEST(Token, GivesTheCaseBack) {
  for (const Attack& attack : attacks()) {
    Random random(5);
    for (int i = 0; i < 3; ++i) {
      for (const Case& example : attack.make(random, Dtype::float32))
        EXPECT_EQ(token_of(case_of(token_of(example))), token_of(example));
    }
  }
  EXPECT_THROW(case_of("operation=rotate"), std::invalid_argument);
  EXPECT_THROW(case_of("operation=spin;spec={}"), std::exception);
}

// Small calls of each encoder: the answer as it is holds, and with a wrong last bit it does not. Where that needs a
// case without known holes, those of models' parameters are.
TEST(Judge, FindsAWrongBit) {
  std::set<std::string_view> tried;
  for (const Attack& attack : attacks()) {
    if (attack.family != "usual" && attack.family != "tables") continue;
    for (const Dtype dtype : floating) {
      Random random(6);
      int caught = 0;
      int planted = 0;
      for (int round = 0; round < 4; ++round) {
        for (const Case& example : attack.make(random, dtype)) {
          const Answer answer = execute(example);
          ASSERT_EQ(answer.failure, "") << token_of(example);
          ASSERT_EQ(std::ssize(answer.elements), answer_size(example));
          EXPECT_FALSE(mismatch_of(example, answer.elements)) << token_of(example);
          auto wrong = answer.elements;
          const auto place = static_cast<std::size_t>(random.between(std::int64_t{0}, std::ssize(wrong) - 1));
          // Attention and what is normalized claim a bound, not bits.
          const bool is_bounded = attack.encoder == "attention" || attack.encoder == "qk_norm_rope";
          wrong[place] ^= is_bounded ? Bits{1} << (element_format(dtype).width - 2) : 1;
          ++planted;
          caught += mismatch_of(example, wrong) ? 1 : 0;
        }
      }
      // What an encoder's header says nothing of, NaN of some encoders for one, cannot be wrong.
      EXPECT_GT(planted, 0) << attack.encoder;
      EXPECT_GE(2 * caught, planted) << attack.encoder << " " << name_of(dtype);
      tried.insert(attack.encoder);
    }
  }
  EXPECT_EQ(tried.size(), encoding_examples().size());
}

int exit_code_of(const std::string& arguments) {
  return WEXITSTATUS(std::system((std::string(SEXTANT_ATTACK) + " " + arguments + " > /dev/null 2>&1").c_str()));
}

TEST(Command, FindsWhatIsPlantedAndRefusesWhatIsWrong) {
  EXPECT_EQ(exit_code_of("1 --seed 7 --encoders binary,learned --families usual --plant"), 1);
  EXPECT_EQ(exit_code_of("1 --seed 7 --encoders binary,learned --families usual"), 0);
  EXPECT_EQ(exit_code_of("1 --encoders binary --families near_ties"), 4) << "nothing was tried";
  // An unset variable and a misspelt name are no attack.
  for (const char* wrong :
       {"--replay ''", "--targets ''", "1 --targets NOWHERE", "1 --encoders none", "1 --families nope",
        "1 --dtypes float8", "1 --skip nope", "1 2", "--list extra", "--seed 18446744073709551616"}) {
    EXPECT_EQ(exit_code_of(wrong), 2) << wrong;
  }
  EXPECT_EQ(exit_code_of("one"), 2);
  EXPECT_EQ(exit_code_of("--seed -1"), 2);
  EXPECT_EQ(exit_code_of("--replay operation=rotate"), 2);
}

}  // namespace
}  // namespace sextant::attack::attack_test
