#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/model/model.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"

namespace sextant::extrapolation_test {
namespace {

PropertyResult extrapolation_of(const Subject& subject, const std::string& spec) {
  return audit({*property_named("extrapolation")}, subject, parse_spec(spec), {}).results.front();
}

PropertyResult extrapolation_of(std::string_view mutant) {
  return extrapolation_of(*mutants::open(mutant), mutants::named(mutant).spec);
}

// Steps 3 to 6 of docs/proofs/extrapolation.md.
TEST(Extrapolation, PhasesBeyondAreThoseThatARulePromises) {
  const auto phases = [](const std::string& scaling) {
    return model_of(parse_spec(R"({"encoding":"rope","head_dim":128,"max_position":16384,"trained_positions":4096)" +
                               scaling + "}"))
        ->met_beyond();
  };
  const std::string none_beyond = ", 0 go beyond it";
  for (const char* scaling :
       {R"(,"rope_scaling":{"rope_type":"linear","factor":4})",
        R"(,"rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":4096})",
        R"(,"rope_scaling":{"rope_type":"llama3","factor":4,"original_max_position_embeddings":4096,)"
        R"("low_freq_factor":1,"high_freq_factor":4})"}) {
    EXPECT_NE(phases(scaling).find(none_beyond), std::string::npos) << phases(scaling);
  }
  // 10000^(-i/64) >= 2 pi/4096 up to i = 45; without a rule all others go beyond their arcs, with ntk all but the last.
  EXPECT_EQ(phases(""),
            "of 64 pairs 46 go full circle within the 4096 positions trained, 0 more stay there within the "
            "arc that they had, 18 go beyond it");
  EXPECT_NE(phases(R"(,"rope_scaling":{"rope_type":"ntk","factor":4})").find(" 1 more stay"), std::string::npos);
}

// Step 8.
TEST(Extrapolation, BiasesTellWhatIsNewBeyond) {
  const auto told = [](const char* fields) {
    return model_of(parse_spec(std::string(R"({"max_position":16384,"trained_positions":4096,)") + fields + "}"))
        ->met_beyond();
  };
  // The slope of the first of 8 heads is 1/2.
  EXPECT_EQ(told(R"("encoding":"alibi","num_heads":8)"),
            "the line goes on: scores fall by up to 8191.5 in the steepest head, by 2047.5 in training");
  EXPECT_EQ(told(R"("encoding":"relative_bias","max_distance":128)"),
            "distances beyond the trained ones share the last bucket that was trained");
  // 16 buckets a side, of which those from 8 on are logarithmic: 8 + floor(8 ln(d/8) / ln(32768/8)).
  EXPECT_EQ(told(R"("encoding":"relative_bias","max_distance":32768)"),
            "buckets 14 to 15 of keys before the query are met that were not trained");
}

TEST(Extrapolation, WhatDoesNotGoOnIsConvictedAtTheBorder) {
  for (const auto& [mutant, told] : {std::pair{"rope-beyond-clamped", "position 4096"},
                                     {"rope-beyond-refused", "1 token from position 4096 refused"},
                                     {"rope-beyond-second-table", "position 4096"},
                                     {"rope-dynamic-switch-doubled", "position "},
                                     {"rope-longrope-switch-late", "position 4096"}}) {
    const PropertyResult result = extrapolation_of(mutant);
    EXPECT_EQ(result.verdict, Verdict::violated) << mutant;
    ASSERT_TRUE(result.simplest) << mutant;
    EXPECT_NE(result.simplest->finding.find(told), std::string::npos) << mutant << ": " << result.simplest->finding;
  }
}

TEST(Extrapolation, WhatMathematicsSaysDoesNotExtrapolateHasAWitness) {
  for (const auto& [control, told] : {std::pair{"learned-trained", "rows beyond the trained ones, changed"},
                                      {"integer-trained", "trained positions have 0 to 4095"},
                                      {"binary-trained", "trained positions have 0 to 0"}}) {
    const PropertyResult result = extrapolation_of(control);
    EXPECT_EQ(result.verdict, Verdict::holds) << result.reason;
    EXPECT_EQ(result.theory, Theory::fails);
    ASSERT_TRUE(result.simplest) << control;
    EXPECT_NE(result.simplest->finding.find(told), std::string::npos) << result.simplest->finding;
  }
  EXPECT_EQ(extrapolation_of("learned-beyond-clamped").verdict, Verdict::violated);
}

// Beyond the claim it measures.
TEST(Extrapolation, BeyondTheClaimNothingIsConvicted) {
  const PropertyResult on =
      extrapolation_of(*builtin_subject(), R"({"encoding":"rope","head_dim":16,"max_position":4096})");
  EXPECT_EQ(on.verdict, Verdict::holds);
  EXPECT_EQ(on.reason, "beyond the claim the law goes on at least to position 262144");
  const PropertyResult end =
      extrapolation_of(*builtin_subject(), R"({"encoding":"learned","dim":4,"max_positions":99})");
  EXPECT_EQ(end.verdict, Verdict::holds);
  EXPECT_EQ(end.reason, "at position 99, beyond the claim, it refuses");
}

TEST(BelowClaim, SaysWhichPositionsAreTaken) {
  for (const auto& [mutant, told] : {std::pair{"sinusoidal-below-wrapped", "from 16383 on, wrapped round"},
                                     {"learned-below-wrapped", "from 8191 on, wrapped round"},
                                     {"rope-below-mirrored", "from 1 down, mirrored"},
                                     {"rope-nd-below-clamped", "position 0, clamped"}}) {
    const PropertyResult result =
        audit({*property_named("below_claim")}, *mutants::open(mutant), parse_spec(mutants::named(mutant).spec), {})
            .results.front();
    EXPECT_EQ(result.verdict, Verdict::violated) << mutant;
    ASSERT_TRUE(result.simplest) << mutant;
    EXPECT_NE(result.simplest->finding.find(told), std::string::npos) << result.simplest->finding;
  }
}

}  // namespace
}  // namespace sextant::extrapolation_test
