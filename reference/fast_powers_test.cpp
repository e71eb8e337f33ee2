#include "reference/fast_powers.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/xpos.hpp"

namespace sextant::reference::fast_powers_test {
namespace {

constexpr std::int64_t pairs_count = 16;

XposReference with(Role role, double scale_base) {
  Xpos encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 2 * pairs_count;
  encoding.role = role;
  encoding.scale_base = scale_base;
  return XposReference(encoding);
}

// Whether the real number that `exact` encloses at 256 bits lies within `error` of high + low.
bool holds(const DoubleDoubleWithin& power, const Enclosure& exact) {
  const Precision precision = exact.precision();
  const Enclosure distance = abs(exact - Enclosure(power.high, precision) - Enclosure(power.low, precision));
  return distance.upper() <= power.error;
}

TEST(FastPowers, HoldTheScalesOfXposAtEveryPosition) {
  constexpr Precision precision{256};
  for (const Role role : {Role::query, Role::key}) {
    const XposReference exact = with(role, 512);
    FastPowers powers = exact.fast_scales();
    for (const std::int64_t position :
         {0L,    1L,  2L,   63L,    64L, 65L,    4095L,  4096L,   4097L,    4160L,   8191L,
          9999L, -1L, -64L, -5000L, 1L,  65535L, 65536L, 131071L, -131072L, 131071L, 262143L}) {
      const auto row = powers.at(position);
      for (std::int64_t pair = 0; pair < pairs_count; ++pair) {
        const DoubleDoubleWithin& power = row[static_cast<std::size_t>(pair)];
        if (!std::isfinite(power.error)) continue;
        EXPECT_TRUE(holds(power, exact.scale(position, pair, precision))) << position << ", pair " << pair;
        // Tight, wherever doubles have bits to tell it.
        if (power.high > 0x1p-900) {
          EXPECT_LE(power.error, 0x1p-92 * power.high) << position << ", pair " << pair;
        }
      }
    }
  }
}

TEST(FastPowers, SayNothingOfPowersBeyondDoubles) {
  constexpr std::int64_t position = 1'000'000'000'000;
  FastPowers growing = with(Role::key, 512).fast_scales();
  EXPECT_FALSE(std::isfinite(growing.at(position)[0].error));
  FastPowers shrinking = with(Role::query, 512).fast_scales();
  const DoubleDoubleWithin vanished = shrinking.at(position)[0];
  EXPECT_EQ(vanished.high, 0);
  EXPECT_GT(vanished.error, 0);
  EXPECT_LT(vanished.error, 0x1p-1000);
}

TEST(FastPowers, RefusePositionsOutsideTheirDomain) {
  FastPowers powers = with(Role::query, 512).fast_scales();
  EXPECT_NO_THROW(powers.at(std::int64_t{1} << 54));
  EXPECT_THROW(powers.at((std::int64_t{1} << 54) + 1), std::domain_error);
  EXPECT_THROW(powers.at(-(std::int64_t{1} << 54) - 1), std::domain_error);
}

}  // namespace
}  // namespace sextant::reference::fast_powers_test
