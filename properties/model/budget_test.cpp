// Over 400 lines: a test for each step of docs/proofs/accuracy-classes.md, read alone.
#include "properties/model/budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "lib/numeric/ulp.hpp"

namespace sextant::model_budget_test {
namespace {

using reference::Enclosure;
using reference::Precision;

constexpr Precision precision{128};

ErrorBudget budget(AccuracyClass accuracy, Dtype dtype = Dtype::float32, double base = 10000) {
  return {{accuracy, dtype}, reference::GeometricFrequencies(base, 2, 512, 256), 256};
}

Enclosure real(double value) { return {value, precision}; }

TEST(ErrorBudget, TheFirstFrequencyIsOneSoItsAngleIsThePosition) {
  const ErrorBudget float32 = budget(AccuracyClass::float32_angle);
  EXPECT_EQ(float32.angle_error(real(1000), 0).upper(), 0);
  EXPECT_EQ(float32.angle_error(real(0x1p24), 0).upper(), 0);
  const double beyond = float32.angle_error(real(0x1p24 + 1), 0).upper();
  EXPECT_NEAR(beyond, 1, 1e-6);  // positions beyond are rounded
  EXPECT_GE(beyond, 1);
  EXPECT_EQ(budget(AccuracyClass::bfloat16_angle).angle_error(real(256), 0).upper(), 0);
  EXPECT_GT(budget(AccuracyClass::bfloat16_angle).angle_error(real(257), 0).upper(), 1);
}

TEST(ErrorBudget, AngleErrorGrowsWithTheLogarithmOfTheFrequency) {
  // w_128 = 10000^(-1/2): c = 5 + ln 10000.
  const double error = budget(AccuracyClass::float32_angle).angle_error(real(1), 128).upper();
  EXPECT_NEAR(error, (5 + std::log(10000.0)) * 0x1p-24, 1e-11);
}

ErrorBudget of_factors(AccuracyClass accuracy, double scale, double step) {
  return {{accuracy, Dtype::float32}, reference::GeometricFrequencies(10000, 2, 512, 256, {scale, step}), 256};
}

// n s is in a format if and only if n is (docs/proofs/accuracy-classes.md, step 15).
TEST(ErrorBudget, ARealPositionIsExactWhereItsCountIs) {
  const ErrorBudget float32 = of_factors(AccuracyClass::float32_angle, 1, 0x1p-7);
  EXPECT_EQ(float32.angle_error(real(0x1p17), 0).upper(), 0);
  EXPECT_EQ(float32.quick_angle_error(0x1p17, 0), 0);
  EXPECT_GT(float32.angle_error(real(0x1p17 + 0x1p-7), 0).lower(), 0x1p17 * 0x1p-24);
  EXPECT_LT(float32.angle_error(real(0x1p17 + 0x1p-7), 0).upper(), 1.001 * 0x1p17 * 0x1p-24);
  EXPECT_GT(float32.quick_angle_error(0x1p17 + 0x1p-7, 0), 0);
  const ErrorBudget bfloat16 = of_factors(AccuracyClass::bfloat16_angle, 1, 0x1p-7);
  EXPECT_EQ(bfloat16.angle_error(real(2), 0).upper(), 0);
  EXPECT_GT(bfloat16.angle_error(real(2.0078125), 0).lower(), 0);
  // The other pairs are as ever.
  EXPECT_EQ(float32.angle_error(real(1), 128).upper(),
            budget(AccuracyClass::float32_angle).angle_error(real(1), 128).upper());
}

TEST(ErrorBudget, AScaleOfAnglesIsTwoRoundingsUnlessItIsAPowerOfTwo) {
  const double plain = budget(AccuracyClass::float32_angle).angle_error(real(1), 128).upper();
  EXPECT_EQ(of_factors(AccuracyClass::float32_angle, 1024, 1).angle_error(real(1), 128).upper(), plain);
  EXPECT_EQ(of_factors(AccuracyClass::float32_angle, 1024, 1).angle_error(real(1024), 0).upper(), 0);
  const ErrorBudget thousand = of_factors(AccuracyClass::float32_angle, 1000, 1);
  EXPECT_NEAR(thousand.angle_error(real(1), 128).upper() - plain, 2 * 0x1p-24, 1e-12);
  EXPECT_NEAR(thousand.angle_error(real(1000), 0).upper(), 1000 * 7 * 0x1p-24, 1e-8);
  // A law of own frequencies: no frequency is beyond the scale.
  EXPECT_NEAR(thousand.of_own_frequencies().angle_error(real(1000), 0).upper(), 1000 * 7 * 0x1p-24, 1e-8);
  EXPECT_NEAR(of_factors(AccuracyClass::float32_angle, 1, 0x1p-7).of_own_frequencies().angle_error(real(1), 0).upper(),
              5 * 0x1p-24, 1e-12);
}

TEST(ErrorBudget, ARecurrenceAddsThreeRoundoffsAPair) {
  const double direct = budget(AccuracyClass::float32_angle).angle_error(real(1), 100).upper();
  EXPECT_NEAR(budget(AccuracyClass::float32_recurrence).angle_error(real(1), 100).upper() - direct, 300 * 0x1p-24,
              1e-9);
}

TEST(ErrorBudget, TheStrictestClassesAllowNoAngleError) {
  for (const AccuracyClass accuracy : {AccuracyClass::correctly_rounded, AccuracyClass::faithful}) {
    EXPECT_EQ(budget(accuracy).angle_error(real(1e6), 9).upper(), 0);
  }
  EXPECT_LT(budget(AccuracyClass::exact_angle).angle_error(real(131071), 0).upper(), 1e-10);
}

// In roundoffs, at an angle of 1: 5 where the coordinate is the position, w_0 having none of its own.
TEST(ErrorBudget, CoordinatesThatAreDividedHaveMoreRoundings) {
  const auto roundoffs_of = [](const char* fields, std::int64_t axis, std::int64_t pair) {
    const Spec spec = parse_spec(std::string(R"({"encoding":"sinusoidal_nd","dim":8,"extents":[9,9],)") + fields + "}");
    const reference::SinusoidalNdReference oracle(std::get<SinusoidalNd>(spec.encoding));
    const ErrorBudget budget({AccuracyClass::float32_angle, Dtype::float32}, oracle, axis);
    return budget.angle_error(real(1), pair).upper() / 0x1p-24;
  };
  const double of_frequency = 2 * std::log(100.0);
  EXPECT_EQ(roundoffs_of(R"("scales":[1,2])", 0, 0), 0);
  EXPECT_NEAR(roundoffs_of(R"("scales":[1,2])", 0, 1), 5 + of_frequency, 1e-4);
  EXPECT_NEAR(roundoffs_of(R"("scales":[1,2])", 1, 0), 7, 1e-4);
  EXPECT_NEAR(roundoffs_of(R"("scales":[1,2])", 1, 1), 7 + of_frequency, 1e-4);
  EXPECT_NEAR(roundoffs_of(R"("coordinates":"normalized")", 0, 0), 10, 1e-4);
  EXPECT_NEAR(roundoffs_of(R"("coordinates":"normalized")", 1, 1), 10 + of_frequency, 1e-4);
}

// Step 14, its left side measured: in float32 by one quotient, by a reciprocal, from the first middle on, and by a
// linspace from the nearer end.
TEST(ErrorBudget, MiddlesOfCellsAreWithinTheirRoundings) {
  EXPECT_EQ(middle_roundings(1000, AccuracyClass::float32_angle), 3);
  EXPECT_EQ(middle_roundings(200, AccuracyClass::bfloat16_angle), 5);
  constexpr double u = 0x1p-24;
  double worst = 0;
  for (int e = 2; e < 3000; e = e * 21 / 20 + 1) {
    const auto cells = static_cast<float>(e);
    const float last = 1 - 1 / cells;
    const float step = 2 * last / (cells - 1);
    for (int p = 0; p < e; ++p) {
      const auto at = static_cast<float>(p);
      const double c = (2.0 * p + 1) / e - 1;
      const double h = middle_roundings(e, AccuracyClass::float32_angle);
      const double bound = (h + (h + 1) * std::fabs(c)) * u / (1 - (h + 1) * u);
      for (const float middle :
           {2 * ((at + 0.5F) / cells) - 1, (at + 0.5F) * (2 / cells) - 1, (1 / cells - 1) + at * (2 / cells),
            2 * p < e ? at * step - last : last - (cells - 1 - at) * step})
        worst = std::max(worst, std::fabs(middle - c) / bound);
    }
  }
  EXPECT_LE(worst, 1);
  EXPECT_GE(worst, 0.5);
}

// c_i of a rope spec, from the angle error that it allows at an angle of 1.
double roundoffs(const char* scaling, std::int64_t pair) {
  const Spec spec = parse_spec(std::string(R"({"encoding":"rope","head_dim":128,"rope_theta":500000,"rope_scaling":)") +
                               scaling + "}");
  const ErrorBudget budget({AccuracyClass::float32_angle, Dtype::float32},
                           reference::RopeFrequencies(std::get<Rope>(spec.encoding)), spec.max_position);
  return budget.angle_error(real(1), pair).upper() * 0x1p24;
}

TEST(ErrorBudget, AScalingRuleAddsTheRoundoffsOfItsOperations) {
  const double plain = 5 + std::log(500000.0);  // pair 32: |ln w| = ln(base)/2
  EXPECT_NEAR(roundoffs("null", 32), plain, 1e-4);
  EXPECT_NEAR(roundoffs(R"({"rope_type":"linear","factor":8})", 32), plain + 2, 1e-4);
  const double stretched = 64.0 / 126 * std::log(8.0);
  EXPECT_NEAR(roundoffs(R"({"rope_type":"ntk","factor":8})", 32), plain + 2 * stretched + 5 + stretched, 1e-4);
  const char* llama3 = R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,)"
                       R"("low_freq_factor":1,"high_freq_factor":4})";
  EXPECT_NEAR(roundoffs(llama3, 1), 10 + std::log(500000.0) / 32, 1e-4);
  EXPECT_GT(roundoffs(llama3, 34), plain + 20);  // nearly all of w/8: an error of the blend weighs most
  EXPECT_LT(roundoffs(llama3, 34), plain + 100);
  const char* yarn = R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096})";
  EXPECT_NEAR(roundoffs(yarn, 1), 10 + std::log(500000.0) / 32, 1e-4);
  // Not scaled: the frequency is 1.
  EXPECT_EQ(roundoffs(llama3, 0), 0);
  EXPECT_EQ(roundoffs(yarn, 0), 0);
  EXPECT_LT(roundoffs(yarn, 30), plain + 40);
}

