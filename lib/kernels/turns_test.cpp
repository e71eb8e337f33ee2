#include "lib/kernels/turns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/numeric/ulp.hpp"

namespace sextant::kernels_turns_test {
namespace {

TEST(Turns, PhasesAddUpModuloOneTurn) {
  const Turns frequency = geometric_turns(10000, 2, 64, 32)[5];
  for (const std::int64_t p :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(Turns(phase_at(frequency, p) + phase_at(frequency, -p)), Turns(0)) << p;
    EXPECT_EQ(Turns(phase_at(frequency, p - 1) + frequency), phase_at(frequency, p)) << p;
  }
}

TEST(Turns, FirstFrequencyIsOneRadian) {
  const Turns radian = geometric_turns(10000, 2, 512, 256)[0];
  for (int p = -30; p <= 30; ++p) {
    const SinCos value = sin_cos(phase_at(radian, p));
    // Both this and the library's sine and cosine are within an ULP of the truth.
    EXPECT_LE(ulp_error(Dtype::float64, value.sin, std::sin(p)), 2) << p;
    EXPECT_LE(ulp_error(Dtype::float64, value.cos, std::cos(p)), 2) << p;
  }
}

TEST(Turns, QuarterTurnsAreExact) {
  const Turns quarter = Turns(1) << 190;
  const double expected[][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
  for (unsigned i = 0; i < 4; ++i) {
    const SinCos value = sin_cos(quarter * i);
    EXPECT_EQ(value.sin, expected[i][0]);
    EXPECT_EQ(value.cos, expected[i][1]);
  }
}

TEST(Turns, SineNearItsZeroKeepsItsRelativeAccuracy) {
  // sin(2 pi 2^-100) = 2 pi 2^-100 to 2^-190 of itself.
  const double sine = sin_cos(Turns(1) << 92).sin;
  EXPECT_EQ(sine, std::ldexp(6.283185307179586, -100));
}

TEST(Turns, CountsMayBePartsOfATurnOrOfARadian) {
  // An eighth of a turn, and half and a quarter of it.
  const auto eighths = geometric_turns(16, 2, 8, 3, {.of = CountUnit::Of::turn, .whole = 8});
  EXPECT_EQ(eighths[0], Turns(1) << 189);
  EXPECT_EQ(eighths[1], Turns(1) << 188);
  EXPECT_EQ(eighths[2], Turns(1) << 187);
  // 8/3 of a turn modulo one, within a unit.
  const Turns third = geometric_turns(16, 2, 8, 1, {.of = CountUnit::Of::turn, .whole = 0.25, .part = 0.125})[0];
  EXPECT_LE(Turns(third * 3 + 4), Turns(8));
  const Turns radian = geometric_turns(10000, 2, 8, 1)[0];
  EXPECT_EQ(geometric_turns(10000, 2, 8, 1, {.whole = 1})[0], radian);
  const Turns half = geometric_turns(10000, 2, 8, 1, {.whole = 2})[0];
  EXPECT_LE(Turns(half * 2 - radian + 2), Turns(4));
}

TEST(Turns, RefusesWhatIsOutsideItsDomain) {
  EXPECT_THROW(geometric_turns(0.5, 2, 64, 32), std::invalid_argument);
  EXPECT_THROW(geometric_turns(std::nan(""), 2, 64, 32), std::invalid_argument);
  EXPECT_THROW(geometric_turns(INFINITY, 2, 64, 32), std::invalid_argument);
  EXPECT_THROW(geometric_turns(10000, 1, 0, 2), std::invalid_argument);
  EXPECT_EQ(geometric_turns(10000, 1, 0, 1).size(), 1U);
  EXPECT_THROW(geometric_turns(10000, 2, 64, 32, {.whole = 0.1}), std::invalid_argument);
  EXPECT_THROW(geometric_turns(10000, 2, 64, 32, {.whole = 1, .part = -0x1p-60}), std::invalid_argument);
  EXPECT_THROW(geometric_turns(10000, 2, 64, 32, {.whole = INFINITY}), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::kernels_turns_test
