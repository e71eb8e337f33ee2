#include "reports/same_run.hpp"

#include <gtest/gtest.h>

#include "reports/sample_test.hpp"

namespace sextant::same_run_test {
namespace {

TEST(SameRun, NamesEachFieldOfASpecThatDiffersWithBothValues) {
  EXPECT_EQ(difference_of_specs(R"({"encoding":"rope","head_dim":64})", R"({"head_dim":64,"encoding":"rope"})"), "");
  EXPECT_EQ(difference_of_specs(R"({"head_dim":64,"rope_scaling":{"rope_type":"yarn","factor":4},"dtype":"float32"})",
                                R"({"head_dim":128,"rope_scaling":{"rope_type":"yarn","factor":8},"libm":4})"),
            R"(head_dim 64 and 128, rope_scaling.factor 4 and 8, dtype "float32" and none, libm none and 4)");
  EXPECT_EQ(difference_of_specs(R"({"rope_scaling":null})", R"({"rope_scaling":{"factor":8}})"),
            R"(rope_scaling null and {"factor":8})");
}

TEST(SameRun, TellsAllThatDiffersAndOfCommandsWhereNothingElseDoes) {
  const Report one = sample();
  EXPECT_FALSE(difference_of_runs(one, one));
  Report other = one;
  other.command += " --values 7";
  EXPECT_EQ(difference_of_runs(one, other)->find("commands: "), 0);
  other.seed = 2;
  other.profile = "standard";
  other.spec_json = R"({"encoding":"rope","head_dim":128})";
  EXPECT_EQ(difference_of_runs(one, other),
            "specs: head_dim 64 and 128; profiles: quick and standard; seeds: 18446744073709551615 and 2");
}

}  // namespace
}  // namespace sextant::same_run_test