// Of a pair of frequency w at position p = angle/w: |p| gamma_3, W being 1, or what the claim's own frequency has,
// where that is more.
TEST(ErrorBudget, OwnFrequenciesMayBeAsFastAsAny) {
  const ErrorBudget own = budget(AccuracyClass::float32_angle).of_own_frequencies();
  EXPECT_NEAR(own.angle_error(real(1000), 0).upper(), 5000 * 0x1p-24, 1e-9);  // c_0 = 5
  EXPECT_NEAR(own.angle_error(real(10), 128).upper(), 3000 * 0x1p-24, 1e-9);  // w = 1/100
  EXPECT_GE(own.angle_error(real(10), 128).lower(), 3000 * 0x1p-24);
  const ErrorBudget recurrence = budget(AccuracyClass::float32_recurrence).of_own_frequencies();
  EXPECT_NEAR(recurrence.angle_error(real(10), 128).upper(), 1000 * (3 + 3 * 128) * 0x1p-24, 1e-6);
  EXPECT_EQ(budget(AccuracyClass::correctly_rounded).of_own_frequencies().angle_error(real(1e6), 3).upper(), 0);
  // No frequency is so small that its share overflows.
  const ErrorBudget slow({AccuracyClass::bfloat16_angle, Dtype::float32},
                         reference::GeometricFrequencies(1e300, 2, 4, 3), 3);
  EXPECT_TRUE(std::isfinite(slow.of_own_frequencies().pair_bound(real(1), real(1e-290), 2).upper()));
  EXPECT_TRUE(std::isfinite(slow.of_own_frequencies().pair_bound(real(1), real(0), 2).upper()));
}

