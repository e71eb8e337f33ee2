#include "reference/fast_rotations.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <random>
#include <string>

#include "reference/frequency.hpp"

namespace sextant::reference::fast_rotations_test {
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
      // The bound of `at` by itself is an eighth of the stated one, see below.
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

// docs/proofs/fast-rotations.md, steps 11 and 13: what is proved, of which FastRotations::error leaves twice as much.
constexpr double bound_of_at = 0x1p-103;
constexpr double bound_of_sweep = 0x1p-101;

// The sine and cosine of a phase that is held exactly, at 300 bits.
struct Truth {
  Enclosure sin;
  Enclosure cos;
};

Truth truth_of(Phase phase) {
  constexpr Precision precision{300};
  Enclosure turns(0.0, precision);
  for (int quarter = 0; quarter < 4; ++quarter) {
    const auto digits = static_cast<std::uint32_t>(phase >> 32 * quarter);
    turns = turns + Enclosure(std::ldexp(static_cast<double>(digits), 32 * quarter - 128), precision);
  }
  const Enclosure angle = turns * Enclosure(2.0, precision) * Enclosure::pi(precision);
  return {sin(angle), cos(angle)};
}

// A frequency that is a whole number of units of 2^-128 turn: no product with a position is rounded.
FixedTurns frequency(Phase turns) {
  FixedTurns result{};
  for (std::size_t j = 0; j < result.place.size(); ++j) result.place[j] = turns << j * FixedTurns::digit_bits;
  return result;
}

std::vector<FixedTurns> frequencies(std::span<const Phase> turns) {
  std::vector<FixedTurns> list;
  for (const Phase one : turns) list.push_back(frequency(one));
  return list;
}

double distance_of_pair(const RotationRow& row, std::size_t pair, const Truth& truth) {
  EXPECT_LE(std::fabs(row.sin_low[pair]), std::fabs(row.sin_high[pair]) * 0x1p-53);
  EXPECT_LE(std::fabs(row.cos_low[pair]), std::fabs(row.cos_high[pair]) * 0x1p-53);
  return std::max(distance(row.sin_high[pair], row.sin_low[pair], truth.sin),
                  distance(row.cos_high[pair], row.cos_low[pair], truth.cos));
}

Phase phase(std::uint64_t upper, std::uint64_t lower) { return Phase{upper} << 64 | lower; }

// Knots of the table, the ends of what each covers and both neighbours of these; phases near to multiples of 1/8 turn
// by every power of two; random ones, some of them in the upper and some in the lower bits only.
std::vector<Phase> hard_phases() {
  std::vector<Phase> list;
  for (std::uint64_t k = 0; k < 4096; ++k) {
    const Phase middle_or_knot = phase(k << 52, 0);
    list.insert(list.end(), {middle_or_knot - 1, middle_or_knot, middle_or_knot + 1});
  }
  for (std::uint64_t eighth = 0; eighth < 8; ++eighth) {
    for (int bit = 0; bit < 125; ++bit) {
      const Phase small = Phase{1} << bit;
      list.insert(list.end(), {phase(eighth << 61, 0) + small, phase(eighth << 61, 0) - small});
    }
  }
  std::mt19937_64 random(17);
  for (int i = 0; i < 12000; ++i) list.push_back(phase(random(), random()));
  for (int i = 0; i < 2000; ++i) {
    list.push_back(phase(random(), ~std::uint64_t{0} << random() % 64));
    // At most 2^-30 of an interval from its end, where the polynomials are at their worst.
    list.push_back(phase((random() % 4096 << 52) + random() % (1 << 22), random()));
    list.push_back(phase(random() >> (1 + random() % 63), random()));
  }
  return list;
}

TEST_P(FastRotationsOn, HardPhasesKeepTheProvedBound) {
  static const std::vector<Phase> phases = hard_phases();
  static const std::vector<Truth> truths = [] {
    std::vector<Truth> all;
    for (const Phase one : phases) all.push_back(truth_of(one));
    return all;
  }();
  double worst = 0;
  for (std::size_t first = 0; first < phases.size(); first += 1000) {
    const auto count = std::min<std::size_t>(1000, phases.size() - first);
    const FastRotations fast(frequencies(std::span<const Phase>(phases).subspan(first, count)));
    RotationRow row = fast.make_row();
    fast.at(1, row);
    for (std::size_t i = 0; i < count; ++i) {
      const double error = distance_of_pair(row, i, truths[first + i]);
      ASSERT_LE(error, bound_of_at) << static_cast<std::uint64_t>(phases[first + i] >> 64) << " "
                                    << static_cast<std::uint64_t>(phases[first + i]);
      worst = std::max(worst, error);
    }
  }
  RecordProperty("thousandths_of_bound", static_cast<int>(1000 * worst / bound_of_at));
}

// Positions as far as 2^54, both ways round, and steps that meet the table's knots and the middles between them.
TEST_P(FastRotationsOn, HardSweepsKeepTheProvedBound) {
  std::vector<Phase> turns;
  for (int power = 1; power <= 54; power += 2) turns.push_back(phase(std::uint64_t{1} << (64 - power), 0));
  for (const std::uint64_t k : {1U, 3U, 511U, 513U, 1023U, 1537U, 2047U, 4095U}) {
    const Phase middle_or_knot = phase(k << 52, 0);
    turns.insert(turns.end(), {middle_or_knot - 1, middle_or_knot, middle_or_knot + 1});
  }
  std::mt19937_64 random(19);
  for (int i = 0; i < 15; ++i) turns.push_back(phase(random(), random()));
  const FastRotations fast(frequencies(turns));
  constexpr std::int64_t farthest = std::int64_t{1} << 54;
  double worst = 0;
  for (const std::int64_t count : {1, 2, 48, 49, 50, 100}) {
    for (const std::int64_t first : {-farthest, -(farthest >> 1) + 1, std::int64_t{-30}, std::int64_t{0},
                                     (farthest >> 1) - 60, farthest - count + 1}) {
      std::int64_t expected = first;
      fast.sweep(first, count, [&](std::int64_t position, const RotationRow& row) {
        ASSERT_EQ(position, expected++);
        for (std::size_t i = 0; i < turns.size(); ++i) {
          const double error = distance_of_pair(row, i, truth_of(turns[i] * static_cast<Phase>(position)));
          ASSERT_LE(error, bound_of_sweep) << i << " at " << position;
          worst = std::max(worst, error);
        }
      });
      EXPECT_EQ(expected, first + count);
    }
  }
  RecordProperty("thousandths_of_bound", static_cast<int>(1000 * worst / bound_of_sweep));
}

// Angles that are given as doubles: the nearest ones to the knots, where all but the last bits cancel, and some that
// are tiny or huge.
TEST_P(FastRotationsOn, HardAnglesKeepTheProvedBound) {
  std::vector<double> angles{0, 5e-324, 0x1p-1022, 1e-300, 0x1p-192, 0x1p-128, 0x1p-60, 0x1p53, 0x1p64};
  std::mt19937_64 random(23);
  for (int i = 0; i < 3000; ++i) {
    const double turns = std::ldexp(static_cast<double>(random() % 8192), static_cast<int>(random() % 50) - 12);
    angles.push_back(turns * 6.283185307179586);
    angles.push_back(std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 100) - 89));
  }
  for (std::size_t i = angles.size(); i-- > 0;) angles.push_back(-angles[i]);
  RotationRow row;
  FastRotations::at_angles(angles, row);
  double worst = 0;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const Enclosure angle(angles[i], Precision{360});
    const double error = distance_of_pair(row, i, {sin(angle), cos(angle)});
    ASSERT_LE(error, bound_of_at) << angles[i];
    worst = std::max(worst, error);
  }
  RecordProperty("thousandths_of_bound", static_cast<int>(1000 * worst / bound_of_at));
}

// The tests above must be able to fail: a frequency that is one part in 2^95 off is seen.
TEST(FastRotations, APlantedFaultIsSeen) {
  GeometricFrequencies exact(10000, 2, 64, 32);
  std::vector<FixedTurns> turns;
  for (std::int64_t i = 0; i < 32; ++i) {
    turns.push_back(fixed_turns([&](Precision precision) { return exact.radians(i, precision); }));
  }
  turns[3].place[0] ^= Phase{1} << 34;  // 2^-94 turn per position
  const FastRotations fast(turns);
  RotationRow row = fast.make_row();
  fast.at(1000, row);
  EXPECT_GT(worst_of_row(row, exact, 32, 1000), FastRotations::error);
}

}  // namespace
}  // namespace sextant::reference::fast_rotations_test
