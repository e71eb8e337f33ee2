#include "lib/rope/frequencies.hpp"

#include <gmp.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/rope_scaling.hpp"

namespace sextant::rope_frequencies_test {
namespace {

using reference::Precision;

Rope rope(const std::string& fields) {
  return std::get<Rope>(parse_spec(R"({"encoding":"rope",)" + fields + "}").encoding);
}

Rope scaled(const std::string& fields, const std::string& rule) { return rope(fields + R"(,"rope_scaling":)" + rule); }

std::string yarn(const std::string& fields) {
  return R"({"rope_type":"yarn","original_max_position_embeddings":)" + fields + "}";
}

// floor(2^192 w / (2 pi)) mod 2^192 of the lower end of an enclosure narrower than 2^-200 turn, for the w in radians
// that radians(precision) encloses.
template <class Radians>
Turns floor_of_turns(Radians radians) {
  Precision precision{320};
  const auto turns_at = [&](Precision at) {
    return radians(at) / (reference::Enclosure(2.0, at) * reference::Enclosure::pi(at));
  };
  while (!(turns_at(precision).width() < 0x1p-200)) {
    if (precision.bits >= reference::last_precision.bits) throw std::domain_error("no precision is enough");
    precision.bits *= 2;
  }
  const reference::Enclosure turns = turns_at(precision);
  mpfr_t scaled;
  mpfr_init2(scaled, mpfr_get_prec(turns.lower_end()));
  mpfr_mul_2si(scaled, turns.lower_end(), 192, MPFR_RNDD);
  mpz_t integer;
  mpz_init(integer);
  mpfr_get_z(integer, scaled, MPFR_RNDD);
  mpz_fdiv_r_2exp(integer, integer, 192);
  std::array<std::uint64_t, 3> limb{};
  mpz_export(limb.data(), nullptr, -1, sizeof limb[0], 0, 0, integer);
  mpz_clear(integer);
  mpfr_clear(scaled);
  return Turns(limb[2]) << 128 | Turns(limb[1]) << 64 | limb[0];
}

struct Case {
  const char* name;
  Rope encoding;
};

void PrintTo(const Case& of, std::ostream* stream) { *stream << of.name; }

class RopeTurns : public testing::TestWithParam<Case> {};

// The true frequency is at the floor of so narrow an enclosure's lower end, or less than 1 + 2^-8 units above. The
// nearest multiple of a unit is therefore at it, or one above.
TEST_P(RopeTurns, AreTheNearestToTheOraclesEnclosure) {
  const Rope& encoding = GetParam().encoding;
  reference::RopeFrequencies oracle(encoding);
  for (const std::int64_t length : {1LL, 2047LL, 4096LL, 4097LL, 131072LL, 9007199254740993LL}) {
    const std::vector<Turns> turns = rope_turns({encoding}, length);
    ASSERT_EQ(static_cast<std::int64_t>(turns.size()), pairs(encoding));
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const Turns floor = floor_of_turns([&](Precision precision) { return oracle.radians(pair, length, precision); });
      const Turns above = turns[static_cast<std::size_t>(pair)] - floor;
      EXPECT_TRUE(above == 0 || above == 1)
          << "pair " << pair << " length " << length << ": " << above << " units above";
    }
  }
}

// high + low against an enclosure much narrower than 2^-105 of the factor.
TEST_P(RopeTurns, AttentionFactorIsTheOracles) {
  const AttentionFactor a = attention_factor(GetParam().encoding);
  reference::RopeFrequencies oracle(GetParam().encoding);
  constexpr Precision precision{256};
  const reference::Enclosure& truth = oracle.attention_factor(precision);
  const auto exactly = [&](double value) { return reference::Enclosure(value, precision); };
  EXPECT_LE(abs((exactly(a.high) + exactly(a.low) - truth) / truth).upper(), 0x1p-105);
  EXPECT_LE(std::abs(a.low), 0x1p-53 * a.high);
  if (a.rational) {
    EXPECT_LE(abs(exactly(a.rational->numerator) / exactly(a.rational->denominator) - truth).upper(),
              truth.upper() * 0x1p-230);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RopeTurns,
    testing::Values(
        Case{"default", rope(R"("head_dim":128)")},                                                         //
        Case{"rotary_dim 2", rope(R"("head_dim":64,"rotary_dim":2)")},                                      //
        Case{"base 1", rope(R"("head_dim":6,"rope_theta":1)")},                                             //
        Case{"base near 1", rope(R"("head_dim":64,"rope_theta":1.0000000000000002)")},                      //
        Case{"huge base", rope(R"("head_dim":26,"rope_theta":1e308)")},                                     //
        Case{"odd base", rope(R"("head_dim":34,"rope_theta":77777.25)")},                                   //
        Case{"spread", rope(R"("head_dim":64,"rotary_dim":16,"rotary_layout":"spread")")},                  //
        Case{"wide", rope(R"("head_dim":4096)")},                                                           //
        Case{"linear", scaled(R"("head_dim":64)", R"({"rope_type":"linear","factor":8})")},                 //
        Case{"linear 1", scaled(R"("head_dim":2)", R"({"rope_type":"linear","factor":1})")},                //
        Case{"linear 1e308", scaled(R"("head_dim":8)", R"({"rope_type":"linear","factor":1e308})")},        //
        Case{"ntk", scaled(R"("head_dim":64)", R"({"rope_type":"ntk","factor":8})")},                       //
        Case{"ntk of 4", scaled(R"("head_dim":4,"rope_theta":1)", R"({"rope_type":"ntk","factor":1.1})")},  //
        Case{"ntk 1", scaled(R"("head_dim":64)", R"({"rope_type":"ntk","factor":1})")},                     //
        Case{"dynamic", scaled(R"("head_dim":64)",
                               R"({"rope_type":"dynamic","factor":2,"original_max_position_embeddings":2048})")},
        Case{"dynamic by doublings",
             scaled(R"("head_dim":64)", R"({"rope_type":"dynamic","factor":2,"original_max_position_embeddings":2048,)"
                                        R"("length_steps":"doublings"})")},
        Case{"dynamic 1",
             scaled(R"("head_dim":8)", R"({"rope_type":"dynamic","factor":1,"original_max_position_embeddings":1})")},
        Case{"yarn", scaled(R"("head_dim":128,"rope_theta":1000000)", yarn(R"(32768,"factor":4)"))},
        Case{"yarn, not truncated",
             scaled(R"("head_dim":128,"rope_theta":1000000)", yarn(R"(32768,"factor":4,"truncate":false)"))},
        Case{"yarn, DeepSeek", scaled(R"("head_dim":64)", yarn(R"(4096,"factor":40,"mscale":1,"mscale_all_dim":1)"))},
        Case{"yarn, two mscales",
             scaled(R"("head_dim":64)", yarn(R"(4096,"factor":40,"mscale":0.707,"mscale_all_dim":1.25)"))},
        Case{"yarn, gpt-oss",
             scaled(R"("head_dim":64,"rope_theta":150000)", yarn(R"(4096,"factor":32,"truncate":false)"))},
        Case{"yarn, equal ends", scaled(R"("head_dim":8)", yarn(R"(6,"factor":4)"))},
        Case{"yarn, ends below 0", scaled(R"("head_dim":8)", yarn(R"(1,"factor":4)"))},
        Case{"yarn, ends below 0, not truncated", scaled(R"("head_dim":8)", yarn(R"(1,"factor":4,"truncate":false)"))},
        Case{"yarn, ends reversed", scaled(R"("head_dim":8)", yarn(R"(4503599627370496,"factor":4)"))},
        Case{"yarn, base near 1",
             scaled(R"("head_dim":8,"rope_theta":1.0000000000000002)", yarn(R"(4096,"factor":4)"))},
        Case{"yarn, ends a double apart",
             scaled(R"("head_dim":8)", yarn(R"(4096,"factor":4,"beta_slow":65.189864690440317,)"
                                            R"("beta_fast":65.189864690440331,"truncate":false)"))},
        Case{"yarn, ends a double apart, large factor",
             scaled(R"("head_dim":64)",
                    yarn(R"(4096,"factor":1e30,"beta_slow":7.5,"beta_fast":7.500000000000001,"truncate":false)"))},
        Case{"yarn, ends a double apart, huge base",
             scaled(R"("head_dim":8,"rope_theta":1.7e308)",
                    yarn(R"(4096,"factor":4,"beta_slow":0.001,"beta_fast":0.0010000000000000002,"truncate":false)"))},
        Case{"yarn, ends equal", scaled(R"("head_dim":64)", yarn(R"(4096,"factor":32,"beta_fast":1,"beta_slow":1)"))},
        Case{"yarn, factor 1", scaled(R"("head_dim":64)", yarn(R"(4096,"factor":1,"mscale":0.5,"mscale_all_dim":2)"))},
        Case{"yarn, attention factor", scaled(R"("head_dim":64)", yarn(R"(4096,"factor":3,"attention_factor":1.25)"))},
        Case{"llama3", scaled(R"("head_dim":128,"rope_theta":500000)",
                              R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,
                                  "low_freq_factor":1,"high_freq_factor":4})")},
        Case{"llama3 1", scaled(R"("head_dim":64)",
                                R"({"rope_type":"llama3","factor":1,"original_max_position_embeddings":1,
                                    "low_freq_factor":0.5,"high_freq_factor":0.75})")},
        Case{"llama3, borders a double apart",
             scaled(R"("head_dim":16,"rope_theta":500000)",
                    R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,
                                    "low_freq_factor":1,"high_freq_factor":1.0000000000000002})")},
        Case{"llama3, one border", scaled(R"("head_dim":128,"rope_theta":500000)",
                                          R"({"rope_type":"llama3","factor":16,"original_max_position_embeddings":8192,
                                              "low_freq_factor":1,"high_freq_factor":1})")},
        Case{"llama3, one border a double below a pair",
             scaled(R"("head_dim":8,"rope_theta":16)",
                    R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,
                                    "low_freq_factor":162.97466172610083,"high_freq_factor":162.97466172610083})")},
        Case{"llama3, one border a double above a pair",
             scaled(R"("head_dim":8,"rope_theta":16)",
                    R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,
                                    "low_freq_factor":162.97466172610086,"high_freq_factor":162.97466172610086})")},
        // The two doubles around the turns of pair 3.
        Case{"llama3, borders around a pair",
             scaled(R"("head_dim":8,"rope_theta":16)",
                    R"({"rope_type":"llama3","factor":1e300,"original_max_position_embeddings":8192,
                                    "low_freq_factor":162.97466172610083,"high_freq_factor":162.97466172610086})")},
        Case{"longrope", scaled(R"("head_dim":8)",
                                R"({"rope_type":"longrope","factor":32,"original_max_position_embeddings":4096,
                                    "short_factor":[1,1,1.05,1.1],"long_factor":[1,1.5,2.25,4]})")},
        Case{"longrope, extreme", scaled(R"("head_dim":8)",
                                         R"({"rope_type":"longrope","factor":4096,"original_max_position_embeddings":16,
                                    "short_factor":[5e-324,1e-40,1e-30,1e300],"long_factor":[1e-29,1.5,2.25,4]})")},
        Case{"proportional", scaled(R"("head_dim":16,"rope_theta":1000000,"partial_rotary_factor":0.25)",
                                    R"({"rope_type":"proportional","factor":2})")},
        Case{"proportional, fast", scaled(R"("head_dim":16)", R"({"rope_type":"proportional","factor":1e-35})")}));

TEST(RopeTurns, APlantedFaultIsSeen) {
  // One part in 2^60 of a factor moves every frequency.
  const Rope nearly = scaled(R"("head_dim":8)", R"({"rope_type":"linear","factor":8.000000000000002})");
  EXPECT_NE(rope_turns({scaled(R"("head_dim":8)", R"({"rope_type":"linear","factor":8})")}, 1),
            rope_turns({nearly}, 1));
}

struct Root {
  double factor;
  std::int64_t length;
  double numerator;  // 0: irrational
  double denominator;
};

TEST(AttentionFactor, IsKnownToBeRationalWhereTheRootOfTheLogarithmsIs) {
  for (const Root& root :
       {Root{1, 4096, 1, 1}, Root{4096, 16, 2, 1}, Root{4096, 4096, 0, 0}, Root{8, 4, 0, 0}, Root{32, 16, 3, 2},
        Root{65536, 512, 5, 3}, Root{4097, 16, 0, 0}, Root{1.5, 4096, 0, 0}, Root{0x1p1023, 2, 32, 1},
        Root{0x1p1016, 256, 0, 0}, Root{0x1p1000, 64, 0, 0}, Root{243, 81, 3, 2}, Root{243.00000000000003, 81, 0, 0}}) {
    Rope encoding = rope(R"("head_dim":2)");
    encoding.rope_scaling = LongropeScaling{root.length, {1}, {1}, root.factor, std::nullopt};
    const auto rational = attention_factor(encoding).rational;
    EXPECT_EQ(rational.has_value(), root.numerator != 0) << root.factor << " over " << root.length;
    if (!rational) continue;
    EXPECT_EQ(rational->numerator, root.numerator) << root.factor << " over " << root.length;
    EXPECT_EQ(rational->denominator, root.denominator) << root.factor << " over " << root.length;
  }
}

}  // namespace
}  // namespace sextant::rope_frequencies_test
