#include "reference/rope_scaling.hpp"

#include <gtest/gtest.h>

#include <string>

#include "lib/spec/spec.hpp"
#include "reference/rope.hpp"

namespace sextant::reference::rope_scaling_test {
namespace {

constexpr Precision precision{128};
constexpr std::int64_t any_length = 1;

Rope rope(const std::string& fields) {
  return std::get<Rope>(parse_spec(R"({"encoding":"rope",)" + fields + "}").encoding);
}

Rope scaled(const std::string& fields, const std::string& rule) { return rope(fields + R"(,"rope_scaling":)" + rule); }

// The decimals below were computed by another program (mpmath, 50 digits) from the formulas, and have 25 digits.
void expect_digits(const Enclosure& value, const char* decimal) {
  mpfr_t expected;
  mpfr_init2(expected, 200);
  mpfr_set_str(expected, decimal, 10, MPFR_RNDN);
  for (mpfr_srcptr end : {value.lower_end(), value.upper_end()}) {
    mpfr_t difference;
    mpfr_init2(difference, 200);
    mpfr_reldiff(difference, expected, end, MPFR_RNDN);
    EXPECT_LT(std::abs(mpfr_get_d(difference, MPFR_RNDN)), 1e-24) << decimal << " against " << value.lower();
    mpfr_clear(difference);
  }
  mpfr_clear(expected);
}

struct Frequency {
  const char* name;
  Rope encoding;
  std::int64_t length;
  std::int64_t pair;
  const char* decimal;
  double float32;  // what transformers 5's ROPE_INIT_FUNCTIONS give, within float32's accuracy; 0 where it has no such
                   // rule
};

void PrintTo(const Frequency& frequency, std::ostream* stream) {
  *stream << frequency.name << " pair " << frequency.pair;
}

class Frequencies : public testing::TestWithParam<Frequency> {};

TEST_P(Frequencies, AreThoseOfTheFormula) {
  const Frequency& expected = GetParam();
  RopeFrequencies frequencies(expected.encoding);
  expect_digits(frequencies.radians(expected.pair, expected.length, precision), expected.decimal);
  if (expected.float32 != 0) {
    EXPECT_NEAR(frequencies.radians(expected.pair, expected.length, precision).upper(), expected.float32,
                1e-6 * expected.float32);
  }
}

const Rope linear = scaled(R"("head_dim":64)", R"({"rope_type":"linear","factor":8})");
const Rope ntk = scaled(R"("head_dim":64)", R"({"rope_type":"ntk","factor":8})");
const Rope dynamic =
    scaled(R"("head_dim":64)", R"({"rope_type":"dynamic","factor":2,"original_max_position_embeddings":2048})");
const Rope qwen = scaled(R"("head_dim":128,"rope_theta":1000000)",
                         R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":32768})");
const Rope qwen_exact =
    scaled(R"("head_dim":128,"rope_theta":1000000)",
           R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":32768,"truncate":false})");
const Rope deepseek =
    scaled(R"("head_dim":64)",
           R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096,"mscale":1,"mscale_all_dim":1})");
const Rope gpt_oss =
    scaled(R"("head_dim":64,"rope_theta":150000)",
           R"({"rope_type":"yarn","factor":32,"original_max_position_embeddings":4096,"truncate":false})");
// c(beta_fast) < 0 and -1 < c(beta_slow) < 0: both ends round and clamp to 0.
const Rope equal_ends =
    scaled(R"("head_dim":8)", R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":6})");
// low is past n - 1, so the ramp runs backwards, as deployed.
const Rope beyond =
    scaled(R"("head_dim":8)", R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":4503599627370496})");
const Rope llama3 = scaled(R"("head_dim":128,"rope_theta":500000)",
                           R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,)"
                           R"("low_freq_factor":1,"high_freq_factor":4})");
const Rope longrope = scaled(R"("head_dim":8)",
                             R"({"rope_type":"longrope","factor":32,"original_max_position_embeddings":4096,
                                 "short_factor":[1,1,1.05,1.1],"long_factor":[1,1.5,2.25,4]})");
const Rope proportional = scaled(R"("head_dim":16,"rope_theta":1000000,"partial_rotary_factor":0.25)",
                                 R"({"rope_type":"proportional","factor":2})");

