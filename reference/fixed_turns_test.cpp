#include "reference/fixed_turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "reference/frequency.hpp"

namespace sextant::reference::fixed_turns_test {
namespace {

std::uint64_t upper(Phase phase) { return static_cast<std::uint64_t>(phase >> 64); }

// How far a phase is from that of the angle in radians, whole turns aside, in units of 2^-128 turn, rounded upwards.
double units_off(Phase phase, const Enclosure& radians) {
  const Precision precision = radians.precision();
  const auto half = [&](std::uint64_t digits, int exponent) {
    return Enclosure(std::ldexp(static_cast<double>(digits >> 32), exponent + 32), precision) +
           Enclosure(std::ldexp(static_cast<double>(digits & 0xFFFFFFFF), exponent), precision);
  };
  const Enclosure held = half(upper(phase), -64) + half(static_cast<std::uint64_t>(phase), -128);
  const Enclosure off = radians / (Enclosure(2.0, precision) * Enclosure::pi(precision)) - held;
  double worst = 0;
  mpfr_t end;
  mpfr_t whole;
  mpfr_inits2(precision.bits, end, whole, static_cast<mpfr_ptr>(nullptr));
  for (const mpfr_srcptr of : {off.lower_end(), off.upper_end()}) {
    mpfr_rint(whole, of, MPFR_RNDN);
    mpfr_sub(end, of, whole, MPFR_RNDA);
    mpfr_mul_2si(end, end, 128, MPFR_RNDA);
    worst = std::max(worst, std::fabs(mpfr_get_d(end, MPFR_RNDA)));
  }
  mpfr_clears(end, whole, static_cast<mpfr_ptr>(nullptr));
  return worst;
}

// docs/proofs/fast-rotations.md, step 5, in units of 2^-128 turn.
constexpr double bound = 0x1p16;

TEST(FixedTurns, PhasesWrapAndNegate) {
  FixedTurns quarter{};
  quarter.place[0] = Phase{1} << 126;
  EXPECT_EQ(upper(phase_of(quarter, 1)), std::uint64_t{1} << 62);
  EXPECT_TRUE(phase_of(quarter, 5) == phase_of(quarter, 1));
  EXPECT_TRUE(phase_of(quarter, -1) == phase_of(quarter, 3));
  EXPECT_TRUE(phase_of(quarter, 4) == 0);
  EXPECT_TRUE(phase_of(quarter, std::numeric_limits<std::int64_t>::min()) == 0);
}

TEST(FixedTurns, OfOneRadianIsItsPublishedExpansion) {
  // 1/(2 pi) = 0.28BE60DB9391054A7F09D5F47D4D3770 36D8A5664F10E410... in base 16.
  const FixedTurns turns = fixed_turns([](Precision precision) { return Enclosure(1.0, precision); });
  // ci/constants: words[3] = 1/(2*pi)
  constexpr std::uint64_t digits[] = {0x28BE60DB9391054AU, 0x7F09D5F47D4D3770U, 0x36D8A5664F10E410U};
  // Each place begins 14 bits further on.
  const Phase first = Phase{digits[0]} << 64 | digits[1];
  EXPECT_TRUE(turns.place[0] == first);
  for (std::size_t j = 1; j < turns.place.size(); ++j)
    EXPECT_TRUE(turns.place[j] == (first << 14 * j | digits[2] >> (64 - 14 * j))) << j;
}

// Where a digit begins, where the last one takes the sign, and at the ends of what step 5 covers.
TEST(FixedTurns, PhasesKeepTheProvedBound) {
  constexpr std::int64_t farthest = std::int64_t{1} << 54;
  std::vector<std::int64_t> positions{0, farthest, -farthest, farthest - 1, 1 - farthest};
  for (int k = 0; k < 54; ++k) {
    for (const std::int64_t nudge : {-1, 0, 1}) {
      positions.push_back((std::int64_t{1} << k) + nudge);
      positions.push_back(-positions.back());
    }
  }
  std::mt19937_64 random(29);
  for (int i = 0; i < 300; ++i) positions.push_back(static_cast<std::int64_t>(random()) >> (9 + random() % 54));
  constexpr Precision precision{400};
  double worst = 0;
  for (const double base : {1.0, 1.0000001, 77777.25, 10000.0, 1e300}) {
    GeometricFrequencies exact(base, 2, 34, 17);
    for (std::int64_t pair = 0; pair < 17; ++pair) {
      const FixedTurns turns = fixed_turns([&](Precision at) { return exact.radians(pair, at); });
      for (const std::int64_t position : positions) {
        const double off =
            units_off(phase_of(turns, position), exact.radians(pair, precision) * Enclosure(position, precision));
        ASSERT_LE(off, bound) << base << " pair " << pair << " at " << position;
        worst = std::max(worst, off);
      }
    }
  }
  EXPECT_GT(worst, bound / 2);  // large digits have been met in each place
  RecordProperty("thousandths_of_bound", static_cast<int>(1000 * worst / bound));
}

// Beyond step 5 the last digit has up to 21 bits and a sign.
TEST(FixedTurns, AnyPositionHasAPhase) {
  const FixedTurns turns = fixed_turns([](Precision precision) { return Enclosure(1.0, precision); });
  for (const std::int64_t position :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_LE(units_off(phase_of(turns, position), Enclosure(position, Precision{400})), 0x1p21 + 0x1p16) << position;
  }
}

// The least and the greatest angle of the table of powers of two, what lies below, and both ends of the domain.
TEST(FixedTurns, AnglesKeepTheProvedBound) {
  std::vector<double> angles{0, 5e-324, 0x1p-1022, 0x1p64, std::nextafter(0x1p64, 0)};
  for (int k = -200; k < 64; ++k) {
    for (const double of : {std::nextafter(1.0, 0.0), 1.0, 1.5, 0x1.fffffffffffffp0})
      angles.push_back(std::ldexp(of, k));
  }
  for (const double angle : std::vector<double>(angles)) angles.push_back(-angle);
  for (const double angle : angles)
    ASSERT_LE(units_off(turns_of_angle(angle), Enclosure(angle, Precision{400})), bound) << angle;
  for (const double outside :
       {std::nextafter(0x1p64, HUGE_VAL), -std::nextafter(0x1p64, HUGE_VAL), HUGE_VAL, std::nan("")})
    EXPECT_THROW(turns_of_angle(outside), std::domain_error) << outside;
}

// 2^-200 turn, at precisions where the width of the interval is above and below it; a frequency that no precision
// encloses so narrowly.
TEST(FixedTurns, AWideEnclosureIsRefused) {
  const auto around_one = [](double width) {
    constexpr Precision precision{320};
    return Enclosure::hull(Enclosure(1.0, precision), Enclosure(1.0, precision) + Enclosure(width, precision));
  };
  EXPECT_TRUE(try_fixed_turns(around_one(0x1p-198)).narrow);  // 2^-200.6 turn
  EXPECT_FALSE(try_fixed_turns(around_one(0x1p-197)).narrow);
  EXPECT_THROW(fixed_turns([&](Precision) { return around_one(0x1p-197); }), std::domain_error);
}

}  // namespace
}  // namespace sextant::reference::fixed_turns_test
