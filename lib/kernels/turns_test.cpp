#include "lib/kernels/turns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/numeric/ulp.hpp"

namespace sextant {
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

TEST(Turns, RefusesWhatIsOutsideItsDomain) {
  EXPECT_THROW(geometric_turns(0.5, 2, 64, 32), std::invalid_argument);
  EXPECT_THROW(geometric_turns(std::nan(""), 2, 64, 32), std::invalid_argument);
  EXPECT_THROW(geometric_turns(INFINITY, 2, 64, 32), std::invalid_argument);
  EXPECT_THROW(geometric_turns(10000, 1, 0, 2), std::invalid_argument);
  EXPECT_EQ(geometric_turns(10000, 1, 0, 1).size(), 1U);
}

}  // namespace
}  // namespace sextant
