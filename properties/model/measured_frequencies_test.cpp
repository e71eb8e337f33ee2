#include "properties/model/measured_frequencies.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/numeric/ulp.hpp"
#include "properties/model/model.hpp"

namespace sextant {
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
  std::vector<std::int64_t> positions = measuring_positions(0, 1, spec.max_position);
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
  EXPECT_NE(text.find("; as in recipe:float32"), std::string::npos) << text;
}

TEST(MeasuredFrequencies, ATableOffByUlpsIsNamedByItsPair) {
  const Rotary rotary;
  for (const int moved : {3, -3, 8}) {
    std::vector<double> radians = rotary.pairs->frequencies(rotary.spec.max_position);
    const double unit = ulp(Dtype::float32, radians[moved_pair]);
    radians[moved_pair] = static_cast<double>(static_cast<float>(radians[moved_pair])) + moved * unit;
    const auto found = rotary.measured(radians);
    EXPECT_NEAR(found[moved_pair].measured, radians[moved_pair], found[moved_pair].uncertainty) << moved;
    EXPECT_NEAR(found[moved_pair].ulps(), moved, found[moved_pair].ulps_uncertain() + 0.5) << moved;
    const std::string text = frequencies_text(found, rotary.recipes);
    EXPECT_NE(text.find("pair 37: "), std::string::npos) << text;
    EXPECT_NE(text.find(moved > 0 ? "above" : "below"), std::string::npos) << text;
    EXPECT_NE(text.find("no known recipe"), std::string::npos) << text;
  }
}

TEST(MeasuredFrequencies, PhasesOfNoOneFrequencyAreMeasuredUpToWhereTheyCeaseToBe) {
  const Rotary rotary;
  Rows rows = answers(rotary.pairs->frequencies(rotary.spec.max_position), rotary.positions);
  for (std::size_t row = 10; row < rows.size(); ++row)
    rows[row][0] = {std::numeric_limits<double>::quiet_NaN(), 0};
  const auto found = measured_frequencies(*rotary.pairs, rotary.budget, rotary.positions, rows);
  EXPECT_GT(found[0].uncertainty, found[1].uncertainty);
  EXPECT_NEAR(found[0].measured, 1, found[0].uncertainty);
}

}  // namespace
}  // namespace sextant
