#include "properties/engine/typed_cases.hpp"

#include <gtest/gtest.h>

#include "properties/engine/engine.hpp"
#include "subjects/function.hpp"
#include "subjects/operations.hpp"

namespace sextant::engine_typed_cases_test {
namespace {

// A stretch of at most four positions that ends within the claim.
struct Stretch {
  std::int64_t first;
  std::int64_t rows;
  std::int64_t untold = 5;
};

CasesOf<Stretch> stretches() {
  CasesOf<Stretch> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Stretch>> {
    return {{"rows", FieldRole::run, &Stretch::rows, {1, 4}},
            {"first", FieldRole::position, &Stretch::first, claimed(spec)}};
  };
  cases.related = [](const Spec& spec, const Stretch& asked) { return asked.first <= spec.max_position - asked.rows; };
  cases.first = [](const Spec& spec) -> std::vector<Stretch> { return {{.first = spec.max_position - 3, .rows = 3}}; };
  cases.drawn = [](const Spec& spec) {
    return rc::gen::map(rc::gen::inRange(spec.min_position, spec.max_position - 4),
                        [](std::int64_t first) { return Stretch{.first = first, .rows = 4}; });
  };
  return cases;
}

// Answers are wrong from position `limit` on.
Property wrong_from(std::int64_t limit) {
  Property property;
  property.id = "stretches";
  property.not_applicable = [](const Spec&) { return std::nullopt; };
  use_cases(property, stretches(), [limit](const Spec&) {
    return [limit](Session&, const Stretch& asked) {
      Judgement judgement;
      EXPECT_EQ(asked.untold, 5);
      const bool wrong = asked.first + asked.rows > limit;
      judgement.place = std::max(asked.first, limit);
      judgement.add(wrong ? reference::Certainty::no : reference::Certainty::yes, {wrong ? 2.0 : 0.5, 0, 0},
                    [] { return "found"; });
      return judgement;
    };
  });
  return property;
}

const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":4,"min_position":-20,"max_position":1000})");

TEST(TypedCases, AreRowsInTheOrderOfTheirFields) {
  const Property property = wrong_from(0);
  EXPECT_EQ(property.first_cases(spec), (std::vector<Case>{{3, 997}}));
  EXPECT_EQ(write_token(property.id, property.fields(spec), {3, 997}), "stretches:rows=3,first=997");
  EXPECT_TRUE(property.sweep(spec, 1000).blocks.empty());
  rc::Random random(1);
  for (int i = 0; i < 50; ++i) {
    const Case drawn = property.cases(spec)(random.split()).value();
    EXPECT_EQ(drawn[0], 4);
    EXPECT_TRUE(property.admits(spec, drawn));
  }
}

TEST(TypedCases, AreAdmittedByRangesAndRelation) {
  const Property property = wrong_from(0);
  EXPECT_TRUE(property.admits(spec, {4, 996}));
  EXPECT_FALSE(property.admits(spec, {4, 997}));
  EXPECT_FALSE(property.admits(spec, {5, 0}));
  EXPECT_FALSE(property.admits(spec, {1, -21}));
  EXPECT_EQ(property.simplest(spec), (Case{1, 0}));
}

TEST(TypedCases, ShrinkByTheirRolesAndHaveTheHorizonOfTheirPlaces) {
  const FunctionSubject subject("test", [](const Spec&) -> FunctionSubject::Call {
    return [](std::string_view, const Tensors&) -> Tensors { return {}; };
  });
  const PropertyResult result = audit({wrong_from(400)}, subject, spec, {}).results.front();
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_EQ(result.simplest->token, "stretches:rows=1,first=400");
  EXPECT_EQ(result.horizon, 399);
}

// Of a case whose judgement names no position any may be the wrong one.
TEST(TypedCases, HaveNoHorizonWhereNoPositionIsNamed) {
  const FunctionSubject subject("test", [](const Spec&) -> FunctionSubject::Call {
    return [](std::string_view, const Tensors&) -> Tensors { return {}; };
  });
  Property property;
  property.id = "stretches";
  property.not_applicable = [](const Spec&) { return std::nullopt; };
  use_cases(property, stretches(), [](const Spec&) {
    return [](Session&, const Stretch&) {
      Judgement judgement;
      judgement.add_exact("wrong", [] { return std::string(); });
      return judgement;
    };
  });
  const PropertyResult result = audit({property}, subject, spec, {}).results.front();
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_EQ(result.horizon, std::nullopt);
}

}  // namespace
}  // namespace sextant::engine_typed_cases_test
