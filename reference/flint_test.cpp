#include <gtest/gtest.h>

#include <random>

#include "reference/ball_test.hpp"
#include "reference/fast_rotations.hpp"
#include "reference/frequency.hpp"
#include "reference/random_encoding_test.hpp"

// The oracle against FLINT's ball arithmetic, which shares no code with MPFI: both enclose the same real number, so the
// two must overlap, and the narrower of them lie in the wider one's reach. SEXTANT_TEST_MULTIPLIER scales the number of
// points; 100 makes it a million.

namespace sextant::reference::flint_test {
namespace {

struct SineAndCosine {
  Ball sine;
  Ball cosine;
};

SineAndCosine flint_rotation(double base, std::int64_t dim, std::int64_t pair, std::int64_t position) {
  const Ball angle = exp(log(Ball(base)) * Ball(-2 * pair) / Ball(dim)) * Ball(position);
  return {sin(angle), cos(angle)};
}

// high + low, give or take `error`.
Enclosure around(double high, double low, double error) {
  constexpr Precision precision{256};
  const Enclosure middle = Enclosure(high, precision) + Enclosure(low, precision);
  const Enclosure radius(error, precision);
  return Enclosure::hull(middle - radius, middle + radius);
}

TEST(Flint, AgreesWithBothTiersOnRandomPoints) {
  const std::int64_t points = multiplied(10000);
  constexpr int positions_per_spec = 50;
  std::mt19937_64 random(2024);
  for (std::int64_t done = 0; done < points;) {
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
      const auto [sine, cosine] = flint_rotation(base, dim, pair, position);
      const Rotation& truth = exact.rotation(position, pair, Precision{128});
      fast.at(position, row);
      ASSERT_TRUE(sine.meets(truth.sin)) << base << ' ' << dim << ' ' << pair << ' ' << position;
      ASSERT_TRUE(cosine.meets(truth.cos)) << base << ' ' << dim << ' ' << pair << ' ' << position;
      ASSERT_TRUE(sine.meets(around(row.sin_high[at], row.sin_low[at], FastRotations::error)))
          << base << ' ' << dim << ' ' << pair << ' ' << position;
      ASSERT_TRUE(cosine.meets(around(row.cos_high[at], row.cos_low[at], FastRotations::error)))
          << base << ' ' << dim << ' ' << pair << ' ' << position;
    }
  }
}

TEST(Flint, APlantedFaultIsSeen) {
  const auto [sine, cosine] = flint_rotation(10000, 64, 3, 1000);
  GeometricFrequencies exact(10000, 2, 64, 32);
  EXPECT_TRUE(sine.meets(exact.rotation(1000, 3, Precision{128}).sin));
  EXPECT_FALSE(sine.meets(exact.rotation(1001, 3, Precision{128}).sin));
  EXPECT_FALSE(sine.meets(exact.rotation(1000, 3, Precision{128}).cos));
  const Enclosure truth = exact.rotation(1000, 3, Precision{128}).sin;
  EXPECT_FALSE(sine.meets(truth + Enclosure(0x1p-110, Precision{128})));
}

}  // namespace
}  // namespace sextant::reference::flint_test
