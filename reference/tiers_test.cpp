#include <gtest/gtest.h>

#include <cmath>

#include "reference/fast_rotations.hpp"
#include "reference/random_encoding_test.hpp"
#include "reference/rope.hpp"
#include "reference/sinusoidal.hpp"

// The two tiers against each other at random (encoding, position, pair): SEXTANT_TEST_MULTIPLIER=1000 makes the points
// ten million.

namespace sextant::reference::tiers_test {
namespace {

constexpr Precision precision{256};  // narrower by far than the fast tier's bound at any position

// Whether the whole of the exact enclosure lies in what the fast tier promises.
bool contains(const DoubleDoubleWithin& fast, const Enclosure& exact) {
  const Enclosure middle = Enclosure(fast.high, precision) + Enclosure(fast.low, precision);
  return certainly_at_most(abs(exact - middle), Enclosure(fast.error, precision));
}

TEST(Tiers, FastContainsExactAtRandomPoints) {
  constexpr std::int64_t positions_per_encoding = 250;
  const std::int64_t points = multiplied(10000);
  Draw draw(20231);
  for (std::int64_t done = 0; done < points; done += positions_per_encoding) {
    if (draw.coin()) {
      SinusoidalReference exact(draw.sinusoidal());
      const FastRotations fast = exact.fast();
      RotationRow row = fast.make_row();
      for (std::int64_t i = 0; i < positions_per_encoding; ++i) {
        const std::int64_t position = draw.position();
        const std::int64_t pair = draw.integer(0, pairs(exact.encoding()) - 1);
        fast.at(position + exact.encoding().position_offset, row);
        const Rotation& truth = exact.rotation(position, pair, precision);
        ASSERT_TRUE(contains(row.sin(static_cast<std::size_t>(pair)), truth.sin))
            << exact.encoding().base << ' ' << position << ' ' << pair;
        ASSERT_TRUE(contains(row.cos(static_cast<std::size_t>(pair)), truth.cos))
            << exact.encoding().base << ' ' << position << ' ' << pair;
      }
    } else {
      RopeReference exact(draw.rope());
      const std::int64_t length = draw.integer(1, 1 << 20);
      const FastRotations fast = exact.fast(length);
      RotationRow row = fast.make_row();
      const bool clockwise = exact.encoding().direction == Direction::clockwise;
      for (std::int64_t i = 0; i < positions_per_encoding; ++i) {
        const std::int64_t position = draw.position();
        const std::int64_t pair = draw.integer(0, pairs(exact.encoding()) - 1);
        fast.at(clockwise ? -position : position, row);
        const Rotation& truth = exact.rotation(position, pair, length, precision);
        ASSERT_TRUE(contains(row.sin(static_cast<std::size_t>(pair)), truth.sin))
            << name_of(exact.encoding().rope_scaling) << ' ' << position << ' ' << pair;
        ASSERT_TRUE(contains(row.cos(static_cast<std::size_t>(pair)), truth.cos))
            << name_of(exact.encoding().rope_scaling) << ' ' << position << ' ' << pair;
      }
    }
  }
}

TEST(Tiers, FastContainsExactAtRandomAngles) {
  Draw draw(5);
  std::vector<double> angles{0, -0.0, 0x1p64, -0x1p64, 0x1p-1074, M_PI, M_PI / 2, 1e19};
  for (int i = 0; i < 3000; ++i)
    angles.push_back(std::ldexp(draw.real(-1, 1), static_cast<int>(draw.integer(-80, 64))));
  RotationRow row;
  FastRotations::at_angles(angles, row);
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const Enclosure angle(angles[i], precision);
    ASSERT_TRUE(contains(row.sin(i), sin(angle))) << angles[i];
    ASSERT_TRUE(contains(row.cos(i), cos(angle))) << angles[i];
  }
  for (const double outside : {0x1.0000000000001p64, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(FastRotations::at_angles(std::vector<double>{outside}, row), std::domain_error);
  }
}

TEST(Tiers, APlantedFaultIsSeen) {
  GeometricFrequencies exact(10000, 2, 64, 32);
  const FastRotations fast = exact.fast();
  RotationRow row = fast.make_row();
  fast.at(12345, row);
  DoubleDoubleWithin value = row.sin(7);
  EXPECT_TRUE(contains(value, exact.rotation(12345, 7, precision).sin));
  value.low += 0x1p-99;
  EXPECT_FALSE(contains(value, exact.rotation(12345, 7, precision).sin));
}

}  // namespace
}  // namespace sextant::reference::tiers_test