TEST(ErrorBudget, ElementBoundIsFourUlpsWhereTheAngleIsZero) {
  const Enclosure bound = budget(AccuracyClass::float32_angle).element_bound(real(1), real(0), real(1), real(0), 3);
  EXPECT_EQ(bound.lower(), 4 * 0x1p-23);
  EXPECT_EQ(bound.upper(), 4 * 0x1p-23);
}

TEST(ErrorBudget, ElementBoundNearAZeroFollowsTheAngle) {
  // sin near a zero at angle 1000: own ULPs vanish, the effect of the angle's error stays.
  const Enclosure bound =
      budget(AccuracyClass::float32_angle).element_bound(real(1e-12), real(1), real(1), real(1000), 1);
  EXPECT_NEAR(bound.upper(), 1000 * (5 + 2 * std::log(10000.0) / 256) * 0x1p-24, 1e-6);
}

TEST(ErrorBudget, ElementBoundNeverExceedsTheWholeRange) {
  const Enclosure bound =
      budget(AccuracyClass::bfloat16_angle).element_bound(real(0.5), real(0.8), real(1), real(1e9), 200);
  EXPECT_LT(bound.upper(), 2 + 1e-5);
  EXPECT_LT(budget(AccuracyClass::bfloat16_angle, Dtype::float32, 1e300)
                .element_bound(real(0.5), real(0.8), real(1), real(1e9), 255)
                .upper(),
            2 + 1e-5);
}

