#include "lib/kernels/rotation_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lib/kernels/target_test.hpp"
#include "reference/frequency.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/rotations_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/float_rotations-inl.h"
#include "lib/kernels/rotations-inl.h"

// Target-independent, so declared before the file is taken once per target.
#ifndef SEXTANT_LIB_ROTATIONS_TEST_ROW
#define SEXTANT_LIB_ROTATIONS_TEST_ROW
namespace sextant {
struct RowOfRotations {
  std::vector<double> sin;
  std::vector<double> cos;
  std::vector<double> sin_high;
  std::vector<double> sin_low;
  std::vector<double> cos_high;
  std::vector<double> cos_low;
  std::vector<double> sin_for_floats;
  std::vector<double> cos_for_floats;
};
}  // namespace sextant
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

void FillRow(const FrequencyPieces& frequencies, SplitPosition position, RowOfRotations& row) {
  const Doubles d;
  for (std::size_t i = 0; i < frequencies.padded(); i += hn::Lanes(d)) {
    const Rotation rotation = RotationAt(frequencies, i, position, unit_circle());
    hn::StoreU(rotation.sin, d, &row.sin[i]);
    hn::StoreU(rotation.cos, d, &row.cos[i]);
    const PreciseRotation precise = PreciseRotationAt(frequencies, i, position, unit_circle());
    hn::StoreU(precise.sin.high, d, &row.sin_high[i]);
    hn::StoreU(precise.sin.low, d, &row.sin_low[i]);
    hn::StoreU(precise.cos.high, d, &row.cos_high[i]);
    hn::StoreU(precise.cos.low, d, &row.cos_low[i]);
    const Rotation for_floats = RotationForFloatsAt(frequencies, i, hn::Set(d, position.nearest));
    hn::StoreU(for_floats.sin, d, &row.sin_for_floats[i]);
    hn::StoreU(for_floats.cos, d, &row.cos_for_floats[i]);
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillRow);

using reference::Enclosure;
using reference::Precision;

// How far high + low is from the true value, rounded up.
double distance(double high, double low, const Enclosure& truth) {
  return abs(Enclosure(high, truth.precision()) + Enclosure(low, truth.precision()) - truth).upper();
}

std::vector<std::int64_t> positions() {
  std::vector<std::int64_t> list{0, 1, -1, 355, 710};
  for (int k = 1; k <= 54; ++k) {
    for (const std::int64_t nudge : {-1, 0, 1}) {
      list.push_back((std::int64_t{1} << k) + (k == 54 ? -std::abs(nudge) : nudge));
      list.push_back(-list.back());
    }
  }
  std::mt19937_64 random(23);
  for (int i = 0; i < 40; ++i) list.push_back(static_cast<std::int64_t>(random()) >> (10 + random() % 50));
  return list;
}

struct Setting {
  double base;
  std::int64_t dim;
};

class RotationsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(RotationsOn);

TEST_P(RotationsOn, AreWithinTheProvenBoundsAtAnyPosition) {
  for (const Setting& setting :
       {Setting{10000, 128}, Setting{77777.25, 34}, Setting{1, 2}, Setting{1e300, 26}, Setting{1.0000001, 10}}) {
    const std::int64_t pairs = setting.dim / 2;
    reference::GeometricFrequencies exact(setting.base, 2, setting.dim, pairs);
    const FrequencyPieces frequencies(geometric_turns(setting.base, 2, setting.dim, pairs));
    ASSERT_EQ(frequencies.padded() % FrequencyPieces::lanes, 0U);
    const std::vector<double> zeros(frequencies.padded());
    RowOfRotations row{zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros};
    for (const std::int64_t position : positions()) {
      HWY_DYNAMIC_DISPATCH(FillRow)(frequencies, split_position(position), row);
      for (std::int64_t pair = 0; pair < pairs; ++pair) {
        const auto i = static_cast<std::size_t>(pair);
        const reference::Rotation& truth = exact.rotation(position, pair, Precision{256});
        ASSERT_LE(distance(row.sin[i], 0, truth.sin), rotation_error)
            << setting.base << " " << pair << " at " << position;
        ASSERT_LE(distance(row.cos[i], 0, truth.cos), rotation_error)
            << setting.base << " " << pair << " at " << position;
        ASSERT_LE(distance(row.sin_high[i], row.sin_low[i], truth.sin), precise_rotation_error)
            << setting.base << " at " << position;
        ASSERT_LE(distance(row.cos_high[i], row.cos_low[i], truth.cos), precise_rotation_error)
            << setting.base << " at " << position;
        ASSERT_EQ(row.sin_high[i] + row.sin_low[i], row.sin_high[i]);
        if (std::abs(position) > std::int64_t{1} << 53) continue;
        ASSERT_LE(distance(row.sin_for_floats[i], 0, truth.sin), float_rotation_error)
            << setting.base << " " << pair << " at " << position;
        ASSERT_LE(distance(row.cos_for_floats[i], 0, truth.cos), float_rotation_error)
            << setting.base << " " << pair << " at " << position;
      }
      for (std::size_t i = frequencies.pairs(); i < frequencies.padded(); ++i) {
        ASSERT_EQ(row.sin[i], row.sin[frequencies.pairs() - 1]) << "a padded lane is a copy of the last pair";
      }
    }
  }
}

TEST_P(RotationsOn, PositionZeroIsExact) {
  const FrequencyPieces frequencies(geometric_turns(10000, 2, 16, 8));
  const std::vector<double> zeros(frequencies.padded());
  RowOfRotations row{zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros};
  HWY_DYNAMIC_DISPATCH(FillRow)(frequencies, split_position(0), row);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(row.sin[i], 0);
    EXPECT_EQ(row.cos[i], 1);
    EXPECT_EQ(row.sin_low[i], 0);
    EXPECT_EQ(row.cos_low[i], 0);
    EXPECT_EQ(row.sin_for_floats[i], 0);
    EXPECT_EQ(row.cos_for_floats[i], 1);
  }
}

