// Mutants and controls by what each vector is taken for.

#include "properties/diagnose/rotations/other_rotations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "properties/mutants/mutant.hpp"

namespace sextant::identify::identify_other_rotations_test {
namespace {

struct NamedReading {
  std::string mutant;
  std::string words;
};

void PrintTo(const NamedReading& row, std::ostream* stream) { *stream << row.mutant; }

std::string told_of(const std::string& name) {
  const auto difference = other_rotation(*mutants::open(name), parse_spec(mutants::named(name).spec), nullptr);
  return difference ? difference->words : "nothing";
}

const std::vector<NamedReading>& readings() {
  static const std::vector<NamedReading> list{
      {"rope-dynamic-unclamped", "calls shorter than the original length are stretched by the formula of longer ones"},
      {"rope-dynamic-length-of-first-row", "all batch rows take the first one's length"},
      {"rope-dynamic-length-of-last-row", "all batch rows take the last one's length"},
      {"rope-dynamic-length-of-tokens", "the number of tokens in a call is taken for its length"},
      {"rope-dynamic-doublings-down", "lengths are rounded down to the original one times a power of 2"},
      {"rope-longrope-short-unread", "the short factors are never read"},
      {"rope-longrope-strict-border", "the long factors begin one position early"},
      {"dual-border-early", "the long factors begin one position early"},
      {"dual-border-by-position", "the long factors begin one position late"},
      {"rope-longrope-by-first-position", "a call's first position is taken for its last"},
      {"rope-longrope-in-blocks", "each block of 256 vectors takes its own length"},
      {"rope-yarn-as-interpolation", "yarn's ramp is left out"},
      {"axial-length-of-first-axis", "the length is that of axis 0 alone"},
      {"xpos-centre-of-row", "each batch row has a centre of its own"},
      {"xpos-centre-of-tokens", "the centre is half of the number of tokens"},
      {"xpos-centre-turned", "angles count from the centre too"},
      {"xpos-scale-concatenated", "the list of scales is repeated as a whole over channels"},
      {"axial-portraits-swapped", "rows and columns change places where an image has more rows than columns"},
      {"axial-grid-of-first-row", "all rows of a batch of images have the places of the first one's image"},
      {"axial-shape-of-first-row", "rows of a batch have the sides of the first one's image"},
      {"axial-blocks-as-raster", "patches in blocks of 2 x 2 are taken to follow row after row"},
      {"axial-packed-goes-on", "a second image in a row is taken to go on below the first"},
      {"axial-time-in-single-steps", "time that goes in steps of two is taken for one in steps of one"},
      {"axial-text-last-token", "the last token of a text has the place before it on axis 2"},
      {"axial-third-axis-rows", "in rows of a batch after the first axis 2 has the positions of axis 1"},
      {"qk-norm-last-head-left-out", "the last query head is turned and not normalized"},
      {"qk-norm-keys-left-out", "keys are turned and not normalized"},
      {"qk-norm-keys-not-turned", "keys are normalized and not turned"},
      {"qk-norm-keys-not-written", "keys stay as they came"},
      {"qk-norm-keys-by-query-heads", "a key's mean is that of another key"},
      {"qk-norm-fewer-than-256-tokens", "queries and keys of tokens from number 256 of a call on are turned"},
      {"qk-norm-rotary-channels-alone", "channels that do not turn stay as they came"},
      {"qk-norm-weight-of-first-call", "the weights of a session's first call are kept"},
      {"qk-norm-bfloat16-sum", "squares are summed in bfloat16"},
      {"qk-norm-approximate-root", "the inverse root is approximate"},
      {"xpos-tiled-scale",
       "the members of a pair have different scales: the second ones have that of the pair 3 further on"},
      {"axial-flattened", "axis 1 has a flattened index for its position: 16 times that of axis 0 is added"},
      {"axial-image-last-token", "the last token of an image"},
      {"axial-text-behind-image", "a text behind an image has its tokens' numbers in the row for positions"},
      {"rope-consecutive-by-ends",
       "in calls of 64 and more tokens, in rows that end where they would if they were consecutive,"},
      {"axial-class-token-last", "a token at 0 behind an image that begins at 1"},
      {"rope-wrong-stack", "what is multiplied by the sine is the member itself"},
      {"rope-overwritten-before-read", "the first member of a pair is overwritten before the second has read it"},
      {"rope-normalised", "pairs are scaled to length 1"},
      {"rope-suffix-read-from-the-front", "the channels that turn are read from the head's first ones"},
  };
  return list;
}

class IdentifiedReading : public testing::TestWithParam<NamedReading> {};

TEST_P(IdentifiedReading, Mutant) {
  const std::string told = told_of(GetParam().mutant);
  EXPECT_TRUE(told.starts_with(GetParam().words)) << told;
}

INSTANTIATE_TEST_SUITE_P(Mutants, IdentifiedReading, testing::ValuesIn(readings()),
                         [](const testing::TestParamInfo<NamedReading>& tested) {
                           std::string name = tested.param.mutant;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Its angles are a few times less exact than claimed, as no reading says.
TEST(IdentifiedReadings, NoneOfWhatIsLessExact) { EXPECT_EQ(told_of("rope-running-product"), "nothing"); }

TEST(IdentifiedReadings, NoneOfWhatIsRight) {
  for (const char* control : {"rope-dual", "rope-dual-by-row", "axial-dual", "xpos-centred", "xpos-floor-half",
                              "qk-norm-float32", "qk-norm-fused-bfloat16", "qk-norm-yarn"})
    EXPECT_EQ(told_of(control), "nothing") << control;
}

}  // namespace
}  // namespace sextant::identify::identify_other_rotations_test