// docs/proofs/accuracy-classes.md, steps 9 to 12, in ULP of the dtype.
TEST(ErrorBudget, SixteenBitsOfAFloat32EvaluationAreHalfAnUlpAndALittle) {
  const auto ulps = [](Dtype dtype, Evaluation evaluation, double libm) {
    return evaluation_ulps({AccuracyClass::float32_angle, dtype, evaluation, libm});
  };
  EXPECT_EQ(ulps(Dtype::float32, Evaluation::float32, 1), 4);
  EXPECT_EQ(ulps(Dtype::float64, Evaluation::float32, 1), 4);
  EXPECT_EQ(ulps(Dtype::float32, Evaluation::float32, 4), 10);
  EXPECT_EQ(ulps(Dtype::bfloat16, Evaluation::float32, 1), 0.5 + 4 * 0x1p-16);
  EXPECT_EQ(ulps(Dtype::float16, Evaluation::float32, 1), 0.5 + 4 * 0x1p-13);
  EXPECT_EQ(ulps(Dtype::bfloat16, Evaluation::dtype, 1), 2.5 + 0x1p-8 + 4 * 0x1p-16);
  EXPECT_EQ(ulps(Dtype::float16, Evaluation::dtype, 2), 2.5 + 0x1p-11 + 6 * 0x1p-13);
  EXPECT_EQ(evaluation_ulps({AccuracyClass::faithful, Dtype::bfloat16, Evaluation::dtype}), 1);
}

// k of a rule's attention factor.
double ulps_with(const std::string& scaling, const std::string& claim = "") {
  const Spec spec = parse_spec(R"({"encoding":"rope","head_dim":8,"rope_scaling":)" + scaling + claim + "}");
  const reference::RopeFrequencies frequencies(std::get<Rope>(spec.encoding));
  return ErrorBudget(arithmetic_of(spec), frequencies, spec.max_position).ulps();
}

// Step 10.
TEST(ErrorBudget, AFactorThatIsNotOneIsRoundedItself) {
  const auto yarn = [](const std::string& fields) {
    return R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096)" + fields + "}";
  };
  const double given = std::sqrt(2) + 3.25 + 0x1p-10;
  EXPECT_DOUBLE_EQ(ulps_with(yarn(R"(,"attention_factor":1.25)")), given);
  EXPECT_EQ(ulps_with(yarn(R"(,"attention_factor":1)")), 4);
  EXPECT_EQ(ulps_with(yarn(R"(,"mscale":0.7,"mscale_all_dim":0.7)")), 4);
  const double beyond_one = 0.1 * std::log(40);
  EXPECT_NEAR(ulps_with(yarn("")), given + (0.2 + 4 * beyond_one) / (1 + beyond_one), 1e-12);
  EXPECT_NEAR(ulps_with(yarn(""), R"(,"accuracy":"exact-angle")"), given, 1e-8);
  EXPECT_DOUBLE_EQ(ulps_with(yarn(R"(,"attention_factor":1.25)"), R"(,"libm":2)"), std::sqrt(2) * 2 + 3.25 + 0x1p-10);
  EXPECT_EQ(ulps_with(yarn(R"(,"attention_factor":1.25)"), R"(,"libm":8)"), 18);
  EXPECT_NEAR(ulps_with(yarn(R"(,"mscale":2,"mscale_all_dim":1)")),
              given + 2 + (0.2 + 4 * beyond_one) / (1 + beyond_one) + (0.4 + 5 * 2 * beyond_one) / (1 + 2 * beyond_one),
              1e-12);
  const std::string longrope = R"({"rope_type":"longrope","factor":32,"original_max_position_embeddings":4096,)"
                               R"("short_factor":[1,1,1,1],"long_factor":[1,2,3,4])";
  EXPECT_DOUBLE_EQ(ulps_with(longrope + R"(,"attention_factor":1.25})"), given);
  const double ratio = 5.0 / 12;
  EXPECT_NEAR(ulps_with(longrope + "}"), given + ((5 * ratio + 1 / std::log(4096)) / (1 + ratio) + 1) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(ulps_with(yarn(R"(,"attention_factor":1.25)"), R"(,"dtype":"bfloat16")"), 0.5 + given * 0x1p-16);
  EXPECT_DOUBLE_EQ(ulps_with(yarn(R"(,"attention_factor":1.25)"), R"(,"dtype":"bfloat16","evaluation":"dtype")"),
                   2.75 + 0x1p-8 + given * 0x1p-16);
}

