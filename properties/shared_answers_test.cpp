#include <gtest/gtest.h>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::shared_answers_test {
namespace {

// How often the encoder is called when it is judged by these properties, all of which hold.
std::int64_t calls_for(const std::vector<const char*>& ids, const Spec& spec) {
  std::int64_t calls = 0;
  const std::unique_ptr<Subject> builtin = builtin_subject();
  const FunctionSubject counting("counting", [&](const Spec& asked) -> FunctionSubject::Call {
    return [&calls, session = std::shared_ptr<Session>(builtin->open(asked))](std::string_view operation,
                                                                              const Tensors& inputs) {
      ++calls;
      return session->call(operation, inputs);
    };
  });
  std::vector<Property> properties;
  for (const char* id : ids) properties.push_back(*property_named(id));
  AuditOptions options;
  options.profile = Profile::quick;
  for (const PropertyResult& result : audit(properties, counting, spec, options).results)
    EXPECT_EQ(result.verdict, Verdict::holds) << result.id << ": " << result.reason;
  return calls;
}

// Each law may ask once more: whether the worst place of a long call shows by itself.
void expect_shared(const std::vector<const char*>& ids, const char* claim) {
  const Spec spec = parse_spec(claim);
  const std::int64_t alone = calls_for({ids.front()}, spec);
  const std::int64_t together = calls_for(ids, spec);
  EXPECT_GT(alone, 50) << claim;
  EXPECT_LE(together, alone + std::ssize(ids) - 1) << claim;
}

TEST(SharedAnswers, OneAnswerServesEveryLawThatJudgesIt) {
  expect_shared({"accuracy", "isometry"}, R"({"encoding":"rope","head_dim":16,"max_position":8192})");
  expect_shared({"accuracy", "bounds", "unit_circle"}, R"({"encoding":"sinusoidal","dim":16,"max_position":8192})");
  expect_shared({"accuracy", "code_bounds"}, R"({"encoding":"binary","dim":14})");
}

}  // namespace
}  // namespace sextant::shared_answers_test
