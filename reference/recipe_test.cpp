#include "reference/recipe.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <set>
#include <string>

#include "lib/spec/alibi.hpp"

namespace sextant::reference::recipe_test {
namespace {

// A float32 (or bfloat16, ...) whose every operation is MPFR's, correctly rounded at that many bits: an emulation of
// the recipes that shares nothing with theirs. Ranges here stay clear of subnormals.
class Rounded {
 public:
  Rounded(double value, mpfr_prec_t bits)
      : bits_(bits), value_(apply([&](mpfr_ptr out) { mpfr_set_d(out, value, MPFR_RNDN); })) {}
  double value() const { return value_; }

  friend Rounded operator*(const Rounded& a, const Rounded& b) { return a.with(b, mpfr_mul); }
  friend Rounded operator/(const Rounded& a, const Rounded& b) { return a.with(b, mpfr_div); }
  friend Rounded operator+(const Rounded& a, const Rounded& b) { return a.with(b, mpfr_add); }
  friend Rounded operator-(const Rounded& a, const Rounded& b) { return a.with(b, mpfr_sub); }
  friend Rounded pow(const Rounded& a, const Rounded& b) { return a.with(b, mpfr_pow); }
  Rounded of(int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)) const {
    return with(*this,
                [&](mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr, mpfr_rnd_t mode) { return function(out, a, mode); });
  }

 private:
  template <class Function>
  double apply(Function function) const {
    mpfr_t out;
    mpfr_init2(out, bits_);
    function(out);
    const double result = mpfr_get_d(out, MPFR_RNDN);
    mpfr_clear(out);
    return result;
  }
  template <class Function>
  Rounded with(const Rounded& other, Function function) const {
    mpfr_t a;
    mpfr_t b;
    mpfr_inits2(53, a, b, static_cast<mpfr_ptr>(nullptr));
    mpfr_set_d(a, value_, MPFR_RNDN);
    mpfr_set_d(b, other.value_, MPFR_RNDN);
    Rounded result(apply([&](mpfr_ptr out) { function(out, a, b, MPFR_RNDN); }), bits_);
    mpfr_clears(a, b, static_cast<mpfr_ptr>(nullptr));
    return result;
  }

