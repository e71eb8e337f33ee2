#include "reference/stages.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/recipe.hpp"

namespace sextant::reference::stages_test {
namespace {

constexpr Precision precision{192};

Enclosure real(double x) { return Enclosure(x, precision); }

bool contains(const Enclosure& interval, const Enclosure& narrow) {
  return certainly_at_most(Enclosure(interval.lower(), precision), narrow) &&
         certainly_at_most(narrow, Enclosure(interval.upper(), precision));
}

// Each recipe's error is made where its name says.
TEST(Stages, TheLargestStepIsWhereTheRecipeIsCoarse) {
  Rope rope;
  rope.head_dim = rope.rotary_dim = 64;
  RopeReference oracle(rope);
  constexpr std::int64_t position = 100003;
  struct Expectation {
    const char* recipe;
    std::size_t pair;
    Stage stage;
  };
  // Pair 0 has the frequency 1: float32 forms its angle exactly up to 2^24, so that the table is all that errs, and
  // bfloat16 loses the position itself. float64 is right but for the cast to float32.
  for (const auto& [name, pair, stage] : {Expectation{"float32", 0, Stage::table},
                                          {"bfloat16-angle", 0, Stage::angle},
                                          {"float64", 9, Stage::rounding}}) {
    auto emulation = RopeEmulation::of(recipe_named(name), rope, Dtype::float32);
    const Intermediates had = emulation->at(position, position + 1)[pair];
    const auto turned = emulation->rotate(had, 1, 0);
    const Rotation truth = oracle.rotation(position, static_cast<std::int64_t>(pair), precision);
    const PairStageErrors errors =
        stage_errors(truth, real(1), position, had, {real(1), real(0)}, {turned.first, turned.second, Dtype::float32});
    EXPECT_EQ(name_of(errors.second.largest()), name_of(stage)) << name;
  }
}

TEST(Stages, AddUpToTheWholeError) {
  Rope rope;
  rope.head_dim = rope.rotary_dim = 32;
  RopeReference oracle(rope);
  for (const Recipe& recipe : recipes()) {
    auto emulation = RopeEmulation::of(recipe, rope, Dtype::float32);
    for (const std::int64_t position : {1, 333, 60001}) {
      const auto row = emulation->at(position, position + 1);
      for (std::int64_t pair = 0; pair < 16; ++pair) {
        const Intermediates& had = row[static_cast<std::size_t>(pair)];
        const auto turned = emulation->rotate(had, 0.75, -2);
        const Rotation truth = oracle.rotation(position, pair, precision);
        const RealPair x{real(0.75), real(-2)};
        const auto errors =
            stage_errors(truth, real(1), position, had, x, {turned.first, turned.second, Dtype::float32});
        const RealPair expected = RopeReference::rotate(truth, x);
        const auto total = [](const StageErrors& e) {
          return e.frequency + e.angle + e.table + e.rotation + e.rounding;
        };
        EXPECT_TRUE(contains(total(errors.first) + expected.first, real(turned.first))) << recipe.name;
        EXPECT_TRUE(contains(total(errors.second) + expected.second, real(turned.second))) << recipe.name;
        EXPECT_LT(total(errors.first).width(), 1e-40);
      }
    }
  }
}

TEST(Stages, AreExactGivenWhatCameBefore) {
  // Given the true frequency 1 and angle, the first two steps add nothing; a table off by 2^-20 shows as that.
  const Rotation truth = rotation_at_angle(5, precision);
  const Intermediates had{1, 5, {std::sin(5.0) + 0x1p-20, std::cos(5.0)}};
  const auto errors = stage_errors(truth, real(1), 5, had, {real(1), real(0)}, {had.table.cos, had.table.sin});
  EXPECT_TRUE(contains(errors.second.frequency, real(0)));
  EXPECT_TRUE(contains(errors.second.angle, real(0)));
  EXPECT_NEAR(errors.second.table.upper(), 0x1p-20, 0x1p-50);
  EXPECT_EQ(abs(errors.second.rounding).upper(), 0);
  EXPECT_EQ(errors.second.largest(), Stage::table);
}

}  // namespace
}  // namespace sextant::reference::stages_test