// Step 18.
TEST(ErrorBudget, ATableInTheDtypeIsRoundedBeforeTheLastRounding) {
  const auto ulps = [](Dtype dtype, TableUse table, const std::optional<RoundedFactor>& factor = std::nullopt) {
    return evaluation_ulps(
        {.accuracy = AccuracyClass::exact_angle, .dtype = dtype, .evaluation = Evaluation::table, .table = table},
        factor);
  };
  EXPECT_DOUBLE_EQ(ulps(Dtype::bfloat16, TableUse::turns), std::sqrt(0.5) + 0.5 + (1 + 0x1p-8) * 4.75 * 0x1p-16);
  EXPECT_DOUBLE_EQ(ulps(Dtype::float16, TableUse::turns), std::sqrt(0.5) + 0.5 + (1 + 0x1p-11) * 4.75 * 0x1p-13);
  EXPECT_DOUBLE_EQ(ulps(Dtype::bfloat16, TableUse::is_multiplied),
                   1 / (1 + 0x1p-8) + 0.5 + (1 + 0x1p-8) * 4.75 * 0x1p-16);
  EXPECT_EQ(ulps(Dtype::bfloat16, TableUse::is_value), 0.5 + 4 * 0x1p-16);
  EXPECT_NEAR(ulps(Dtype::bfloat16, TableUse::turns, RoundedFactor{}), 1.4962, 1e-4);
  EXPECT_NEAR(ulps(Dtype::float16, TableUse::turns, RoundedFactor{}), 2.0002, 1e-4);  // one ULP and more before
}

TEST(ErrorBudget, WhatATableIsForFollowsFromTheEncoding) {
  const auto use = [](const char* encoding) {
    return arithmetic_of(parse_spec(std::string("{\"dtype\":\"bfloat16\",") + encoding + "}")).table;
  };
  EXPECT_EQ(use(R"("encoding":"rope","head_dim":8)"), TableUse::turns);
  EXPECT_EQ(use(R"("encoding":"xpos","head_dim":8)"), TableUse::turns);
  EXPECT_EQ(use(R"("encoding":"sinusoidal","dim":8)"), TableUse::is_value);
  EXPECT_EQ(use(R"("encoding":"sinusoidal","dim":8,"scale":2)"), TableUse::is_multiplied);
  EXPECT_EQ(use(R"("encoding":"alibi","num_heads":8)"), TableUse::is_multiplied);
  EXPECT_EQ(use(R"("encoding":"attention","num_heads":2,"head_dim":8,"position":{"encoding":"rope","head_dim":8})"),
            TableUse::turns);
}

struct Turned {
  double a;
  double angle;
  float x0;
  float x1;
  bool cosine_above;
  bool sine_above;
};

enum class Order { into_table, into_x, into_result };
enum class Sum { rounded, fused };

// The value next to `truth`, from either side.
float next_to(double truth, bool above) {
  const auto nearest = static_cast<float>(truth);
  if (static_cast<double>(nearest) > truth) return above ? nearest : std::nextafter(nearest, -2.0F);
  return above ? std::nextafter(nearest, 2.0F) : nearest;
}

float less_product(float p, float q, float r, float s, Sum sum) {
  const volatile float second = r * s;
  if (sum == Sum::fused) return std::fma(p, q, -second);
  const volatile float first = p * q;
  return first - second;
}

