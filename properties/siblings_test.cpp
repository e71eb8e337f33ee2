#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/mutant.hpp"

namespace sextant {
namespace {

const Spec rope = parse_spec(R"({"encoding":"rope","head_dim":8,"max_position":512})");

PropertyResult siblings_of(const Subject& subject, const Spec& spec = rope) {
  return audit({*property_named("siblings")}, subject, spec, {}).results.front();
}

TEST(Siblings, AreAskedInOneProcessWithTheSpec) {
  std::set<std::string> seen;  // of the process that saw most
  const FunctionSubject subject("counting", FunctionSubject::Begin([&seen] {
                                  const auto asked = std::make_shared<std::set<std::string>>();
                                  return [&seen, asked](const Spec& spec) -> FunctionSubject::Call {
                                    return [&seen, asked, spec, right = mutants::plain_call(spec)](
                                               std::string_view operation, const Tensors& inputs) {
                                      asked->insert(to_json(spec));
                                      if (asked->size() > seen.size()) seen = *asked;
                                      return right(operation, inputs);
                                    };
                                  };
                                }));
  EXPECT_EQ(siblings_of(subject).verdict, Verdict::holds);
  EXPECT_GE(seen.size(), 10U);
  for (const char* part : {R"("head_dim":16)", R"("dtype":"bfloat16")", R"("dtype":"float64")",
                           R"("max_position":1024)", R"("pairing":"interleaved")", R"("rope_type":"linear")"}) {
    EXPECT_TRUE(
        std::ranges::any_of(seen, [&](const std::string& spec) { return spec.find(part) != std::string::npos; }))
        << part << " in " << *seen.begin();
  }
}

TEST(Siblings, MayBeAnsweredInTheWrongDtype) {
  const FunctionSubject subject("float32 alone", [](const Spec& spec) -> FunctionSubject::Call {
    return [spec, right = mutants::plain_call(spec)](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (spec.dtype == Dtype::float32) return right(operation, inputs);
      return named("y", Tensor::zeros(Dtype::float32, inputs.at("x").shape));
    };
  });
  EXPECT_EQ(siblings_of(subject).verdict, Verdict::holds);
}

TEST(Siblings, MayAllBeRefused) {
  const FunctionSubject subject("one spec alone", [](const Spec& spec) -> FunctionSubject::Call {
    return [spec, right = mutants::plain_call(spec)](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (to_json(spec) != to_json(rope)) throw SubjectFailure(FailureKind::unsupported, "another spec");
      return right(operation, inputs);
    };
  });
  EXPECT_EQ(siblings_of(subject).verdict, Verdict::holds);
}

TEST(Siblings, ThatCrashAreLeftOut) {
  const FunctionSubject subject("fragile", [](const Spec& spec) -> FunctionSubject::Call {
    return [spec, right = mutants::plain_call(spec)](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (spec.dtype == Dtype::float64) throw SubjectFailure(FailureKind::crashed, "was killed by signal 11");
      return right(operation, inputs);
    };
  });
  const PropertyResult result = siblings_of(subject);
  EXPECT_EQ(result.verdict, Verdict::holds);
  EXPECT_EQ(result.reason, "not asked with another dtype (float64): it crashed");
}

TEST(Siblings, ThreadsAreAskedAtOnceWhereTheyArePromised) {
  for (const char* name : {"rope-threads-share-base", "rope-threads-share-positions"}) {
    const auto found = std::ranges::find(mutants::registry(), name, &mutants::Mutant::name);
    const PropertyResult promised = siblings_of(*mutants::open(name), parse_spec(found->spec));
    EXPECT_EQ(promised.verdict, Verdict::violated) << name;
    ASSERT_TRUE(promised.simplest);
    EXPECT_NE(promised.simplest->finding.find("while other threads ask"), std::string::npos)
        << promised.simplest->finding;
    const FunctionSubject says_nothing(name, found->begin);
    EXPECT_EQ(siblings_of(says_nothing, parse_spec(found->spec)).verdict, Verdict::holds) << name;
  }
}

}  // namespace
}  // namespace sextant