INSTANTIATE_TEST_SUITE_P(
    Rules, Frequencies,
    testing::Values(
        Frequency{"linear", linear, any_length, 0, "0.125", 0.125},
        Frequency{"linear", linear, any_length, 1, "0.09373677616655697841277303", 0.09373677521944046},
        Frequency{"linear", linear, any_length, 31, "0.00001666901790204155032094915", 1.666901880525984e-05},
        Frequency{"ntk", ntk, any_length, 0, "1", 0},
        Frequency{"ntk", ntk, any_length, 1, "0.7012422344790010830970229", 0},
        // The last pair is interpolated in full: the same as linear's.
        Frequency{"ntk", ntk, any_length, 31, "0.00001666901790204155032094915", 0},
        Frequency{"dynamic", dynamic, 10000, 1, "0.6991778297649156524142871", 0.6991778612136841},
        Frequency{"dynamic", dynamic, 10000, 16, "0.003261387337987396170529787", 0.003261387348175049},
        Frequency{"dynamic", dynamic, 10000, 31, "0.00001521307872699692293106232", 1.5213078768283594e-05},
        Frequency{"yarn", qwen, any_length, 0, "1", 1.0},
        Frequency{"yarn", qwen, any_length, 23, "0.006978305848598663384148318", 0.006978305988013744},
        Frequency{"yarn", qwen, any_length, 24, "0.005375321490790101503775267", 0.005375321488827467},
        Frequency{"yarn", qwen, any_length, 30, "0.001064360981247001816320777", 0.0010643609566614032},
        Frequency{"yarn", qwen, any_length, 39, "0.00006490394320837028824359776", 6.490394298452884e-05},
        Frequency{"yarn", qwen, any_length, 40, "0.00004445698525097307003063553", 4.4456985051510856e-05},
        Frequency{"yarn, not truncated", qwen_exact, any_length, 23, "0.006978305848598663384148318",
                  0.006978305988013744},
        Frequency{"yarn, not truncated", qwen_exact, any_length, 24, "0.005517270475134122065138359",
                  0.005517270416021347},
        Frequency{"yarn, not truncated", qwen_exact, any_length, 39, "0.00006187806812450694325031286",
                  6.187807593960315e-05},
        Frequency{"yarn, not truncated", qwen_exact, any_length, 63, "0.0000003102344401879298915246768",
                  3.102344408034696e-07},
        Frequency{"yarn, DeepSeek", deepseek, any_length, 10, "0.0562341325190349080394951", 0.05623412877321243},
        Frequency{"yarn, DeepSeek", deepseek, any_length, 11, "0.03900692656714385799263374", 0.039006926119327545},
        Frequency{"yarn, DeepSeek", deepseek, any_length, 16, "0.0055", 0.005500000435858965},
        Frequency{"yarn, DeepSeek", deepseek, any_length, 23, "0.00003333803580408310064189829", 3.333803397254087e-05},
        Frequency{"yarn, gpt-oss", gpt_oss, any_length, 9, "0.03170569618466376598765548", 0.031705696135759354},
        Frequency{"yarn, gpt-oss", gpt_oss, any_length, 12, "0.006794959489732217833119924", 0.006794959306716919},
        Frequency{"yarn, gpt-oss", gpt_oss, any_length, 17, "0.0001293187012450627206078608", 0.00012931869423482567},
        Frequency{"yarn, equal ends", equal_ends, any_length, 0, "1", 1.0},
        Frequency{"yarn, equal ends", equal_ends, any_length, 1, "0.025", 0.02500000037252903},
        Frequency{"yarn, ends reversed", beyond, any_length, 0, "0.25", 0.25},
        Frequency{"yarn, ends reversed", beyond, any_length, 3, "0.00025", 0.0002500000118743628},
        Frequency{"llama3", llama3, any_length, 0, "1", 1.0},
        Frequency{"llama3", llama3, any_length, 28, "0.003211445994752591018543489", 0.0032114461064338684},
        Frequency{"llama3", llama3, any_length, 29, "0.00216657076350335860934158", 0.0021665706299245358},
        Frequency{"llama3", llama3, any_length, 33, "0.0003126937503840651322159045", 0.0003126936499029398},
        Frequency{"llama3", llama3, any_length, 34, "0.0001785078127679964185236747", 0.0001785077911335975},
        Frequency{"llama3", llama3, any_length, 35, "0.00009556212353964683019868397", 9.556212171446532e-05},
        Frequency{"llama3", llama3, any_length, 63, "0.0000003068925988914511089052434", 3.068925877869333e-07},
        Frequency{"longrope", longrope, 4096, 1, "0.1", 0.10000000149011612},
        Frequency{"longrope", longrope, 4096, 2, "0.009523809523809523406721805", 0.009523809887468815},
        Frequency{"longrope", longrope, 4096, 3, "0.0009090909090909090175059157", 0.0009090909152291715},
        Frequency{"longrope", longrope, 4097, 1, "0.06666666666666666666666667", 0.06666667014360428},
        Frequency{"longrope", longrope, 4097, 3, "0.00025", 0.0002500000118743628},
        Frequency{"proportional", proportional, any_length, 0, "0.5", 0.5},
        Frequency{"proportional", proportional, any_length, 1, "0.08891397050194614006127106", 0.08891396969556808}));