// How far off a (x0 cos - x1 sin) is in such arithmetic, in ULP of the norm.
double ulps_off(const Turned& at, Order order, Sum sum) {
  const float cosine = next_to(std::cos(at.angle), at.cosine_above);
  const float sine = next_to(std::sin(at.angle), at.sine_above);
  const auto a = static_cast<float>(at.a);
  float value = 0;
  if (order == Order::into_table) {
    const volatile float in_cosine = cosine * a;
    const volatile float in_sine = sine * a;
    value = less_product(at.x0, in_cosine, at.x1, in_sine, sum);
  } else if (order == Order::into_x) {
    const volatile float first = at.x0 * a;
    const volatile float second = at.x1 * a;
    value = less_product(first, cosine, second, sine, sum);
  } else {
    value = less_product(at.x0, cosine, at.x1, sine, sum) * a;
  }
  const auto x0 = static_cast<double>(at.x0);
  const auto x1 = static_cast<double>(at.x1);
  const double truth = at.a * (x0 * std::cos(at.angle) - x1 * std::sin(at.angle));
  return std::fabs(static_cast<double>(value) - truth) / ulp(Dtype::float32, at.a * std::hypot(x0, x1));
}

// What step 10 allows is needed, as the worst that a search came upon shows, and is enough.
TEST(ErrorBudget, HonestOrdersOfAFactorAreBeyondFourUlpsAndWithinTheBound) {
  const double allowed = evaluation_ulps({AccuracyClass::exact_angle, Dtype::float32}, RoundedFactor{});
  const Turned into_table{0x1.143a98ffffeb3p+0, 0x1.cd043af9fa4e4p-1, 0x1.30c156p+0F, -0x1.6b6982p+0F, false, false};
  const Turned into_x{0x1.057d3d0025d34p+0, 0x1.0aae61fe7163dp+0, 0x1.069e0cp+0F, -0x1.a8ffd8p+0F, true, true};
  const Turned into_result{0x1.1620c2ff9549ap+0, 0x1.fcf8745a97342p-1, 0x1.013838p+0F, -0x1.898ec8p+0F, false, false};
  EXPECT_NEAR(ulps_off(into_table, Order::into_table, Sum::rounded), 4.159, 1e-3);
  EXPECT_NEAR(ulps_off(into_x, Order::into_x, Sum::rounded), 4.198, 1e-3);
  EXPECT_NEAR(ulps_off(into_result, Order::into_result, Sum::rounded), 4.075, 1e-3);

  std::mt19937_64 random(1);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (int i = 0; i < 20000; ++i) {
    // Vectors that turn onto the first axis, or nearly, so that all of the norm is in what is judged.
    const double norm = 1 + unit();
    const double angle = 1.57 * unit();
    const double phase = angle + 0.1 * (unit() - 0.5);
    const Turned at{1 + unit(),
                    angle,
                    static_cast<float>(norm * std::cos(phase)),
                    static_cast<float>(-norm * std::sin(phase)),
                    unit() < 0.5,
                    unit() < 0.5};
    for (const Order order : {Order::into_table, Order::into_x, Order::into_result}) {
      for (const Sum sum : {Sum::rounded, Sum::fused}) ASSERT_LE(ulps_off(at, order, sum), allowed);
    }
  }
}

// How far off a (x0 cos - x1 sin) is by a table with a in it that is cast to the dtype, in ULP of the norm.
double ulps_off_by_cast_table(Dtype dtype, const Turned& at, Sum sum) {
  const auto a = static_cast<float>(at.a);
  const auto entry = [&](double truth, bool above) {
    return static_cast<float>(round_to(dtype, static_cast<double>(next_to(truth, above) * a)));
  };
  const float cosine = entry(std::cos(at.angle), at.cosine_above);
  const float sine = entry(std::sin(at.angle), at.sine_above);
  const auto value = static_cast<double>(less_product(at.x0, cosine, at.x1, sine, sum));
  const auto x0 = static_cast<double>(at.x0);
  const auto x1 = static_cast<double>(at.x1);
  const double truth = static_cast<double>(a) * (x0 * std::cos(at.angle) - x1 * std::sin(at.angle));
  return std::fabs(round_to(dtype, value) - truth) / ulp(dtype, static_cast<double>(a) * std::hypot(x0, x1));
}

