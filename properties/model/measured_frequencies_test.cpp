#include "properties/model/measured_frequencies.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/numeric/ulp.hpp"
#include "properties/model/model.hpp"

namespace sextant::model_measured_frequencies_test {
namespace {

constexpr std::size_t moved_pair = 37;

// The answers of a rope of these frequencies whose angles are float32 products.
Rows answers(const std::vector<double>& radians, const std::vector<std::int64_t>& positions) {
  Rows rows;
  for (const std::int64_t position : positions) {
    auto& row = rows.emplace_back();
    for (const double w : radians) {
      const float angle = static_cast<float>(position) * static_cast<float>(w);
      const double exact = static_cast<double>(angle);
      row.push_back({static_cast<double>(static_cast<float>(std::sin(exact))),
                     static_cast<double>(static_cast<float>(std::cos(exact)))});
    }
  }
  return rows;
}

struct Rotary {
  Spec spec = parse_spec(R"({"encoding":"rope","head_dim":128})");
  std::shared_ptr<EncodedPairs> pairs = model_of(spec)->encoded_pairs();
  ErrorBudget budget = pairs->budget(spec.accuracy);
  std::vector<std::int64_t> positions = measuring_positions(0, spec.max_position);
  std::vector<RecipeList> recipes = recipe_lists(*pairs, spec.max_position);

  std::vector<MeasuredFrequency> measured(const std::vector<double>& radians) const {
    return measured_frequencies(*pairs, budget, positions, answers(radians, positions));
  }
};

TEST(MeasuredFrequencies, ARecipesListIsNamed) {
  const Rotary rotary;
  ASSERT_EQ(rotary.recipes.front().recipe, "float32");
  const auto found = rotary.measured(rotary.recipes.front().radians);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_LE(std::fabs(found[i].measured - rotary.recipes.front().radians[i]), found[i].uncertainty) << i;
    if (found[i].claimed > 1e-2) {
      EXPECT_LT(found[i].ulps_uncertain(), 1.5) << i;
    }
  }
  const std::string text = frequencies_text(found, rotary.recipes);
  EXPECT_NE(text.find("; the frequencies are those of recipe:float32"), std::string::npos) << text;
}

TEST(MeasuredFrequencies, ATableOffByUlpsIsNamedByItsPair) {
  const Rotary rotary;
  const std::vector<double>& recipe = rotary.recipes.front().radians;
  for (const int moved : {3, -3, 8}) {
    std::vector<double> radians = recipe;
    radians[moved_pair] += moved * ulp(Dtype::float32, radians[moved_pair]);
    const auto found = rotary.measured(radians);
    EXPECT_NEAR(found[moved_pair].measured, radians[moved_pair], found[moved_pair].uncertainty) << moved;
    const std::string text = frequencies_text(found, rotary.recipes);
    const std::string told = "; the frequencies are those of recipe:float32 but for pair 37's ";
    const std::size_t at = text.find(told);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_NE(text.find(moved > 0 ? " ULP above" : " ULP below", at), std::string::npos) << text;
    EXPECT_NEAR(std::stod(text.substr(at + told.size())), std::abs(moved), 1.1) << text;
  }
}

TEST(MeasuredFrequencies, EachRecipeOfFloat32IsToldFromTheOthers) {
  const Rotary rotary;
  for (const RecipeList& recipe : rotary.recipes) {
    if (recipe.recipe == "float64") continue;  // which answers() rounds
    const std::string text = frequencies_text(rotary.measured(recipe.radians), rotary.recipes);
    EXPECT_NE(text.find("recipe:" + std::string(recipe.recipe)), std::string::npos) << recipe.recipe << ": " << text;
    EXPECT_EQ(text.find("but for"), std::string::npos) << recipe.recipe << ": " << text;
  }
}

TEST(MeasuredFrequencies, AListRoundedToFloat16IsThatOfTheRecipeThatRoundsIt) {
  const Rotary rotary;
  std::vector<double> radians = rotary.recipes.front().radians;
  for (double& w : radians) w = round_to(Dtype::float16, w);
  const std::string text = frequencies_text(rotary.measured(radians), rotary.recipes);
  EXPECT_NE(text.find("; the frequencies are those of recipe:float16-angle"), std::string::npos) << text;
}

TEST(MeasuredFrequencies, PhasesOfNoOneFrequencyAreMeasuredUpToWhereTheyCeaseToBe) {
  const Rotary rotary;
  Rows rows = answers(rotary.pairs->frequencies(rotary.spec.max_position), rotary.positions);
  for (std::size_t row = 10; row < rows.size(); ++row) rows[row][0] = {std::numeric_limits<double>::quiet_NaN(), 0};
  const auto found = measured_frequencies(*rotary.pairs, rotary.budget, rotary.positions, rows);
  EXPECT_GT(found[0].uncertainty, found[1].uncertainty);
  EXPECT_NEAR(found[0].measured, 1, found[0].uncertainty);
}

}  // namespace
}  // namespace sextant::model_measured_frequencies_test