TEST(UnitCircle, HoldsTheNearestDoubles) {
  const UnitCircle& circle = unit_circle();
  for (std::size_t k = 0; k < UnitCircle::points; ++k) {
    const Enclosure angle =
        Enclosure::pi(Precision{256}) * Enclosure(static_cast<double>(2 * k) / UnitCircle::points, Precision{256});
    EXPECT_EQ(circle.sin_high[k], k % 256 == 0 ? 0 : mpfr_get_d(sin(angle).lower_end(), MPFR_RNDN)) << k;
    EXPECT_EQ(circle.cos_high[k], k % 256 == 128 ? 0 : mpfr_get_d(cos(angle).lower_end(), MPFR_RNDN)) << k;
    EXPECT_LE(distance(circle.sin_high[k], circle.sin_low[k], sin(angle)), 0x1p-106) << k;
    EXPECT_LE(distance(circle.cos_high[k], circle.cos_low[k], cos(angle)), 0x1p-106) << k;
  }
}

TEST(FrequencyPieces, AddUpToTheFrequency) {
  // 1/(2 pi) = 0.28BE60DB9391054A 7F09D5F47D4D3770 36D8A566... in base 16.
  const FrequencyPieces pieces(geometric_turns(10000, 2, 2, 1));
  EXPECT_EQ(pieces.high()[0], std::ldexp(static_cast<double>(0x28BE60DB9391054AU >> 9), -55));
  const Turns three_quarters = Turns(3) << 190;
  const FrequencyPieces negative(std::vector<Turns>{three_quarters});
  EXPECT_EQ(negative.high()[0], -0.25);
  EXPECT_EQ(negative.middle()[0], 0);
}

}  // namespace
}  // namespace sextant
#endif
