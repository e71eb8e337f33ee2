#include "properties/diagnose/laws/violated_contracts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"

namespace sextant::identify::violated_contracts_test {
namespace {

std::string told_of(const Subject& subject, const Spec& spec, const char* id) {
  std::vector<PropertyResult> results = audit({*property_named(id)}, subject, spec, {}).results;
  std::erase_if(results, [](const PropertyResult& result) { return result.verdict != Verdict::violated; });
  const auto difference = violated_contracts(subject, spec, results);
  return difference ? difference->words : "";
}

Spec spec_of(const std::string& mutant) { return parse_spec(mutants::named(mutant).spec); }

TEST(ViolatedContracts, SayWhatIsKeptAndForWhom) {
  const std::map<std::string, std::string> kept{
      {"rope-cache-without-base",
       "after a call with another rope_theta in one process answers are that call's: what is kept is looked up without "
       "rope_theta"},
      {"rope-cache-of-whole-base",
       "after a call with another rope_theta in one process answers are that call's: what is kept is looked up by the "
       "whole number in rope_theta"},
      {"fourier-cache-without-extents",
       "after a call with another extents in one process answers are that call's: what is kept is looked up without "
       "extents"},
      {"rope-nd-cache-by-first-shift",
       "after a call with another coordinate_shifts in one process answers are that call's: what is kept is looked up "
       "by a part of coordinate_shifts alone"},
      {"rope-base-of-refused-call",
       "a call with another rope_scaling that is refused leaves something behind, which answers are made with"},
      {"rope-threads-share-base",
       "calls of several threads at once disturb each other: what one sets up another uses"}};
  for (const auto& [name, words] : kept)
    EXPECT_EQ(told_of(*mutants::open(name), spec_of(name), "siblings"), words) << name;
}

TEST(ViolatedContracts, SayWhatBecomesOfChannelsThatAreNotRotated) {
  const std::map<std::string, std::string> changed{
      {"rope-tail-nan-cleaned", "in channels that are not rotated nan becomes 0"},
      {"rope-suffix-zeros-cleaned", "in channels that are not rotated -0 becomes 0"}};
  for (const auto& [name, words] : changed)
    EXPECT_EQ(told_of(*mutants::open(name), spec_of(name), "untouched_channels"), words) << name;
}

TEST(ViolatedContracts, SayWhichInputIsWritten) {
  EXPECT_EQ(told_of(*mutants::open("rope-input-overwritten"), spec_of("rope-input-overwritten"), "input_unchanged"),
            "a call writes into its input x");
}

TEST(ViolatedContracts, SayWhatALawSaysByItself) {
  EXPECT_EQ(told_of(*mutants::open("rope-scaled-by-block"), spec_of("rope-scaled-by-block"), "linearity"),
            "vectors are not turned linearly: a multiple of one, or the sum of two, comes back as something else");
}

TEST(ViolatedContracts, SayNothingOfWhatHolds) {
  const Spec rope = parse_spec(R"({"encoding":"rope","head_dim":64,"partial_rotary_factor":0.5,"max_position":256})");
  for (const char* id : {"siblings", "untouched_channels", "input_unchanged", "linearity"})
    EXPECT_EQ(told_of(*builtin_subject(), rope, id), "") << id;
}

}  // namespace
}  // namespace sextant::identify::violated_contracts_test