TEST(ErrorBudget, ACastTableIsWithinItsBoundAndNearIt) {
  EXPECT_NEAR(ulps_off_by_cast_table(Dtype::bfloat16, {1, 0.7715965466114317, 1.515625F, -1.296875F, false, false},
                                     Sum::rounded),
              1.193, 1e-3);
  EXPECT_NEAR(ulps_off_by_cast_table(Dtype::float16, {1, 0.8513931282889617, 1.4140625F, -1.404296875F, false, false},
                                     Sum::rounded),
              1.199, 1e-3);
  EXPECT_NEAR(
      ulps_off_by_cast_table(
          Dtype::bfloat16, {1.004233956336975, 1.5452418989645647, 0.1484375F, -1.984375F, false, false}, Sum::rounded),
      1.480, 1e-3);
  std::mt19937_64 random(1);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
    for (const bool has_factor : {false, true}) {
      const ArithmeticClaim claim{
          .accuracy = AccuracyClass::exact_angle, .dtype = dtype, .evaluation = Evaluation::table};
      const double allowed =
          evaluation_ulps(claim, has_factor ? std::optional(RoundedFactor{}) : std::optional<RoundedFactor>());
      for (int i = 0; i < 20000; ++i) {
        const double a = has_factor ? 1 + unit() : 1;
        const double norm = (1.9 + 0.15 * unit()) / a;
        const double angle = 1.57 * unit();
        const double phase = angle + 0.1 * (unit() - 0.5);
        const Turned at{a,
                        angle,
                        static_cast<float>(round_to(dtype, norm * std::cos(phase))),
                        static_cast<float>(round_to(dtype, -norm * std::sin(phase))),
                        unit() < 0.5,
                        unit() < 0.5};
        for (const Sum sum : {Sum::rounded, Sum::fused}) ASSERT_LE(ulps_off_by_cast_table(dtype, at, sum), allowed);
      }
    }
  }
}

TEST(ErrorBudget, ALibraryOfMoreUlpsMovesTheAngleFurther) {
  const auto error = [](double libm, AccuracyClass accuracy) {
    const ErrorBudget budget({.accuracy = accuracy, .dtype = Dtype::float32, .libm = libm},
                             reference::GeometricFrequencies(10000, 2, 512, 256), 256);
    return budget.angle_error(real(1), 128).upper() * 0x1p24;
  };
  EXPECT_NEAR(error(16, AccuracyClass::float32_angle), 3 + 32 + std::log(10000.0), 1e-3);
  EXPECT_NEAR(error(16, AccuracyClass::float32_recurrence) - error(16, AccuracyClass::float32_angle), 33 * 128, 4);
}

TEST(ErrorBudget, OfPairNormIsThatOfTheNormWhateverTheElement) {
  const ErrorBudget norms = budget(AccuracyClass::pair_norm);
  const Enclosure bound = norms.element_bound(real(1e-12), real(1), real(-1), real(0), 3);
  EXPECT_EQ(bound.lower(), 4 * 0x1p-23);
  EXPECT_EQ(bound.upper(), 4 * 0x1p-23);
  EXPECT_NEAR(norms.element_bound({1e-12, 1e-12}, 1, -1, 0, 3).upper, 4 * 0x1p-23, 1e-15);
  EXPECT_LT(budget(AccuracyClass::exact_angle).element_bound(real(1e-12), real(1), real(1), real(0), 3).upper(), 1e-15);
}

TEST(ErrorBudget, LeastPairBoundIsBelowThePairsBoundAndNearIt) {
  for (const AccuracyClass accuracy : {AccuracyClass::float32_angle, AccuracyClass::exact_angle}) {
    const ErrorBudget of_class = budget(accuracy);
    for (const double norm : {1e-20, 0.75, 3.0, 1000.0}) {
      for (const double angle : {0.0, 1.0, 1e5, 1e12}) {
        const double least = of_class.least_pair_bound(norm, angle, 3);
        const Enclosure bound = of_class.pair_bound(real(norm), real(angle), 3);
        EXPECT_LE(least, bound.lower()) << norm << " " << angle;
        EXPECT_GE(least, 0.9999 * bound.upper()) << norm << " " << angle;
      }
    }
  }
}

TEST(ErrorBudget, NormBoundDoesNotDependOnTheAngle) {
  EXPECT_DOUBLE_EQ(budget(AccuracyClass::float32_angle).norm_bound(real(1)).upper(), 4 * std::sqrt(2.0) * 0x1p-23);
  EXPECT_DOUBLE_EQ(budget(AccuracyClass::faithful, Dtype::bfloat16).norm_bound(real(3)).upper(),
                   std::sqrt(2.0) * 0x1p-6);
}

}  // namespace
}  // namespace sextant::model_budget_test
