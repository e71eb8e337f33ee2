// What is said of attention whose scores, masks or rows differ in one thing, each of a mutant.

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/diagnose.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/builtin.hpp"

namespace sextant::identify::identify_diagnose_scores_test {
namespace {

struct Told {
  std::string mutant;
  std::string words;
  std::vector<std::string> failing = {};  // cases of accuracy
};

std::string said(const Told& told) {
  const auto& registry = mutants::registry();
  const auto mutant = std::ranges::find(registry, told.mutant, &mutants::Mutant::name);
  if (mutant == registry.end()) return told.mutant + " is no mutant";
  const auto right = builtin_subject();
  const auto diagnosis = diagnose(*mutants::open(told.mutant), parse_spec(mutant->spec),
                                  {.proposer = right.get(), .failing = told.failing});
  return diagnosis ? words_of(*diagnosis) : "nothing";
}

class DiagnosedScores : public testing::TestWithParam<Told> {};

TEST_P(DiagnosedScores, AreNamed) { EXPECT_EQ(said(GetParam()), GetParam().words); }

const std::vector<Told>& of_scores() {
  static const std::vector<Told> list{
      {"attention-position-unasked", "scores rise by 0.125 from key to key, where the claim adds nothing to them"},
  };
  return list;
}

INSTANTIATE_TEST_SUITE_P(Scores, DiagnosedScores, testing::ValuesIn(of_scores()), [](const auto& info) {
  std::string name = info.param.mutant;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace sextant::identify::identify_diagnose_scores_test
