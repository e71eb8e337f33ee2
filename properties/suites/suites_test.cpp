#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "properties/mutants/mutant.hpp"
#include "properties/suites/suite.hpp"
#include "subjects/builtin.hpp"

namespace sextant::suites::suites_test {
namespace {

const Suite& suite_of(std::string_view project, std::string_view test) {
  for (const Suite& suite : suites()) {
    if (suite.project == project && suite.test.find(test) != std::string_view::npos) return suite;
  }
  throw std::logic_error("no such suite");
}

Spec claim_of(const Suite& suite) {
  const Spec rotation = parse_spec(R"({"encoding":"rope","head_dim":16})");
  return suite.is_about(rotation) ? rotation : parse_spec(R"({"encoding":"sinusoidal","dim":16})");
}

// Asked of an implementation that is right but for one fault.
bool passes(const Suite& suite, const char* mutant) {
  return suite.ask(*mutants::open(mutant), parse_spec(mutants::named(mutant).spec)).passes;
}

TEST(Suites, PassTheCodeThatTheyCompareWith) {
  for (const Suite& suite : suites()) {
    if (suite.project == "litgpt") continue;  // of 131072 positions
    const Outcome outcome = suite.ask(*usual_implementation(), claim_of(suite));
    EXPECT_TRUE(outcome.passes) << suite.project << ", " << suite.test << ": " << outcome.why;
  }
}

TEST(Suites, RefuseWhatIsPlainlyWrong) {
  // These compare the subject with itself, and a rotation the other way has every law that they know.
  const std::set<std::string_view> blind{"tests/attention/test_rope.py, pos_ids", "tests/test-rope.cpp",
                                         "tests/models/llama/test_modeling_llama.py, test_model_rope_scaling",
                                         "test/transformers/test_rope.py, test_functional_correctness",
                                         "python/tests/test_fast.py, test_rope_with_large_offset"};
  for (const Suite& suite : suites()) {
    if (suite.project == "litgpt") continue;
    const char* mutant = encoding_name(claim_of(suite)) == "rope" ? "rope-transposed" : "sinusoidal-degrees";
    EXPECT_EQ(passes(suite, mutant), blind.contains(suite.test)) << suite.project << ", " << suite.test;
  }
}

TEST(Suites, SeeNoTableThatTheyShare) {
  EXPECT_TRUE(passes(suite_of("vLLM", "pos_encoding"), "rope-theta-ignored"));
  EXPECT_FALSE(passes(suite_of("FlashInfer", "apply_rope"), "rope-theta-ignored"));
}

TEST(Suites, ThePageHasThemAll) {
  std::ifstream file(SEXTANT_SOURCE_DIR "/docs/test-suites.md");
  std::stringstream page;
  page << file.rdbuf();
  for (const Suite& suite : suites()) {
    for (const std::string_view text : {suite.link, suite.compares, suite.positions, suite.reference})
      EXPECT_NE(page.str().find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace sextant::suites::suites_test
