#include "properties/gen/floats.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace sextant::gen::gen_floats_test {
namespace {

constexpr std::array dtypes{Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16};

double least_normal(Dtype dtype) { return std::ldexp(1.0, format_of(dtype).min_exponent); }

// Whether a value is what its class says.
bool belongs(Dtype dtype, FloatClass float_class, double value) {
  const double size = std::fabs(value);
  int exponent = 0;
  switch (float_class) {
    case FloatClass::zero: return value == 0;
    case FloatClass::subnormal: return size > 0 && size < least_normal(dtype);
    case FloatClass::normal: return std::isfinite(value) && size >= least_normal(dtype);
    case FloatClass::huge: return size <= largest_finite(dtype) / 2 && size >= largest_finite(dtype) / 128;
    case FloatClass::infinite: return std::isinf(value);
    case FloatClass::nan: return std::isnan(value);
    case FloatClass::beside_power_of_two: {
      // Within one step, of the patterns that there are, of a power of two.
      const double significand = std::frexp(size, &exponent);
      const double step =
          std::ldexp(1.0, dtype == Dtype::float64 ? 2 - format_of(dtype).precision : 1 - format_of(dtype).precision);
      return std::isfinite(value) && (significand <= 0.5 + step || significand >= 1 - step);
    }
    case FloatClass::any_bits: return true;
  }
  return false;
}

TEST(Floats, EveryClassTurnsUpInEveryDtypeWithBothSigns) {
  for (const Dtype dtype : dtypes) {
    for (const FloatClass float_class : every_float_class) {
      rc::Random random(7);
      const rc::Gen<std::int64_t> generator = float_bits(dtype, {float_class});
      int negative = 0;
      for (int i = 0; i < 200; ++i) {
        const std::int64_t bits = generator(random.split()).value();
        ASSERT_GE(bits, 0);
        ASSERT_TRUE(dtype == Dtype::float64 || bits < bit_patterns(dtype));
        const double value = from_bits(dtype, bits);
        ASSERT_TRUE(belongs(dtype, float_class, value))
            << name_of(dtype) << " " << name_of(float_class) << " " << value;
        negative += std::signbit(value) ? 1 : 0;
      }
      EXPECT_GT(negative, 60) << name_of(dtype) << " " << name_of(float_class);
      EXPECT_LT(negative, 140) << name_of(dtype) << " " << name_of(float_class);
    }
  }
}

TEST(Floats, DrawnFromAllClassesEachIsThere) {
  for (const Dtype dtype : dtypes) {
    rc::Random random(1);
    const rc::Gen<std::int64_t> generator = float_bits(dtype, {every_float_class.begin(), every_float_class.end()});
    std::map<FloatClass, int> seen;
    for (int i = 0; i < 2000; ++i) {
      const double value = from_bits(dtype, generator(random.split()).value());
      for (const FloatClass float_class : every_float_class)
        seen[float_class] += belongs(dtype, float_class, value) ? 1 : 0;
    }
    for (const FloatClass float_class : every_float_class)
      EXPECT_GT(seen[float_class], 150) << name_of(dtype) << " " << name_of(float_class);
  }
}

TEST(Floats, PowersOfTwoComeWithTheirNeighboursOnBothSides) {
  for (const Dtype dtype : dtypes) {
    std::array<int, 3> sides{};
    for (std::uint64_t word = 0; word < 300; ++word) {
      int exponent = 0;
      const double significand = std::frexp(
          from_bits(dtype, float_in(dtype, FloatClass::beside_power_of_two, word * 0x9E3779B97F4A7C15)), &exponent);
      ++sides[std::fabs(significand) == 0.5 ? 1 : std::fabs(significand) > 0.75 ? 0 : 2];
    }
    for (const int side : sides) EXPECT_GT(side, 50) << name_of(dtype);
  }
}

TEST(Floats, BitsAreThoseOfTheValue) {
  EXPECT_EQ(from_bits(Dtype::float32, 0x3F800000), 1);
  EXPECT_EQ(from_bits(Dtype::bfloat16, 0xC040), -3);
  EXPECT_EQ(from_bits(Dtype::float16, 0x0001), 0x1p-24);
  EXPECT_EQ(from_bits(Dtype::float64, 0x3FF0000000000000 >> 1), 1);
  for (const Dtype dtype : dtypes) {
    for (const double value : {0.0, -0.0, 1.0, -0.75, 1536.0}) {
      EXPECT_EQ(from_bits(dtype, to_bits(dtype, value)), value);
      EXPECT_EQ(std::signbit(from_bits(dtype, to_bits(dtype, value))), std::signbit(value));
    }
    EXPECT_TRUE(std::isinf(from_bits(dtype, to_bits(dtype, INFINITY))));
    EXPECT_TRUE(std::isnan(from_bits(dtype, to_bits(dtype, NAN))));
  }
}

// Walks down as the engine does.
template <class Fails>
double shrunk(Dtype dtype, double start, Fails fails) {
  std::int64_t bits = to_bits(dtype, start);
  int steps = 0;
  for (bool simpler = true; simpler;) {
    simpler = false;
    auto candidates = simpler_bits(dtype, bits);
    while (const auto candidate = candidates.next()) {
      if (++steps > 20000) return NAN;
      if (!fails(from_bits(dtype, *candidate))) continue;
      bits = *candidate;
      simpler = true;
      break;
    }
  }
  return from_bits(dtype, bits);
}

TEST(Floats, ShrinkToValuesThatAPersonKnows) {
  for (const Dtype dtype : dtypes) {
    const double big = largest_finite(dtype) / 3;
    EXPECT_EQ(shrunk(dtype, -big, [](double) { return true; }), 0);
    EXPECT_EQ(shrunk(dtype, -big, [](double value) { return value != 0; }), 1);
    EXPECT_EQ(shrunk(dtype, big, [](double value) { return value >= 1024; }), 1024);
    EXPECT_EQ(shrunk(dtype, -big, [](double value) { return value < -5; }), -8);
    EXPECT_EQ(shrunk(dtype, least_normal(dtype) * 0.7,
                     [&](double value) { return value > 0 && value < least_normal(dtype); }),
              least_normal(dtype) / 2);
    EXPECT_EQ(shrunk(dtype, INFINITY, [&](double value) { return value > largest_finite(dtype) / 2; }),
              std::ldexp(1.0, format_of(dtype).max_exponent));
    EXPECT_TRUE(std::isnan(shrunk(dtype, -NAN, [](double value) { return std::isnan(value); })));
    EXPECT_TRUE(std::isinf(shrunk(dtype, -INFINITY, [](double value) { return std::isinf(value); })));
  }
}

RC_GTEST_PROP(Floats, ShrinkingAlwaysEnds, ()) {
  const Dtype dtype = *rc::gen::elementOf(std::vector<Dtype>(dtypes.begin(), dtypes.end()));
  std::int64_t bits = *float_bits(dtype, {every_float_class.begin(), every_float_class.end()});
  // The last candidate each time: the smallest step.
  int steps = 0;
  for (bool more = true; more; ++steps) {
    RC_ASSERT(steps < 5000);
    more = false;
    auto candidates = simpler_bits(dtype, bits);
    while (const auto candidate = candidates.next()) {
      bits = *candidate;
      more = true;
    }
  }
  RC_ASSERT(bits == 0);
}

}  // namespace
}  // namespace sextant::gen::gen_floats_test
