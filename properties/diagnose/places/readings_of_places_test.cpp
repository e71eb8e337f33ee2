// Ropes that are another one in some vectors alone, and vectors that have other ones' values, each with the sentence
// that says where and what.

#include "properties/diagnose/places/readings_of_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "properties/diagnose/places/wrong_places.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"

namespace sextant::identify::identify_readings_of_places_test {
namespace {

// A mutant, a case of accuracy that it fails, and what is said of it.
struct ToldAtPlace {
  std::string mutant;
  std::string failing;
  std::string words;
};

void PrintTo(const ToldAtPlace& told, std::ostream* stream) { *stream << told.mutant; }

std::string said(const ToldAtPlace& told) {
  const auto right = builtin_subject();
  const auto place = wrong_places(*mutants::open(told.mutant), parse_spec(mutants::named(told.mutant).spec),
                                  {.proposer = right.get(), .failing = {told.failing}});
  return place ? place->words : "nothing";
}

const std::vector<ToldAtPlace>& told_at_places() {
  static const std::vector<ToldAtPlace> list{
      {"rope-linear-whole", "accuracy:position=1,tokens=65,batch=1,heads=1,fill=0",
       "tokens from number 64 on have positions that are rounded down to multiples of 4, and the rest is right"},
      {"rope-dynamic-one-token", "accuracy:position=2049,tokens=1,batch=1,heads=1,fill=0",
       "calls of one token: the claim's rope_scaling is left out, and the rest is right"},
      {"rope-yarn-unscaled-heads", "accuracy:position=1,tokens=1,batch=1,heads=33,fill=0",
       "heads from 32 on: the attention factor is left out, and the rest is right"},
      {"rope-yarn-squared-one-token", "accuracy:position=1,tokens=1,batch=3,heads=1,fill=0",
       "calls of one token, in calls of 3 and more batch rows: the attention factor is applied twice, and the rest is "
       "right"},
      {"rope-second-half-of-heads", "accuracy:position=1,tokens=1,batch=1,heads=64,fill=0",
       "heads from 32 on, in calls of 64 heads, have one position less than their own, and the rest is right"},
      {"rope-heads-of-8", "accuracy:position=1,tokens=1,batch=1,heads=9,fill=1",
       "heads from 8 on, in heads after the last whole 8, come back as those of the head before, and the rest is "
       "right"},
      {"rope-equal-rows", "accuracy:position=1,tokens=2,batch=2,heads=1,fill=1",
       "rows of a batch with the positions of its first come back as those of the batch's first row, and the rest is "
       "right"},
      {"rope-head-of-token", "accuracy:position=1,tokens=128,batch=1,heads=2,fill=1",
       "the last of several heads, in calls of 256 and more vectors in a batch row, counted over tokens and heads,"},
      {"rope-llama3-later-heads", "accuracy:position=1,tokens=1,batch=1,heads=17,fill=1",
       "heads from 16 on: channels from 6 on are wrong, and the rest is right"},
      {"grid-column-of-row", "accuracy:position=0,tokens=4800,batch=1,heads=1,fill=65598",
       "cells whose first coordinate is 24 more than the second: axis 1: coordinates are those of axis 0, and the rest "
       "is right"},
      {"sinusoidal-last-channel-16384", "accuracy:position=16384,rows=1",
       "every 16384th position from number 0 on: the last channel is wrong, and the rest is right"},
      {"timestep-uneven-schedule-zero", "accuracy:position=0,rows=100,order=26",
       "calls whose positions fall, the first two steps not alike come back as zeros, and the rest is right"},
      {"timestep-guidance-by-the-ends", "accuracy:position=0,rows=6,order=21",
       "calls of two halves that each end at the position they begin with come back as zeros, and the rest is right"},
      {"sinusoidal-summed-positions", "accuracy:position=257,rows=4",
       "tokens have positions that are a running sum of ones in bfloat16, token by token, and the rest is right"},
      {"sinusoidal-capacity-scaled", "accuracy:position=1,rows=17",
       "calls of 17 and more tokens: positions are multiplied by 16 / n in a call of n tokens, as where they are "
       "interpolated, and the rest is right"},
      {"rope-shift-by-head-size", "accuracy:position=8192,tokens=1,batch=1,heads=1,fill=0",
       "positions from 8192 on turn on from there by other frequencies, base^(-2i / 64), the exponents of the whole "
       "head, where the claim has base^(-2i / 24), and the rest is right"},
      {"table-second-copy", "accuracy:position=77,tokens=1,batch=1,heads=1,fill=0", "position 77: "},
      {"rope-in-place", "accuracy:position=1,tokens=1,batch=1,heads=5,fill=1",
       "heads from 4 on: the second members of pairs have the values of the channels 8 places before, and the rest is "
       "right"},
      {"rope-head-stride", "accuracy:position=1,tokens=1,batch=1,heads=9,fill=1",
       "the last head, in heads from 8 on, in calls whose number of heads is no power of two, comes back as zeros, and "
       "the rest is right"},
      {"rope-rows-remainder", "accuracy:position=1,tokens=1,batch=5,heads=1,fill=1",
       "rows of a batch from 4 on, in rows of a batch after the last whole 4, are not rotated, and the rest is right"},
      {"rope-even-long", "accuracy:position=1,tokens=100,batch=1,heads=1,fill=1",
       "the token in the middle of an even number, in tokens from number 50 on, has twice its position, and the rest "
       "is "
       "right"},
      {"rope-negative-modulo", "accuracy:position=-64,tokens=1,batch=1,heads=1,fill=1",
       "negative positions, at every 64th position from number 0 on, have a position 64 less than their own, and the "
       "rest is right"},
      {"rope-repeats-copied", "accuracy:position=1,tokens=8,batch=1,heads=1,fill=1,order=4",
       "tokens at the position of the token before come back as those of the token before, and the rest is right"},
      {"rope-small-is-padding", "accuracy:position=1,tokens=8,batch=1,heads=1,fill=1",
       "tokens whose values sum up, over all heads and without their signs, to "},
      {"rope-last-of-long", "accuracy:position=1,tokens=500,batch=1,heads=1,fill=1", "the last vector of a call, in "},
  };
  return list;
}

class WrongPlacesOfReadings : public testing::TestWithParam<ToldAtPlace> {};

TEST_P(WrongPlacesOfReadings, AreNamed) {
  const std::string words = said(GetParam());
  EXPECT_TRUE(words.starts_with(GetParam().words)) << words;
}

INSTANTIATE_TEST_SUITE_P(Mutants, WrongPlacesOfReadings, testing::ValuesIn(told_at_places()),
                         [](const testing::TestParamInfo<ToldAtPlace>& tested) {
                           std::string name = tested.param.mutant;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sextant::identify::identify_readings_of_places_test