  mpfr_prec_t bits_;
  double value_;
};

Rounded f32(double value) { return {value, 24}; }

Rope rope_of(std::int64_t dim, double theta) {
  Rope rope;
  rope.head_dim = rope.rotary_dim = dim;
  rope.rope_theta = theta;
  return rope;
}

Sinusoidal sinusoidal_of(std::int64_t dim, double base) {
  Sinusoidal encoding;
  encoding.dim = dim;
  encoding.base = base;
  return encoding;
}

const std::int64_t places[] = {0, 1, 7, 1000, 4097, 131071, 1000003};

TEST(Recipe, Float32IsTheArithmeticOfAMultiprecisionFloat32) {
  for (const auto& [dim, theta] : {std::pair{64, 10000.0}, {34, 77777.25}, {128, 500000.0}}) {
    auto emulation = RopeEmulation::of(recipe_named("float32"), rope_of(dim, theta), Dtype::float32);
    for (const std::int64_t position : places) {
      const auto& row = emulation->at(position, position + 1);
      for (int i = 0; i < dim / 2; ++i) {
        const Intermediates& had = row[static_cast<std::size_t>(i)];
        const Rounded w = f32(1) / pow(f32(theta), f32(2 * i) / f32(dim));
        const Rounded angle = f32(static_cast<double>(position)) * w;
        ASSERT_EQ(had.frequency, w.value()) << i;
        ASSERT_EQ(had.angle, angle.value()) << i;
        ASSERT_EQ(had.table.sin, angle.of(mpfr_sin).value()) << i << ' ' << position;
        ASSERT_EQ(had.table.cos, angle.of(mpfr_cos).value()) << i << ' ' << position;
        const Rounded c = f32(had.table.cos);
        const Rounded s = f32(had.table.sin);
        const auto turned = emulation->rotate(had, 1.25F, -0.3F);
        ASSERT_EQ(turned.first, (f32(1.25) * c - f32(-0.3F) * s).value());
        ASSERT_EQ(turned.second, (f32(-0.3F) * c + f32(1.25) * s).value());
      }
    }
  }
}

TEST(Recipe, ExponentialAndPowerFormsDifferAndAreExact) {
  auto exponential =
      SinusoidalEmulation::of(recipe_named("float32-exponential"), sinusoidal_of(512, 10000), Dtype::float32);
  auto power = SinusoidalEmulation::of(recipe_named("float32-power"), sinusoidal_of(512, 10000), Dtype::float32);
  auto reciprocal = SinusoidalEmulation::of(recipe_named("float32"), sinusoidal_of(512, 10000), Dtype::float32);
  const Rounded coefficient = f32((Rounded(-1, 53) * Rounded(10000, 53).of(mpfr_log) / Rounded(512, 53)).value());
  int differences = 0;
  for (int i = 0; i < 256; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double w = exponential->at(1)[at].frequency;
    ASSERT_EQ(w, (f32(2 * i) * coefficient).of(mpfr_exp).value());
    ASSERT_EQ(power->at(1)[at].frequency, pow(f32(10000), f32(0) - f32(2 * i) / f32(512)).value());
    differences += w != reciprocal->at(1)[at].frequency ? 1 : 0;
  }
  EXPECT_GT(differences, 50);  // else the two recipes are one
}

TEST(Recipe, RunningProductIsRepeatedMultiplication) {
  auto emulation = RopeEmulation::of(recipe_named("float32-running-product"), rope_of(128, 10000), Dtype::float16);
  for (const std::int64_t position : places) {
    const auto& row = emulation->at(position, position + 1);
    const Rounded ratio = pow(f32(10000), f32(-2) / f32(128));
    Rounded angle = f32(static_cast<double>(position));
    for (const Intermediates& had : row) {
      ASSERT_EQ(had.angle, angle.value());
      ASSERT_EQ(had.table.cos, angle.of(mpfr_cos).value());
      // float32 throughout, cast once.
      const auto turned = emulation->rotate(had, 0.5, 3);
      ASSERT_EQ(turned.first,
                Rounded((f32(0.5) * f32(had.table.cos) - f32(3) * f32(had.table.sin)).value(), 11).value());
      angle = angle * ratio;
    }
  }
}

double fma_of(double a, double b, double c) {
  mpfr_t x;
  mpfr_t y;
  mpfr_t z;
  mpfr_t out;
  mpfr_inits2(53, x, y, z, static_cast<mpfr_ptr>(nullptr));
  mpfr_init2(out, 24);
  mpfr_set_d(x, a, MPFR_RNDN);
  mpfr_set_d(y, b, MPFR_RNDN);
  mpfr_set_d(z, c, MPFR_RNDN);
  mpfr_fma(out, x, y, z, MPFR_RNDN);
  const double result = mpfr_get_d(out, MPFR_RNDN);
  mpfr_clears(x, y, z, out, static_cast<mpfr_ptr>(nullptr));
  return result;
}

TEST(Recipe, AFusedProductIsExactUntilTheSumIsRounded) {
  const double x0 = 1.2345678F;
  const double x1 = -0.3F;
  for (const std::string base : {"float32-widened", "wide-power", "cast-table"}) {
    auto first = RopeEmulation::of(recipe_named(base + "-fused-first"), rope_of(64, 10000), Dtype::float32);
    auto second = RopeEmulation::of(recipe_named(base + "-fused-second"), rope_of(64, 10000), Dtype::float32);
    for (const std::int64_t position : places) {
      const auto& row = first->at(position, position + 1);
      for (const Intermediates& had : row) {
        const auto [sine, cosine] = had.table;
        const double by_sine = (f32(x1) * f32(sine)).value();
        const double by_cosine = (f32(x0) * f32(cosine)).value();
        ASSERT_EQ(first->rotate(had, x0, x1).first, fma_of(x0, cosine, -by_sine));
        ASSERT_EQ(second->rotate(had, x0, x1).first, fma_of(-x1, sine, by_cosine));
        ASSERT_EQ(first->rotate(had, x0, x1).second, fma_of(x1, cosine, (f32(x0) * f32(sine)).value()));
        ASSERT_EQ(second->rotate(had, x0, x1).second, fma_of(x0, sine, (f32(x1) * f32(cosine)).value()));
      }
    }
  }
  auto of_x0 = RopeEmulation::of(recipe_named("float32-running-product-fused-x0"), rope_of(64, 10000), Dtype::float32);
  const Intermediates& had = of_x0->at(7, 8)[1];
  const auto turned = of_x0->rotate(had, x0, x1);
  EXPECT_EQ(turned.first, fma_of(x0, had.table.cos, -(f32(x1) * f32(had.table.sin)).value()));
  EXPECT_EQ(turned.second, fma_of(x0, had.table.sin, (f32(x1) * f32(had.table.cos)).value()));
}

TEST(Recipe, ACastTableIsMultipliedInFloat32AndCastOnce) {
  auto emulation = RopeEmulation::of(recipe_named("cast-table"), rope_of(64, 10000), Dtype::bfloat16);
  for (const std::int64_t position : places) {
    for (const Intermediates& had : emulation->at(position, position + 1)) {
      const Rounded cosine = f32(Rounded(had.table.cos, 8).value());
      const Rounded sine = f32(Rounded(had.table.sin, 8).value());
      const auto turned = emulation->rotate(had, 1.25, -0.3125);
      ASSERT_EQ(turned.first, Rounded((f32(1.25) * cosine - f32(-0.3125) * sine).value(), 8).value());
      ASSERT_EQ(turned.second, Rounded((f32(-0.3125) * cosine + f32(1.25) * sine).value(), 8).value());
    }
  }
}

TEST(Recipe, WidePowersQuotientsAndNarrowLogarithmsAreTheirOwn) {
  auto wide = RopeEmulation::of(recipe_named("wide-power"), rope_of(128, 10000), Dtype::float32);
  auto quotient = RopeEmulation::of(recipe_named("quotient"), rope_of(128, 10000), Dtype::float32);
  auto narrow = RopeEmulation::of(recipe_named("narrow-logarithm"), rope_of(128, 10000), Dtype::float32);
  const Rounded step = f32(f32(10000).of(mpfr_log).value()) / f32(64);
  for (const std::int64_t position : places) {
    const Rounded p = f32(static_cast<double>(position));
    for (int i = 0; i < 64; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Rounded power(pow(Rounded(10000, 53), Rounded(2 * i, 53) / Rounded(128, 53)).value(), 24);
      ASSERT_EQ(wide->at(position, 0)[at].angle, (p * (f32(1) / power)).value());
      ASSERT_EQ(quotient->at(position, 0)[at].angle, (p / pow(f32(10000), f32(2 * i) / f32(128))).value());
      ASSERT_EQ(narrow->at(position, 0)[at].angle, (p * (f32(-i) * step).of(mpfr_exp)).value());
    }
  }
}

TEST(Recipe, ARunningProductIsDividedByFrequencyFactors) {
  Rope rope = rope_of(128, 500000);
  rope.rope_scaling = Llama3Scaling{8, 8192, 1, 4};
  auto emulation = RopeEmulation::of(recipe_named("float32-running-product"), rope, Dtype::float32);
  auto plain = RopeEmulation::of(recipe_named("float32-running-product"), rope_of(128, 500000), Dtype::float32);
  const std::vector<Intermediates> scaled = emulation->at(1000, 1001);
  const std::vector<Intermediates> unscaled = plain->at(1000, 1001);
  for (std::size_t i = 0; i < 64; ++i) {
    const double ratio = unscaled[i].angle / scaled[i].angle;
    if (i < 20) {
      EXPECT_EQ(ratio, 1) << i;
    }
    if (i > 45) {
      EXPECT_EQ(scaled[i].angle, (f32(unscaled[i].angle) / f32(8)).value()) << i;
    }
    EXPECT_GE(ratio, 1);
    EXPECT_LE(ratio, 8 * (1 + 1e-6));
  }
}

TEST(Recipe, NarrowAnglesLosePositions) {
  for (const auto& [name, bits, first_lost] : {std::tuple{"bfloat16-angle", 8, 257}, {"float16-angle", 11, 2049}}) {
    auto emulation = RopeEmulation::of(recipe_named(name), rope_of(64, 10000), Dtype::bfloat16);
    const double lost = emulation->at(first_lost, first_lost + 1)[0].angle;
    EXPECT_EQ(lost, first_lost - 1) << name;
    const auto& row = emulation->at(100, 101);
    for (std::size_t i = 0; i < 32; ++i) {
      const Rounded w(pow(f32(10000), f32(static_cast<double>(2 * i)) / f32(64)).value(), 24);
      const Rounded narrow((f32(1) / w).value(), bits);
      ASSERT_EQ(row[i].frequency, narrow.value());
      ASSERT_EQ(row[i].angle, (Rounded(100, bits) * narrow).value());
      ASSERT_EQ(row[i].table.sin, (Rounded(100, bits) * narrow).of(mpfr_sin).value());
    }
  }
}

TEST(Recipe, AFloat16PositionBeyondItsRangeIsInfiniteAndGivesNaN) {
  auto emulation = RopeEmulation::of(recipe_named("float16-angle"), rope_of(4, 10000), Dtype::float16);
  EXPECT_TRUE(std::isnan(emulation->at(65520, 65521)[0].table.sin));
  EXPECT_FALSE(std::isnan(emulation->at(65519, 65520)[0].table.sin));
}

TEST(Recipe, Float64ErrsByItsOwnRoundingsOnly) {
  auto emulation = SinusoidalEmulation::of(recipe_named("float64"), sinusoidal_of(64, 10000), Dtype::float32);
  for (const double value : emulation->encode(131071)) EXPECT_EQ(value, static_cast<double>(static_cast<float>(value)));
  GeometricFrequencies exact(10000, 2, 64, 32);
  const auto& row = emulation->at(131071);
  for (int i = 0; i < 32; ++i) {
    // The angle, at most 131071, is off by three roundings of 2^-53 and what a power does to its exponent's, |ln w| <=
    // 9.3 of them.
    EXPECT_NEAR(row[static_cast<std::size_t>(i)].table.sin, exact.rotation(131071, i, Precision{128}).sin.upper(),
                131071 * 14 * 0x1p-53);
  }
}

TEST(Recipe, ScalingRulesWithoutDeployedCodeHaveNone) {
  Rope rope = rope_of(64, 10000);
  for (const RopeScaling& scaling : {RopeScaling{NtkScaling{2}}, RopeScaling{ProportionalScaling{2}}}) {
    rope.rope_scaling = scaling;
    EXPECT_FALSE(RopeEmulation::of(recipe_named("float32"), rope, Dtype::float32).has_value());
  }
  rope.rope_scaling = DynamicScaling{2, 2048};
  for (const auto* name : {"float32-running-product", "quotient", "wide-power", "narrow-logarithm"})
    EXPECT_FALSE(RopeEmulation::of(recipe_named(name), rope, Dtype::float32).has_value()) << name;
  EXPECT_TRUE(RopeEmulation::of(recipe_named("float32"), rope, Dtype::float32).has_value());
}

template <class Encoding>
concept Emulated = requires(const Recipe& recipe, const Encoding& encoding) {
  recipe_frequencies(recipe, encoding);
}
|| requires(const Recipe& recipe, const Encoding& encoding) { recipe_frequencies(recipe, encoding, 0); };

TEST(Recipe, OtherEncodingsHaveNone) {
  EXPECT_TRUE(Emulated<Sinusoidal>);
  EXPECT_TRUE(Emulated<Rope>);
  EXPECT_FALSE(Emulated<Alibi>);
}

TEST(Recipe, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Recipe& recipe : recipes()) names.insert(recipe.name);
  EXPECT_EQ(names.size(), recipes().size());
  EXPECT_THROW(recipe_named("float8"), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::reference::recipe_test
