#include "lib/numeric/dtype.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace sextant::numeric_dtype_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double from_bits16(Dtype dtype, unsigned bits) {
  const auto narrow = static_cast<std::uint16_t>(bits);
  std::array<std::byte, 2> bytes{};
  std::memcpy(bytes.data(), &narrow, 2);
  return load(dtype, bytes.data());
}

unsigned to_bits16(Dtype dtype, double value) {
  std::array<std::byte, 2> bytes{};
  store(dtype, value, bytes.data());
  std::uint16_t narrow = 0;
  std::memcpy(&narrow, bytes.data(), 2);
  return narrow;
}

class Narrow : public testing::TestWithParam<Dtype> {};

TEST_P(Narrow, EveryBitPatternSurvivesARoundTrip) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double value = from_bits16(GetParam(), bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_bits16(GetParam(), to_bits16(GetParam(), value))));
    } else {
      ASSERT_EQ(to_bits16(GetParam(), value), bits) << value;
    }
  }
}

// Between neighbours a < b: the midpoint goes to the even one, and one double to either side of it to the nearer.
TEST_P(Narrow, RoundsToNearestTiesToEven) {
  const Dtype dtype = GetParam();
  for (unsigned bits = 0; std::isfinite(from_bits16(dtype, bits + 1)); ++bits) {
    const double a = from_bits16(dtype, bits);
    const double b = from_bits16(dtype, bits + 1);
    const double middle = a + (b - a) / 2;
    ASSERT_EQ(round_to(dtype, middle), bits % 2 == 0 ? a : b);
    ASSERT_EQ(round_to(dtype, std::nextafter(middle, a)), a);
    ASSERT_EQ(round_to(dtype, std::nextafter(middle, b)), b);
    ASSERT_EQ(round_to(dtype, -middle), -round_to(dtype, middle));
  }
}

TEST_P(Narrow, OverflowsHalfAnUlpAboveTheLargestFinite) {
  const Dtype dtype = GetParam();
  const double largest = largest_finite(dtype);
  const double half_ulp = std::ldexp(unit_roundoff(dtype), format_of(dtype).max_exponent);
  EXPECT_EQ(round_to(dtype, std::nextafter(largest + half_ulp, 0)), largest);
  EXPECT_EQ(round_to(dtype, largest + half_ulp), infinity);
  EXPECT_EQ(round_to(dtype, -infinity), -infinity);
  EXPECT_TRUE(std::signbit(round_to(dtype, -0.0)));
  EXPECT_TRUE(std::isnan(round_to(dtype, std::numeric_limits<double>::quiet_NaN())));
}

INSTANTIATE_TEST_SUITE_P(Dtype, Narrow, testing::Values(Dtype::float16, Dtype::bfloat16),
                         [](const auto& dtype) { return std::string(name_of(dtype.param)); });

TEST(Dtype, KnownValues) {
  EXPECT_EQ(largest_finite(Dtype::float16), 65504);
  EXPECT_EQ(largest_finite(Dtype::float32), static_cast<double>(std::numeric_limits<float>::max()));
  EXPECT_EQ(largest_finite(Dtype::float64), std::numeric_limits<double>::max());
  EXPECT_EQ(round_to(Dtype::bfloat16, 257), 256);
  EXPECT_EQ(round_to(Dtype::bfloat16, 259), 260);
  EXPECT_EQ(round_to(Dtype::float16, 2049), 2048);
  // Through float32 this would round twice: to the tie 1 + 2^-11, then down to 1.
  EXPECT_EQ(round_to(Dtype::float16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
}

TEST(Dtype, NamesAreInverse) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int64}) {
    EXPECT_EQ(dtype_named(name_of(dtype)), dtype);
  }
  EXPECT_EQ(dtype_named("float8"), std::nullopt);
}

TEST(Dtype, RefusesInt64WhereAFloatIsMeant) {
  EXPECT_THROW(format_of(Dtype::int64), std::invalid_argument);
  EXPECT_THROW(round_to(Dtype::int64, 1), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::numeric_dtype_test
