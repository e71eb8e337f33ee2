#include <arb.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "reference/fast_rotations.hpp"
#include "reference/frequency.hpp"

// The oracle against FLINT's ball arithmetic, which shares no code with MPFI: both enclose the same real number, so the two must
// overlap, and the narrower of them lie in the wider one's reach. SEXTANT_TEST_MULTIPLIER scales the number of points; 100 makes it a
// million.

namespace sextant::reference {
namespace {

class Ball {
 public:
  Ball() { arb_init(ball_); }
  Ball(const Ball&) = delete;
  Ball& operator=(const Ball&) = delete;
  ~Ball() { arb_clear(ball_); }
  operator arb_ptr() { return ball_; }  // NOLINT(google-explicit-constructor): so that it goes where an arb_t goes

 private:
  arb_t ball_;
};

constexpr slong bits = 256;

// sin and cos of position * base^(-2 pair / dim).
void flint_rotation(double base, std::int64_t dim, std::int64_t pair, std::int64_t position, Ball& sine, Ball& cosine) {
  Ball angle;
  Ball exponent;
  arb_set_d(angle, base);
  arb_log(angle, angle, bits);
  arb_set_si(exponent, -2 * pair);
  arb_div_si(exponent, exponent, dim, bits);
  arb_mul(angle, angle, exponent, bits);
  arb_exp(angle, angle, bits);
  arb_mul_si(angle, angle, position, bits);
  arb_sin_cos(sine, cosine, angle, bits);
}

// Whether the real number that the ball holds may lie in [lower, upper].
bool meets(Ball& ball, const Enclosure& enclosure) {
  Ball other;
  arb_set_interval_mpfr(other, enclosure.lower_end(), enclosure.upper_end(), bits);
  return arb_overlaps(ball, other) != 0;
}

// high + low, give or take `error`.
Enclosure around(double high, double low, double error) {
  constexpr Precision precision{256};
  const Enclosure middle = Enclosure(high, precision) + Enclosure(low, precision);
  const Enclosure radius(error, precision);
  return Enclosure::hull(middle - radius, middle + radius);
}

TEST(Flint, AgreesWithBothTiersOnRandomPoints) {
  const char* scale = std::getenv("SEXTANT_TEST_MULTIPLIER");
  const int points = 10000 * (scale != nullptr ? std::max(1, std::atoi(scale)) : 1);
  constexpr int positions_per_spec = 50;
  std::mt19937_64 random(2024);
  Ball sine;
  Ball cosine;
  for (int done = 0; done < points;) {
    // Bases log-uniform from 1 to 10^9, odd dims included; positions of every magnitude up to 2^53.
    const double base = std::exp2(static_cast<double>(random() >> 11) * 0x1p-53 * 30);
    const std::int64_t dim = 2 * static_cast<std::int64_t>(1 + random() % 64);
    const std::int64_t pairs = dim / 2;
    GeometricFrequencies exact(base, 2, dim, pairs);
    const FastRotations fast = exact.fast();
    RotationRow row = fast.make_row();
    for (int i = 0; i < positions_per_spec; ++i, ++done) {
      const std::int64_t position = static_cast<std::int64_t>(random()) >> (10 + random() % 54);
      const auto pair = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(pairs));
      const auto at = static_cast<std::size_t>(pair);
      flint_rotation(base, dim, pair, position, sine, cosine);
      const Rotation& truth = exact.rotation(position, pair, Precision{128});
      fast.at(position, row);
      ASSERT_TRUE(meets(sine, truth.sin)) << base << ' ' << dim << ' ' << pair << ' ' << position;
      ASSERT_TRUE(meets(cosine, truth.cos)) << base << ' ' << dim << ' ' << pair << ' ' << position;
      ASSERT_TRUE(meets(sine, around(row.sin_high[at], row.sin_low[at], FastRotations::error))) << base << ' ' << dim << ' ' << pair << ' ' << position;
      ASSERT_TRUE(meets(cosine, around(row.cos_high[at], row.cos_low[at], FastRotations::error))) << base << ' ' << dim << ' ' << pair << ' ' << position;
    }
  }
}

TEST(Flint, APlantedFaultIsSeen) {
  Ball sine;
  Ball cosine;
  flint_rotation(10000, 64, 3, 1000, sine, cosine);
  GeometricFrequencies exact(10000, 2, 64, 32);
  EXPECT_TRUE(meets(sine, exact.rotation(1000, 3, Precision{128}).sin));
  EXPECT_FALSE(meets(sine, exact.rotation(1001, 3, Precision{128}).sin));
  EXPECT_FALSE(meets(sine, exact.rotation(1000, 3, Precision{128}).cos));
  const Enclosure truth = exact.rotation(1000, 3, Precision{128}).sin;
  EXPECT_FALSE(meets(sine, truth + Enclosure(0x1p-110, Precision{128})));
}

}  // namespace
}  // namespace sextant::reference
