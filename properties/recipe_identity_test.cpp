#include <gtest/gtest.h>

#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/every/recipe_identity.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/recipe_subject.hpp"

namespace sextant::recipe_identity_test {
namespace {

constexpr Amount small{.values = std::int64_t{1} << 16, .cases = 40, .largest_call = 4096};

PropertyResult identity_of(const Subject& subject, std::string_view spec, std::string_view recipe,
                           const Amount& amount = small) {
  AuditOptions options;
  options.profile = Profile::quick;
  options.amount = amount;
  return audit({recipe_identity_property(reference::recipe_named(recipe))}, subject, parse_spec(spec), options)
      .results.front();
}

constexpr std::string_view usual = R"({"encoding":"rope","head_dim":16,"max_position":4096})";

TEST(RecipeIdentity, EachRecipeHasItsOwnBitsAndNoOthers) {
  const auto subject = mutants::open_recipe("float32");
  const PropertyResult own = identity_of(*subject, usual, "float32");
  EXPECT_EQ(own.verdict, Verdict::holds) << own.reason;
  ASSERT_TRUE(own.coverage);
  EXPECT_GT(own.coverage->values, 1000);
  for (const std::string_view other :
       {"float32-power", "float32-exponential", "float32-widened-fused-first", "float64"}) {
    const PropertyResult result = identity_of(*subject, usual, other);
    EXPECT_EQ(result.verdict, Verdict::violated) << other;
    ASSERT_TRUE(result.simplest) << other;
    EXPECT_GE(result.simplest->deviation.of_bound, 1) << other;
    EXPECT_NE(result.simplest->finding.find(other), std::string::npos) << result.simplest->finding;
  }
}

TEST(RecipeIdentity, OrdersOfAFusedProductAreToldApart) {
  for (const std::string_view one : {"cast-table", "cast-table-fused-first", "cast-table-fused-second"}) {
    for (const std::string_view other : {"cast-table", "cast-table-fused-first", "cast-table-fused-second"}) {
      const auto verdict =
          identity_of(*mutants::open_recipe(one), R"({"encoding":"rope","head_dim":16,"max_position":4096})", other)
              .verdict;
      EXPECT_EQ(verdict, one == other ? Verdict::holds : Verdict::violated) << one << ' ' << other;
    }
  }
}

TEST(RecipeIdentity, SaysOfWhatItIsNotStated) {
  const PropertyResult none =
      audit({*property_named("recipe_identity")}, *mutants::open_recipe("float32"), parse_spec(usual), {})
          .results.front();
  EXPECT_EQ(none.verdict, Verdict::not_applicable);
  EXPECT_NE(none.reason.find("--as RECIPE"), std::string::npos) << none.reason;
  const PropertyResult other =
      identity_of(*mutants::open_recipe("float32"), R"({"encoding":"alibi","num_heads":8})", "float32");
  EXPECT_EQ(other.verdict, Verdict::not_applicable);
  EXPECT_EQ(other.reason, "the recipe float32 is not known for alibi: recipes are of sinusoidal and rope");
}

TEST(RecipeIdentity, RefusesEachMutantAndNothingElseDoes) {
  for (const mutants::Mutant& mutant : mutants::registry()) {
    if (mutant.recipe.empty()) continue;
    PropertyResult result = identity_of(*mutants::open(mutant.name), mutant.spec, mutant.recipe);
    // Some are wrong in calls that are longer than a small audit's.
    if (mutant.kind == mutants::Kind::defect && result.verdict == Verdict::holds)
      result = identity_of(*mutants::open(mutant.name), mutant.spec, mutant.recipe, {});
    EXPECT_EQ(result.verdict, mutant.kind == mutants::Kind::defect ? Verdict::violated : Verdict::holds) << mutant.name;
  }
}

TEST(RecipeIdentity, ATokenIsReplayedWithTheRecipe) {
  const auto subject = mutants::open("recipe-odd-batches-fused");
  const mutants::Mutant& mutant = mutants::named("recipe-odd-batches-fused");
  const PropertyResult result = identity_of(*subject, mutant.spec, mutant.recipe);
  ASSERT_TRUE(result.simplest);
  const Property property = recipe_identity_property(reference::recipe_named(mutant.recipe));
  EXPECT_EQ(replay(property, result.simplest->token, *subject, parse_spec(mutant.spec)).results.front().verdict,
            Verdict::violated);
  EXPECT_THROW(replay(*property_named("recipe_identity"), result.simplest->token, *subject, parse_spec(mutant.spec)),
               TokenError);
}

}  // namespace
}  // namespace sextant::recipe_identity_test
