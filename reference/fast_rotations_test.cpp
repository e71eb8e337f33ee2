#include "reference/fast_rotations.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <random>
#include <string>

#include "reference/frequency.hpp"

namespace sextant::reference {
namespace {

struct Setting {
  double base;
  std::int64_t dim;
};

const Setting settings[] = {{10000, 512}, {10000, 128}, {500000, 128},  {77777.25, 34},
                            {1, 2},       {1e300, 26},  {1.0000001, 64}};

// How far high + low is from the true value, at 256 bits, rounded up.
double distance(double high, double low, const Enclosure& truth) {
  return abs(Enclosure(high, truth.precision()) + Enclosure(low, truth.precision()) - truth).upper();
}

// Largest distance of a row's pairs from the exact tier, and a check of the normal form |low| <= u |high|.
double worst_of_row(const RotationRow& row, GeometricFrequencies& exact, std::int64_t pairs, std::int64_t position) {
  double worst = 0;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Rotation& truth = exact.rotation(position, i, Precision{256});
    worst = std::max(worst, distance(row.sin_high[at], row.sin_low[at], truth.sin));
    worst = std::max(worst, distance(row.cos_high[at], row.cos_low[at], truth.cos));
    EXPECT_LE(std::fabs(row.sin_low[at]), std::fabs(row.sin_high[at]) * 0x1p-53);
    EXPECT_LE(std::fabs(row.cos_low[at]), std::fabs(row.cos_high[at]) * 0x1p-53);
  }
  return worst;
}

std::vector<std::int64_t> positions(int random_ones) {
  std::vector<std::int64_t> list{0, 1, -1};
  for (int k = 1; k <= 53; ++k) {
    for (const std::int64_t nudge : {-1, 0, 1}) {
      list.push_back((std::int64_t{1} << k) + nudge);
      list.push_back(-(std::int64_t{1} << k) + nudge);
    }
  }
  std::mt19937_64 random(11);
  for (int i = 0; i < random_ones; ++i) list.push_back(static_cast<std::int64_t>(random()) >> (10 + random() % 50));
  return list;
}

// Each test runs on every target that this machine has, named in its id: with and without fused operations, 2 to 8
// lanes.
class FastRotationsOn : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override {
    EXPECT_EQ(FastRotations::target(), hwy::TargetName(GetParam())) << "the kernels ran on another target";
    hwy::SetSupportedTargetsForTest(0);
  }
};

INSTANTIATE_TEST_SUITE_P(Target, FastRotationsOn, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

TEST_P(FastRotationsOn, ContainTheTruthAtAnyPosition) {
  for (const Setting& setting : settings) {
    const std::int64_t pairs = setting.dim / 2;
    GeometricFrequencies exact(setting.base, 2, setting.dim, pairs);
    const FastRotations fast = exact.fast();
    RotationRow row = fast.make_row();
    for (const std::int64_t position : positions(20)) {
      fast.at(position, row);
      // The bound of `at` by itself is a quarter of the stated one (step 6 of the proof).
      ASSERT_LE(worst_of_row(row, exact, pairs, position), FastRotations::error / 4)
          << setting.base << " at " << position;
    }
  }
}

TEST_P(FastRotationsOn, ASweepContainsTheTruthInEveryRow) {
  for (const Setting& setting : settings) {
    const std::int64_t pairs = setting.dim / 2;
    GeometricFrequencies exact(setting.base, 2, setting.dim, pairs);
    const FastRotations fast = exact.fast();
    for (const std::int64_t first :
         {std::int64_t{0}, std::int64_t{-40}, std::int64_t{131000}, (std::int64_t{1} << 53) - 71}) {
      std::int64_t expected = first;
      fast.sweep(first, 71, [&](std::int64_t position, const RotationRow& row) {
        EXPECT_EQ(position, expected++);
        EXPECT_LE(worst_of_row(row, exact, pairs, position), FastRotations::error)
            << setting.base << " at " << position;
      });
      EXPECT_EQ(expected, first + 71);
    }
  }
}

TEST_P(FastRotationsOn, PositionZeroIsExact) {
  GeometricFrequencies exact(10000, 2, 64, 32);
  const FastRotations fast = exact.fast();
  RotationRow row = fast.make_row();
  fast.at(0, row);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(row.sin_high[i], 0);
    EXPECT_EQ(row.sin_low[i], 0);
    EXPECT_EQ(row.cos_high[i], 1);
    EXPECT_EQ(row.cos_low[i], 0);
  }
}

// The tests above must be able to fail: a frequency that is one part in 2^95 off is seen.
TEST(FastRotations, APlantedFaultIsSeen) {
  GeometricFrequencies exact(10000, 2, 64, 32);
  std::vector<FixedTurns> turns;
  for (std::int64_t i = 0; i < 32; ++i) {
    turns.push_back(fixed_turns([&](Precision precision) { return exact.radians(i, precision); }));
  }
  turns[3].limb[1] ^= std::uint64_t{1} << 34;  // 2^-94 turn per position
  const FastRotations fast(turns);
  RotationRow row = fast.make_row();
  fast.at(1000, row);
  EXPECT_GT(worst_of_row(row, exact, 32, 1000), FastRotations::error);
}

TEST(FixedTurns, PhasesWrapAndNegate) {
  const FixedTurns quarter{{0, 0, std::uint64_t{1} << 62}};
  EXPECT_EQ(phase_of(quarter, 1).limb[2], std::uint64_t{1} << 62);
  EXPECT_EQ(phase_of(quarter, 5).limb, phase_of(quarter, 1).limb);
  EXPECT_EQ(phase_of(quarter, -1).limb, phase_of(quarter, 3).limb);
  EXPECT_EQ(phase_of(quarter, 4).limb, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

TEST(FixedTurns, OfOneRadianIsItsPublishedExpansion) {
  // 1/(2 pi) = 0.28BE60DB9391054A7F09D5F47D4D3770 36D8A5664F10E410... in base 16.
  const FixedTurns turns = fixed_turns([](Precision precision) { return Enclosure(1.0, precision); });
  EXPECT_EQ(turns.limb[2], 0x28BE60DB9391054AU);
  EXPECT_EQ(turns.limb[1], 0x7F09D5F47D4D3770U);
  EXPECT_EQ(turns.limb[0], 0x36D8A5664F10E410U);
}

}  // namespace
}  // namespace sextant::reference