TEST(AttentionFactor, OfEachRule) {
  const auto factor = [](const Rope& encoding) -> Enclosure {
    return RopeFrequencies(encoding).attention_factor(precision);
  };
  const auto yarn = [](const std::string& more) {
    return scaled(R"("head_dim":64)",
                  R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096,)" + more + "}");
  };
  expect_digits(factor(qwen), "1.138629436111989061883446");
  expect_digits(factor(deepseek), "1");
  expect_digits(factor(yarn(R"("mscale":0.707,"mscale_all_dim":1.25)")), "0.8629082247654536969575132");
  expect_digits(factor(yarn(R"("attention_factor":1.25)")), "1.25");
  expect_digits(factor(longrope), "1.1902380714238083329999");
  expect_digits(factor(llama3), "1");
  EXPECT_EQ(factor(linear).lower(), 1);
  EXPECT_EQ(factor(linear).upper(), 1);
}

TEST(RopeFrequencies, FactorOneChangesNothing) {
  const std::string fields = R"("head_dim":64,"rope_theta":500000)";
  RopeFrequencies plain(rope(fields));
  for (const char* rule :
       {R"({"rope_type":"linear","factor":1})", R"({"rope_type":"ntk","factor":1})",
        R"({"rope_type":"yarn","factor":1,"original_max_position_embeddings":4096})",
        R"({"rope_type":"yarn","factor":1,"original_max_position_embeddings":4096,"truncate":false})",
        R"({"rope_type":"llama3","factor":1,"original_max_position_embeddings":8192,)"
        R"("low_freq_factor":1,"high_freq_factor":4})",
        R"({"rope_type":"dynamic","factor":3,"original_max_position_embeddings":1})"}) {
    RopeFrequencies frequencies(scaled(fields, rule));
    for (std::int64_t pair = 0; pair < 32; ++pair) {
      const Enclosure& w = plain.radians(pair, 1, precision);
      EXPECT_LT((abs(frequencies.radians(pair, 1, precision) - w) / w).upper(), 0x1p-115) << rule << " pair " << pair;
    }
    EXPECT_EQ(frequencies.attention_factor(precision).upper(), 1) << rule;
  }
}

TEST(RopeFrequencies, LinearAtAPositionIsTheDefaultAtItsQuotient) {
  RopeFrequencies stretched(linear);
  RopeFrequencies plain(rope(R"("head_dim":64)"));
  for (std::int64_t pair = 0; pair < 32; ++pair) {
    const Enclosure a = stretched.rotation(8 * 4321, pair, any_length, precision).angle;
    const Enclosure b = plain.rotation(4321, pair, any_length, precision).angle;
    EXPECT_LT((abs(a - b) / b).upper(), 0x1p-115);
  }
}

TEST(RopeFrequencies, TheFinerEnclosureLiesInsideTheCoarser) {
  constexpr Precision fine{256};
  for (const Rope& encoding : {linear, ntk, dynamic, qwen, qwen_exact, equal_ends, llama3, longrope, proportional}) {
    RopeFrequencies frequencies(encoding);
    for (const std::int64_t length : {std::int64_t{1}, std::int64_t{100000}}) {
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Enclosure coarse = frequencies.radians(pair, length, precision);
        const Enclosure finer = frequencies.radians(pair, length, fine);
        EXPECT_TRUE(mpfr_lessequal_p(coarse.lower_end(), finer.lower_end()))
            << name_of(encoding.rope_scaling) << " pair " << pair;
        EXPECT_TRUE(mpfr_lessequal_p(finer.upper_end(), coarse.upper_end()))
            << name_of(encoding.rope_scaling) << " pair " << pair;
        EXPECT_LT(((coarse - finer) / finer).upper(), 0x1p-110);
      }
    }
    const Enclosure coarse = frequencies.attention_factor(precision);
    const Enclosure finer = frequencies.attention_factor(fine);
    EXPECT_TRUE(mpfr_lessequal_p(coarse.lower_end(), finer.lower_end()));
    EXPECT_TRUE(mpfr_lessequal_p(finer.upper_end(), coarse.upper_end()));
  }
}

