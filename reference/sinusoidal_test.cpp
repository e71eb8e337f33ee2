#include "reference/sinusoidal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace sextant::reference::sinusoidal_test {
namespace {

Sinusoidal with(std::int64_t dim, double base) {
  Sinusoidal encoding;
  encoding.dim = dim;
  encoding.base = base;
  return encoding;
}

// Whether an enclosure contains the decimal of 30 digits, give or take one unit of its last.
bool near(const Enclosure& enclosure, const std::string& decimal) {
  mpfr_t value;
  mpfr_t gap;
  mpfr_init2(value, 256);
  mpfr_init2(gap, 256);
  mpfr_set_str(value, decimal.c_str(), 10, MPFR_RNDN);
  mpfr_sub(gap, enclosure.lower_end(), value, MPFR_RNDA);
  bool inside = mpfr_cmpabs(gap, value) < 0 && std::abs(mpfr_get_d(gap, MPFR_RNDA)) < 1e-29;
  mpfr_sub(gap, enclosure.upper_end(), value, MPFR_RNDA);
  inside = inside && std::abs(mpfr_get_d(gap, MPFR_RNDA)) < 1e-29;
  mpfr_clears(value, gap, static_cast<mpfr_ptr>(nullptr));
  return inside;
}

// Computed apart from this code, by mpmath 1.3 at 400 bits: base^(-2i/dim) * position.
TEST(SinusoidalReference, AgreesWithAnIndependentComputation) {
  struct Row {
    std::int64_t position;
    double base;
    std::int64_t pair;
    std::int64_t dim;
    const char* sine;
    const char* cosine;
  };
  const Row rows[] = {
      {131071, 10000, 0, 512, "-0.575241683754789371138253659539", "-0.817983499387949080713440647537"},
      {131071, 10000, 100, 512, "0.999990354742972836567158276795", "-0.00439208618122911445653298037935"},
      {std::int64_t{1} << 40, 77777.25, 3, 34, "-0.914193522837153201595402100594",
       "-0.405277932785138756386294331445"},
      {std::int64_t{1} << 53, 500000, 1, 128, "-0.881569599501728225506849385696", "0.472054066007658171102481903782"},
      {-(std::int64_t{1} << 53), 10000, 63, 128, "-0.110713100636946397678741890743",
       "0.993852408231400010402279311086"},
  };
  for (const Row& row : rows) {
    SinusoidalReference reference(with(row.dim, row.base));
    const Rotation& rotation = reference.rotation(row.position, row.pair, Precision{256});
    EXPECT_TRUE(near(rotation.sin, row.sine)) << row.position;
    EXPECT_TRUE(near(rotation.cos, row.cosine)) << row.position;
  }
}

TEST(SinusoidalReference, PositionZeroIsExact) {
  SinusoidalReference reference(with(512, 10000));
  const Rotation& rotation = reference.rotation(0, 17, Precision{128});
  EXPECT_EQ(rotation.sin.lower(), 0);
  EXPECT_EQ(rotation.sin.upper(), 0);
  EXPECT_EQ(rotation.cos.lower(), 1);
  EXPECT_EQ(rotation.cos.upper(), 1);
}

TEST(SinusoidalReference, AHigherPrecisionLiesInsideALowerOne) {
  SinusoidalReference reference(with(34, 77777.25));
  for (const std::int64_t position :
       {std::int64_t{1}, std::int64_t{-1}, std::int64_t{65537}, (std::int64_t{1} << 53) - 1}) {
    for (std::int64_t pair = 0; pair < 17; ++pair) {
      const Rotation coarse = reference.rotation(position, pair, Precision{128});
      const Rotation fine = reference.rotation(position, pair, Precision{512});
      EXPECT_TRUE(mpfr_lessequal_p(coarse.sin.lower_end(), fine.sin.lower_end()));
      EXPECT_TRUE(mpfr_greaterequal_p(coarse.sin.upper_end(), fine.sin.upper_end()));
      EXPECT_TRUE(mpfr_lessequal_p(coarse.cos.lower_end(), fine.cos.lower_end()));
      EXPECT_TRUE(mpfr_greaterequal_p(coarse.cos.upper_end(), fine.cos.upper_end()));
      // 128 bits, less 53 + 2 for the angle's size and a few for its own operations.
      EXPECT_LT(coarse.sin.width(), 0x1p-60);
    }
  }
}

TEST(SinusoidalReference, OffsetAndDenominatorAreThoseOfTheSpec) {
  Sinusoidal encoding = with(8, 10000);
  encoding.position_offset = 5;
  SinusoidalReference shifted(encoding);
  SinusoidalReference plain(with(8, 10000));
  EXPECT_EQ(shifted.rotation(2, 3, Precision{128}).sin.lower(), plain.rotation(7, 3, Precision{128}).sin.lower());
  encoding = with(8, 10000);
  encoding.downscale_freq_shift = 1;
  SinusoidalReference timing(encoding);
  // The last frequency is 1/base: 10000^(-3/3).
  EXPECT_DOUBLE_EQ(timing.rotation(1, 3, Precision{128}).angle.lower(), 1e-4);
}

TEST(SinusoidalReference, AnglesAreOfRealPositionsAndOfTheirScale) {
  Sinusoidal encoding = with(8, 10000);
  encoding.positions = {0x1p-7, Dtype::float64};
  SinusoidalReference real(encoding);
  EXPECT_EQ(real.rotation(257, 0, Precision{128}).angle.lower(), 2.0078125);
  EXPECT_EQ(real.rotation(257, 0, Precision{128}).angle.upper(), 2.0078125);
  EXPECT_DOUBLE_EQ(real.rotation(257, 2, Precision{128}).angle.lower(), 0.020078125);
  encoding.angle_scale = 1000;
  encoding.scale = 3;  // of values, not of angles
  SinusoidalReference scaled(encoding);
  EXPECT_EQ(scaled.rotation(257, 0, Precision{128}).angle.lower(), 2007.8125);
  EXPECT_DOUBLE_EQ(scaled.angle(1, 3, Precision{128}).lower(), 1000.0 / 128 / 1000);
  // The fast tier has the same frequencies.
  const FastRotations fast = scaled.fast();
  RotationRow row = fast.make_row();
  fast.at(257, row);
  EXPECT_NEAR(row.sin_high[0], std::sin(2007.8125), 1e-12);
}

TEST(SinusoidalReference, AnyShiftDividesTheExponent) {
  Sinusoidal encoding = with(11, 10000);  // five pairs, and a channel that is 0
  encoding.layout = Layout::concatenated;
  encoding.downscale_freq_shift = 3;
  EXPECT_DOUBLE_EQ(SinusoidalReference(encoding).rotation(1, 1, Precision{128}).angle.lower(), 1e-2);
  EXPECT_DOUBLE_EQ(SinusoidalReference(encoding).rotation(1, 4, Precision{128}).angle.lower(), 1e-8);
}

}  // namespace
}  // namespace sextant::reference::sinusoidal_test
