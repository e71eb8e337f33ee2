#include "properties/diagnose/laws/violated_recipe.hpp"

#include <gtest/gtest.h>

#include <string>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/every/recipe_identity.hpp"
#include "properties/mutants/mutant.hpp"
#include "reference/recipe.hpp"
#include "subjects/builtin.hpp"

namespace sextant::identify::violated_recipe_test {
namespace {

std::string told_of(const std::string& name) {
  const mutants::Mutant& mutant = mutants::named(name);
  const auto subject = mutants::open(name);
  const auto proposer = builtin_subject();
  const Spec spec = parse_spec(mutant.spec);
  Clues clues{.proposer = proposer.get()};
  clues.violated =
      audit({recipe_identity_property(reference::recipe_named(mutant.recipe))}, *subject, spec, {}).results;
  std::erase_if(clues.violated, [](const PropertyResult& result) { return result.verdict != Verdict::violated; });
  const auto difference = violated_recipe(*subject, spec, clues);
  return difference ? difference->words : "";
}

TEST(ViolatedRecipe, IsToldByTheCallsThatHaveOtherBits) {
  EXPECT_EQ(told_of("recipe-code-powers"),
            "calls of 65 and more tokens have the bits of recipe float32-power, and the rest has those of float32");
}

TEST(ViolatedRecipe, IsNotToldByVectorsThatShowNone) {
  EXPECT_EQ(told_of("recipe-single-token"),
            "calls of one token have the bits of recipe cast-table-fused-second, float32-widened-fused-second or "
            "wide-power-fused-second, and the rest has those of float32-widened-fused-first");
  EXPECT_EQ(told_of("recipe-odd-batches-fused"),
            "calls of 3 and more batch rows, in calls of an odd number of batch rows have the bits of recipe "
            "cast-table-fused-first, float32-widened-fused-first or wide-power-fused-first, and the rest has those of "
            "float32");
}

TEST(ViolatedBounds, AreToldByWhatComesBackForOne) {
  const Spec spec = parse_spec(mutants::named("sinusoidal-above-one").spec);
  const auto proposer = builtin_subject();
  Clues clues{.proposer = proposer.get()};
  clues.violated.emplace_back().id = "bounds";
  const auto difference = violated_bounds(*mutants::open("sinusoidal-above-one"), spec, clues);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->words, "where a value is 1, 1.000000119 comes back, which is beyond every sine and cosine");
  EXPECT_FALSE(violated_bounds(*proposer, spec, clues));
}

}  // namespace
}  // namespace sextant::identify::violated_recipe_test