TEST(RopeFrequencies, TheShortRuleReachesItsLengthInclusive) {
  for (const Rope& encoding : {dynamic, longrope}) {
    const std::int64_t limit = *length_limit(encoding.rope_scaling);
    RopeFrequencies frequencies(encoding);
    const double at = frequencies.radians(3, limit, precision).upper();
    const double before = frequencies.radians(3, 7, precision).upper();
    const double past = frequencies.radians(3, limit + 1, precision).upper();
    EXPECT_EQ(at, before);
    EXPECT_LT(past, at);
    EXPECT_EQ(frequencies.radians(3, limit, precision).upper(), at);  // back again: no history
  }
}

TEST(RopeFrequencies, YarnsRampHasWholeEndsWhenTruncated) {
  const auto ramp = RopeFrequencies(qwen).ramp(precision);
  ASSERT_TRUE(ramp);
  EXPECT_EQ(ramp->low.lower(), 23);
  EXPECT_EQ(ramp->high.upper(), 40);
  const auto exact = RopeFrequencies(qwen_exact).ramp(precision);
  expect_digits(exact->low, "23.59594760833810029410541");
  expect_digits(exact->high, "39.65088071041709737217148");
  EXPECT_FALSE(RopeFrequencies(linear).ramp(precision));
}

TEST(RopeFrequencies, LogMagnitudeIsThatOfTheScaledFrequency) {
  EXPECT_NEAR(RopeFrequencies(linear).log_magnitude(0, any_length, precision).upper(), 2.0794415416798359,
              1e-14);  // ln 8
  const Rope faster = scaled(R"("head_dim":16)", R"({"rope_type":"proportional","factor":0.5})");
  EXPECT_NEAR(RopeFrequencies(faster).log_magnitude(0, any_length, precision).upper(), 0.69314718055994531,
              1e-14);  // ln 2
}

TEST(SequenceLength, IsTheLargestPositionPlusOne) {
  const std::int64_t positions[] = {3, 9, -5};
  EXPECT_EQ(sequence_length(positions), 10);
  EXPECT_EQ(sequence_length({}), 0);
}

TEST(RopeReference, ARuleThatDependsOnTheLengthNeedsOne) {
  RopeReference reference(dynamic);
  EXPECT_THROW(reference.rotation(1, 1, precision), std::logic_error);
  EXPECT_DOUBLE_EQ(reference.rotation(1, 1, 10000, precision).angle.upper(), 0.69917782976491565);
  RopeReference plain(linear);
  EXPECT_DOUBLE_EQ(plain.rotation(8, 0, precision).angle.upper(), 1);
}

// Qwen 1's, 10000 alpha^(128/126) to the power -40/128, alpha = 2^ceil(log2(l/L) + 1) - 1.
TEST(RopeScalingReference, DoublingsRoundLengthsUp) {
  const Rope qwen1 =
      scaled(R"("head_dim":128)", R"({"rope_type":"dynamic","factor":2,)"
                                  R"("original_max_position_embeddings":2048,"length_steps":"doublings"})");
  RopeFrequencies frequencies(qwen1);
  const auto expect = [&](std::int64_t length, const char* decimal) {
    expect_digits(frequencies.radians(20, length, precision), decimal);
  };
  for (const std::int64_t length : {1, 100, 2048}) expect(length, "0.0562341325190349080394951");
  for (const std::int64_t length : {2049, 3000, 4096}) expect(length, "0.0396764616698227765726896903772");
  for (const std::int64_t length : {4097, 5000, 8192}) expect(length, "0.0303190024367775804555068301185");
  const auto& rule = std::get<DynamicScaling>(qwen1.rope_scaling);
  EXPECT_EQ(stepped_length(rule, 8193), 16384);
  EXPECT_EQ(stepped_length(rule, std::int64_t{1} << 53), std::int64_t{1} << 53);
}

}  // namespace
}  // namespace sextant::reference::rope_scaling_test
