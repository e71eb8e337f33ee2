// Mutants whose defect is one convention, each with the sentence that names it.

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "properties/diagnose/diagnose.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/verdict/diagnosis.hpp"

namespace sextant::identify::identify_diagnose_conventions_test {
namespace {

struct Convention {
  std::string mutant;
  std::string words;
};

void PrintTo(const Convention& row, std::ostream* stream) { *stream << row.mutant; }

const std::vector<Convention>& conventions() {
  static const std::vector<Convention> list{
      {"rope-none-scaled", "vectors come back 1.25 times as long, where rope_type none leaves them as they are"},
      {"rope-none-zero-added", "zeros lose their sign: -0 comes back as 0"},
      {"rope-none-clipped", "infinities come back as other numbers"},
      {"rope-none-rotated-far-out", "low positions are not rotated, and 16383 is"},
      {"qk-norm-factor-before-norm",
       "the attention factor is multiplied in before heads are normalized, which takes it away again"},
      {"qk-norm-factor-dropped", "the attention factor is left out"},
      {"axial-paired-over-the-head",
       "partners stand in the whole head, where the claim has them within each axis' part"},
      {"axial-grids-by-count",
       "answers depend on the calls before, or on the session: the same question has another answer elsewhere"},
  };
  return list;
}

class DiagnosedConvention : public testing::TestWithParam<Convention> {};

TEST_P(DiagnosedConvention, IsNamed) {
  const auto diagnosis =
      diagnose(*mutants::open(GetParam().mutant), parse_spec(mutants::named(GetParam().mutant).spec));
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(words_of(*diagnosis), GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(Mutants, DiagnosedConvention, testing::ValuesIn(conventions()),
                         [](const testing::TestParamInfo<Convention>& tested) {
                           std::string name = tested.param.mutant;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sextant::identify::identify_diagnose_conventions_test
