#pragma once

// Each property that applies to a claim as one GoogleTest test of your own functions (docs/cpp.md):
//
//     #include <sextant/gtest.h>
//
//     sextant_worker::Array rotate(const sextant_worker::Call& call) { ... }
//     SEXTANT_AUDIT(MyRotary, R"({"encoding": "rope", "head_dim": 64})", {.rotate = rotate});
//
// Link sextant::gtest and GTest::gtest_main. With SEXTANT_PROFILE=standard in the environment more is asked; with
// SEXTANT_REPLAY=TOKEN the one case of a failure's message, by the test of its property.

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <ostream>
#include <string>
#include <vector>

#include "testing/function_audit.hpp"

namespace sextant::gtest {

/// A property to be asked; or, for a claim that is none, why it is refused.
struct Asked {
  std::string property;
  std::string refusal;
};

/// For GoogleTest's lines of a failure.
inline void PrintTo(const Asked& asked, std::ostream* out) { *out << asked.property; }

inline auto asked_of(const std::string& spec) {
  std::vector<Asked> list;
  try {
    for (const auto& question : function_audit::questions(spec)) list.push_back({question.property, ""});
  } catch (const std::exception& error) {
    list = {{"spec", error.what()}};
  }
  return ::testing::ValuesIn(list);
}

inline std::string name_of(const ::testing::TestParamInfo<Asked>& asked) { return asked.param.property; }

/// One property of one claim.
class PropertyTest : public ::testing::TestWithParam<Asked> {
 protected:
  void judge(const std::string& spec, const sextant_worker::Subject& functions) {
    ASSERT_TRUE(GetParam().refusal.empty()) << GetParam().refusal;
    function_audit::Amount amount;
    if (const char* profile = std::getenv("SEXTANT_PROFILE")) amount.profile = profile;
    if (const char* token = std::getenv("SEXTANT_REPLAY")) {
      amount.replay = token;
      if (!amount.replay.starts_with(GetParam().property + ":"))
        GTEST_SKIP() << "SEXTANT_REPLAY is of another property";
    }
    using Kind = function_audit::Finding::Kind;
    const function_audit::Finding finding = function_audit::judge(GetParam().property, spec, functions, amount);
    if (finding.kind == Kind::skipped) GTEST_SKIP() << finding.text;
    if (finding.kind == Kind::fails) FAIL() << "claim: " << spec << "\n" << finding.text;
  }
};

}  // namespace sextant::gtest

/// SEXTANT_AUDIT(SUITE, SPEC, FUNCTIONS): the tests SUITE.Holds/accuracy, SUITE.Holds/isometry, ..., or, for what is no
/// claim, SUITE.Holds/spec, which fails. SPEC is JSON or a preset's name; FUNCTIONS is a sextant_worker::Subject, or
/// what initializes one. What applies is asked when GoogleTest is initialized, in main.
#define SEXTANT_AUDIT(suite, spec, ...)                                  \
  class suite : public ::sextant::gtest::PropertyTest {                  \
   protected:                                                            \
    static ::sextant_worker::Subject functions() { return __VA_ARGS__; } \
  };                                                                     \
  TEST_P(suite, Holds) { judge(spec, functions()); }                     \
  INSTANTIATE_TEST_SUITE_P(, suite, ::sextant::gtest::asked_of(spec), ::sextant::gtest::name_of)
