#include "reference/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/numeric/ulp.hpp"

namespace sextant::reference::rounding_test {
namespace {

constexpr Precision precision{128};

class Rounding : public testing::TestWithParam<Dtype> {};

// For a double the two independent roundings, MPFR's and lib/numeric's, must agree: at values, midpoints, beside them,
// in every binade of the format and beyond both its ends.
TEST_P(Rounding, AgreesWithRoundTo) {
  const Dtype dtype = GetParam();
  const Format format = format_of(dtype);
  for (int exponent = std::max(format.min_exponent - format.precision - 2, -1070);
       exponent <= std::min(format.max_exponent + 1, 1022); ++exponent) {
    for (const double significand : {1.0, 1.25, 1.0 + unit_roundoff(dtype), 1.0 + 3 * unit_roundoff(dtype),
                                     2.0 - unit_roundoff(dtype), 1.7182818}) {
      const double base = std::ldexp(significand, exponent);
      for (const double value : {base, std::nextafter(base, 0), std::nextafter(base, INFINITY), -base}) {
        const auto rounded = correctly_rounded(dtype, Enclosure(value, precision));
        ASSERT_TRUE(rounded.has_value());
        ASSERT_EQ(*rounded, round_to(dtype, value)) << value;
      }
    }
  }
}

TEST_P(Rounding, UlpAgreesWithLibNumeric) {
  const Dtype dtype = GetParam();
  for (const double value :
       {0.0, 1.0, std::nextafter(1.0, 0), -3.5, 1e-3, std::ldexp(1.0, format_of(dtype).min_exponent), 1e-300, 1e30}) {
    EXPECT_EQ(ulp(dtype, Enclosure(value, precision)).lower(), sextant::ulp(dtype, value)) << value;
    EXPECT_EQ(ulp(dtype, Enclosure(value, precision)).upper(), sextant::ulp(dtype, value)) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Dtype, Rounding,
                         testing::Values(Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16),
                         [](const auto& dtype) { return std::string(name_of(dtype.param)); });

TEST(Rounding, OfAnEnclosureOverAMidpointIsOpen) {
  const Enclosure around =
      Enclosure::hull(Enclosure(1.0 + 0x1p-24 - 0x1p-60, precision), Enclosure(1.0 + 0x1p-24 + 0x1p-50, precision));
  EXPECT_EQ(correctly_rounded(Dtype::float32, around), std::nullopt);
}

TEST(Rounding, SeesFurtherThanADouble) {
  // 1 + 2^-24 + 2^-100 is above the tie of 1 and 1 + 2^-23, though no double tells.
  const Enclosure truth = Enclosure(1.0 + 0x1p-24, precision) + Enclosure(0x1p-100, precision);
  EXPECT_EQ(correctly_rounded(Dtype::float32, truth), 1 + 0x1p-23);
}

TEST(Rounding, UlpOverABinadeBorderIsAnInterval) {
  const Enclosure around = Enclosure::hull(Enclosure(0.9, precision), Enclosure(1.1, precision));
  EXPECT_EQ(ulp(Dtype::float32, around).lower(), 0x1p-24);
  EXPECT_EQ(ulp(Dtype::float32, around).upper(), 0x1p-23);
}

}  // namespace
}  // namespace sextant::reference::rounding_test
