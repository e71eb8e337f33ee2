#include "properties/identify/attention/kinds_of_calls.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace sextant::identify::attention_kinds_of_calls_test {
namespace {

ToldKinds told(const std::function<Shows(const KindOfCall& kind)>& shows) {
  std::vector<ShownKind> all;
  for (const KindOfCall& kind : kinds_of_calls()) all.push_back({kind, shows(kind)});
  return ToldKinds(all);
}

ToldKinds of_those(const std::function<bool(const KindOfCall& kind)>& is_one) {
  return told([&](const KindOfCall& kind) { return is_one(kind) ? Shows::it : Shows::claim; });
}

TEST(KindsOfCalls, OfAllHaveNoCondition) {
  EXPECT_EQ(of_those([](const KindOfCall&) { return true; }).condition(), "");
  EXPECT_EQ(told([](const KindOfCall& kind) { return kind.queries == 1 ? Shows::it : Shows::either; }).condition(), "");
}

TEST(KindsOfCalls, AreToldByQueriesAndPadding) {
  EXPECT_EQ(of_those([](const KindOfCall& kind) { return kind.queries > 0; }).condition(), ", in steps alone");
  EXPECT_EQ(of_those([](const KindOfCall& kind) { return kind.queries == 0; }).condition(), ", in whole calls alone");
  EXPECT_EQ(of_those([](const KindOfCall& kind) { return kind.queries == 2; }).condition(),
            ", in steps of two queries alone");
  EXPECT_EQ(of_those([](const KindOfCall& kind) { return kind.queries != 1; }).condition(),
            ", and not in steps of one query");
  EXPECT_EQ(of_those([](const KindOfCall& kind) { return kind.padding == HasPadding::yes; }).condition(),
            ", in calls with padding alone");
  const ToldKinds both =
      of_those([](const KindOfCall& kind) { return kind.queries == 1 && kind.padding == HasPadding::yes; });
  EXPECT_EQ(both.condition(), ", in steps of one query over rows with padding alone");
  EXPECT_TRUE(both.holds(1, HasPadding::yes));
  EXPECT_FALSE(both.holds(1, HasPadding::no));
  EXPECT_FALSE(both.holds(7, HasPadding::yes));
}

// A number of queries that shows nothing is named where the others cannot be told without it.
TEST(KindsOfCalls, LeaveOutWhatShowsNothing) {
  const ToldKinds two = told([](const KindOfCall& kind) {
    return kind.queries == 2 ? Shows::it : kind.queries == 1 ? Shows::either : Shows::claim;
  });
  EXPECT_EQ(two.condition(), ", in steps of two queries alone");
  const ToldKinds other = told([](const KindOfCall& kind) {
    return kind.queries == 0 ? Shows::it : kind.queries == 1 ? Shows::claim : Shows::neither;
  });
  EXPECT_EQ(other.condition(), ", in whole calls");
}

// What is wrong there may be so for the same reason.
TEST(KindsOfCalls, HaveNoConditionWhereNoOthersAreAsClaimed) {
  EXPECT_EQ(told([](const KindOfCall& kind) { return kind.queries == 0 ? Shows::it : Shows::neither; }).condition(),
            "");
}

TEST(KindsOfCalls, AreNotToldWhereNothingSimpleTellsThem) {
  const ToldKinds told_of =
      of_those([](const KindOfCall& kind) { return (kind.queries == 1) == (kind.padding == HasPadding::yes); });
  EXPECT_FALSE(told_of.is_found());
  EXPECT_EQ(told_of.condition(), "");
}

}  // namespace
}  // namespace sextant::identify::attention_kinds_of_calls_test
