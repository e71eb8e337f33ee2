#include "app/audit_each.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"

namespace sextant::audit_each_test {
namespace {

Report with(Verdict verdict, int status) {
  Report report;
  report.subject = "builtin";
  report.claim = "float32-angle";
  report.profile = "quick";
  PropertyResult result;
  result.id = "accuracy";
  result.title = "near to the true one";
  result.verdict = verdict;
  report.results.push_back(result);
  report.exit_status = status;
  return report;
}

struct Outcome {
  int status;
  std::string text;
};

// Encodings that are not named hold.
Outcome audited(const std::map<std::string, Report>& reports) {
  testing::internal::CaptureStdout();
  std::vector<NamedSpec> claims;
  for (const EncodingExample& example : encoding_examples())
    claims.push_back({std::string(example.encoding), std::string(example.spec)});
  const int status = audit_each(claims, "encodings", Colour::none, [&](const NamedSpec& claim) {
    EXPECT_EQ(encoding_name(parse_spec(claim.spec)), claim.name);
    const auto found = reports.find(claim.name);
    return found == reports.end() ? with(Verdict::holds, 0) : found->second;
  });
  return {status, testing::internal::GetCapturedStdout()};
}

const std::size_t all = encoding_examples().size();

std::string hold(std::size_t count, std::size_t of) {
  return std::to_string(count) + " of " + std::to_string(of) + " encodings hold";
}

TEST(AuditEach, EveryClaimHasALine) {
  const Outcome outcome = audited({});
  EXPECT_EQ(outcome.status, 0);
  for (const EncodingExample& example : encoding_examples())
    EXPECT_NE(outcome.text.find(std::string(example.encoding) + " "), std::string::npos);
  EXPECT_NE(outcome.text.find(hold(all, all)), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.text.find("profile"), std::string::npos) << "a report in full without a failure";
}

TEST(AuditEach, TheWorstStatusIsThatOfAllAndFailuresAreShownInFull) {
  const Outcome violated = audited({{"xpos", with(Verdict::violated, 1)},
                                    {"alibi", with(Verdict::crashed, 3)},
                                    {"rope", with(Verdict::undecided, 4)}});
  EXPECT_EQ(violated.status, 1);
  EXPECT_NE(violated.text.find("VIOLATED"), std::string::npos) << violated.text;
  EXPECT_NE(violated.text.find(hold(all - 3, all)), std::string::npos) << violated.text;
  EXPECT_EQ(audited({{"alibi", with(Verdict::crashed, 3)}, {"rope", with(Verdict::undecided, 4)}}).status, 3);
  EXPECT_EQ(audited({{"rope", with(Verdict::undecided, 4)}}).status, 4);
  EXPECT_EQ(audited({{"rope", with(Verdict::unsupported, 4)}}).status, 4);
}

TEST(AuditEach, AClaimThatNothingAppliesToCountsOnlyIfNothingAppliesToAny) {
  const Outcome one = audited({{"rope", with(Verdict::not_applicable, 4)}});
  EXPECT_EQ(one.status, 0);
  EXPECT_NE(one.text.find(hold(all - 1, all - 1)), std::string::npos) << one.text;
  std::map<std::string, Report> none;
  for (const EncodingExample& example : encoding_examples())
    none[std::string(example.encoding)] = with(Verdict::not_applicable, 4);
  EXPECT_EQ(audited(none).status, 4);
}

}  // namespace
}  // namespace sextant::audit_each_test
