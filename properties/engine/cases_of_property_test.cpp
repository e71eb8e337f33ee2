#include "properties/engine/cases_of_property.hpp"

#include <gtest/gtest.h>

#include "properties/catalogue.hpp"

namespace sextant::engine_cases_of_property_test {
namespace {

using Indices = std::vector<std::size_t>;

AuditOptions asking(const Amount& amount) {
  AuditOptions options;
  options.amount = amount;
  return options;
}

TEST(CasesAsked, AreAllUnlessAnAmountSaysLess) {
  const std::vector<std::int64_t> sizes{6, 1, 4096, 2};
  EXPECT_EQ(first_cases_asked(sizes, {}, Sessions::shared), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(drawn_cases_asked(sizes, {}, Sessions::own), (Indices{0, 1, 2, 3}));
}

TEST(CasesAsked, AreTheFirstOfThoseThatAreSmallEnough) {
  const std::vector<std::int64_t> sizes{6, 1, 4096, 2};
  const AuditOptions few = asking({.values = {}, .cases = 2, .largest_call = 4});
  EXPECT_EQ(first_cases_asked(sizes, few, Sessions::shared), (Indices{1, 3}));
  // Which are drawn is said before their sizes are known.
  EXPECT_EQ(drawn_cases_asked(sizes, few, Sessions::shared), (Indices{1}));
}

TEST(CasesAsked, HaveOneFirstCaseWhateverTheAmount) {
  const std::vector<std::int64_t> sizes{64, 32, 4096};
  const AuditOptions few = asking({.values = {}, .cases = 1, .largest_call = 1});
  for (const Sessions sessions : {Sessions::shared, Sessions::own}) {
    EXPECT_EQ(first_cases_asked(sizes, few, sessions), (Indices{1}));
    EXPECT_EQ(drawn_cases_asked(sizes, few, sessions), Indices());
  }
  EXPECT_EQ(drawn_cases_asked({}, few, Sessions::own), Indices());
}

TEST(CasesOfProperty, AreASmallerAuditsAmongThoseOfALarger) {
  const Spec spec = parse_spec(R"({"encoding":"rope","head_dim":16,"max_position":8192})");
  const Property& property = *property_named("shape_independence");
  const CaseFields fields = property.fields(spec);
  const CasesOfProperty all(property, spec, {});
  const CasesOfProperty some(property, spec, asking({.values = {}, .cases = 50, .largest_call = 256}));
  EXPECT_LT(some.count(), all.count());
  EXPECT_GT(some.count(), 50);
  std::int64_t number = 0;
  for (std::int64_t i = 0; i < some.count(); ++i) {
    EXPECT_LE(size_of(fields, some.at(i)), 256);
    while (number < all.count() && all.at(number) != some.at(i)) ++number;
  }
  EXPECT_LT(number, all.count());
}

}  // namespace
}  // namespace sextant::engine_cases_of_property_test
