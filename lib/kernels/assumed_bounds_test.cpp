#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "lib/kernels/wide.hpp"

// What derivations in lib/ take for granted of others, who state no bounds: Boost's functions (wide.hpp) and the C
// library's (turns.hpp, geometric_rotations.cpp), against MPFR, over the arguments that occur. A library that fails
// this cannot be built upon.

namespace sextant::kernels_assumed_bounds_test {
namespace {

// A number of MPFR's, far more precise than what is judged.
class Precise {
 public:
  explicit Precise(long bits) { mpfr_init2(value_, bits); }
  ~Precise() { mpfr_clear(value_); }
  Precise(const Precise&) = delete;
  Precise& operator=(const Precise&) = delete;
  mpfr_ptr get() { return value_; }

  template <class Real>
  void assign(const Real& number) {
    if (number.is_zero()) {
      mpfr_set_zero(value_, 1);
      return;
    }
    int exponent = 0;
    const Real fraction = frexp(number, &exponent);
    constexpr int bits = std::numeric_limits<Real>::digits;
    const boost::multiprecision::cpp_int whole(ldexp(Real(abs(fraction)), bits));
    mpfr_set_str(value_, whole.str(0, std::ios_base::hex).c_str(), 16, MPFR_RNDN);
    mpfr_mul_2si(value_, value_, exponent - bits, MPFR_RNDN);
    if (number < 0) mpfr_neg(value_, value_, MPFR_RNDN);
  }

 private:
  mpfr_t value_;
};

using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

template <class Real>
class Judge {
 public:
  static constexpr int digits = std::numeric_limits<Real>::digits;

  // |got - f(x)| in units of e = 2^(1 - bits), absolutely.
  double absolute(Function f, const Real& x, const Real& got) {
    truth_of(f, x, got);
    return mpfr_get_d(difference_.get(), MPFR_RNDU);
  }

  // The same in units of e |f(x)|.
  double relative(Function f, const Real& x, const Real& got) {
    truth_of(f, x, got);
    if (mpfr_zero_p(difference_.get()) != 0) return 0;
    mpfr_div(difference_.get(), difference_.get(), truth_.get(), MPFR_RNDU);
    return std::fabs(mpfr_get_d(difference_.get(), MPFR_RNDU));
  }

 private:
  void truth_of(Function f, const Real& x, const Real& got) {
    argument_.assign(x);
    got_.assign(got);
    f(truth_.get(), argument_.get(), MPFR_RNDN);
    mpfr_sub(difference_.get(), got_.get(), truth_.get(), MPFR_RNDN);
    mpfr_abs(difference_.get(), difference_.get(), MPFR_RNDN);
    mpfr_mul_2si(difference_.get(), difference_.get(), digits - 1, MPFR_RNDN);
  }

  // Arguments of 2^60 lose 60 bits in their reduction, and sines near multiples of pi as many more.
  Precise argument_{digits + 300};
  Precise got_{digits + 300};
  Precise truth_{digits + 300};
  Precise difference_{digits + 300};
};

template <class Real>
class AssumedOfBoost : public testing::Test {
 protected:
  void SetUp() override { fill_wide_constants(); }

  double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  // Of magnitude at most `limit`, with bits beyond those of a double.
  Real within(double limit) { return Real(Real(uniform()) + ldexp(Real(uniform()), -60)) * limit * (1 - 0x1p-50); }
  double any_double() { return std::ldexp(1 + std::fabs(uniform()) / 2, static_cast<int>(random_() % 2097) - 1074); }

  static constexpr int tries = Judge<Real>::digits < 1000 ? 4000 : Judge<Real>::digits < 2000 ? 1000 : 60;
  std::mt19937_64 random_{1};
  Judge<Real> judge_;
};
using Widths = testing::Types<Wide<256>, Wide<1024>, Wide<5000>>;
TYPED_TEST_SUITE(AssumedOfBoost, Widths);

TYPED_TEST(AssumedOfBoost, Constants) {
  const auto pi = [](mpfr_ptr out, mpfr_srcptr, mpfr_rnd_t rounding) { return mpfr_const_pi(out, rounding); };
  const auto ln_two = [](mpfr_ptr out, mpfr_srcptr, mpfr_rnd_t rounding) { return mpfr_const_log2(out, rounding); };
  EXPECT_LE(this->judge_.relative(pi, 0, wide_pi<TypeParam>()), 512);
  EXPECT_LE(this->judge_.relative(pi, 0, TypeParam(2 * wide_half_pi<TypeParam>())), 512);
  EXPECT_LE(this->judge_.relative(pi, 0, TypeParam(wide_two_pi<TypeParam>() / 2)), 512);
  EXPECT_LE(this->judge_.relative(ln_two, 0, wide_ln_two<TypeParam>()), 512);
}

TYPED_TEST(AssumedOfBoost, Operations) {
  using Operation = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
  constexpr int digits = std::numeric_limits<TypeParam>::digits;
  Precise x(2 * digits + 2300);  // sums of numbers as far apart as doubles are
  Precise y(2 * digits + 2300);
  Precise truth(2 * digits + 2300);
  const auto expect_within = [&](const TypeParam& got, const char* what) {
    y.assign(got);
    mpfr_sub(y.get(), y.get(), truth.get(), MPFR_RNDN);
    if (mpfr_zero_p(y.get()) != 0) return;
    mpfr_div(y.get(), y.get(), truth.get(), MPFR_RNDU);
    mpfr_mul_2si(y.get(), y.get(), digits - 1, MPFR_RNDU);
    ASSERT_LE(std::fabs(mpfr_get_d(y.get(), MPFR_RNDU)), 1) << what;
  };
  for (int i = 0; i < this->tries; ++i) {
    const TypeParam a = this->within(1) * this->any_double();
    const TypeParam b =
        i % 3 == 0 ? TypeParam(-a + ldexp(a, -i % digits)) : TypeParam(this->within(1) * this->any_double());
    if (a.is_zero() || b.is_zero()) continue;
    const auto apply = [&](Operation operation, const TypeParam& got, const char* what) {
      x.assign(a);
      y.assign(b);
      operation(truth.get(), x.get(), y.get(), MPFR_RNDN);
      if (mpfr_zero_p(truth.get()) == 0) expect_within(got, what);
    };
    apply(mpfr_add, a + b, "+");
    apply(mpfr_sub, a - b, "-");
    apply(mpfr_mul, a * b, "*");
    apply(mpfr_div, a / b, "/");
    x.assign(TypeParam(abs(a)));
    mpfr_sqrt(truth.get(), x.get(), MPFR_RNDN);
    expect_within(sqrt(TypeParam(abs(a))), "sqrt");
  }
}

TYPED_TEST(AssumedOfBoost, Logarithms) {
  double worst = 0;
  for (int i = 0; i < this->tries; ++i) {
    TypeParam x;
    switch (i % 5) {
      case 0: x = this->any_double(); break;
      case 1: x = TypeParam(this->any_double()) / this->any_double(); break;
      case 2: x = 1 + std::ldexp(this->uniform(), -static_cast<int>(this->random_() % 52)); break;
      case 3:
        x = 1 + ldexp(TypeParam(this->uniform()), -54 - static_cast<int>(this->random_() % 50));
        break;  // a quotient of neighbours
      default:
        x = std::ldexp(2.0 / 3 + std::ldexp(this->uniform(), -30), static_cast<int>(this->random_() % 9) - 4);
        break;  // where Boost's series begins
    }
    if (x == 1 || x <= 0) continue;
    worst = std::max(worst, this->judge_.relative(mpfr_log, x, TypeParam(log(x))));
  }
  EXPECT_GT(worst, 0);
  EXPECT_LE(worst, 128);
}

TYPED_TEST(AssumedOfBoost, Exponentials) {
  for (const double limit : {1e-30, 0.01, 0.34, 1.0, 6.0, 40.0, 710.0, 1500.0, 20000.0}) {
    for (int i = 0; i < this->tries / 4; ++i) {
      const TypeParam x = i == 0 ? TypeParam(limit) : i == 1 ? TypeParam(-limit) : this->within(limit);
      ASSERT_LE(this->judge_.relative(mpfr_exp, x, TypeParam(exp(x))), 32 * std::fabs(static_cast<double>(x)) + 64)
          << x;
    }
  }
}

TYPED_TEST(AssumedOfBoost, SinesAndCosines) {
  const double quarter_pi = 0.78539816339744828;
  for (const double limit : {1e-300, 1e-20, 0.001, 0.1, 0.5, quarter_pi}) {
    for (int i = 0; i < this->tries / 2; ++i) {
      const TypeParam x = i == 0 ? TypeParam(limit) : this->within(limit);
      ASSERT_LE(this->judge_.relative(mpfr_sin, x, TypeParam(sin(x))), 16) << x;
      ASSERT_LE(this->judge_.relative(mpfr_cos, x, TypeParam(cos(x))), 1024) << x;
      if (limit > 0.5) continue;
      ASSERT_LE(this->judge_.relative(mpfr_sin, x, wide_sin_cos(x).sin), 16) << x;
    }
  }
  for (const double limit : {1.0, 3.2, 100.0, 1e6, 0x1p60}) {
    for (int i = 0; i < this->tries / 2; ++i) {
      const TypeParam x = i == 0 ? TypeParam(limit) : this->within(limit);
      const WideSinCos<TypeParam> got = wide_sin_cos(x);
      const double bound = 4096 + 1024 * std::fabs(static_cast<double>(x));
      ASSERT_LE(this->judge_.absolute(mpfr_sin, x, got.sin), bound) << x;
      ASSERT_LE(this->judge_.absolute(mpfr_cos, x, got.cos), bound) << x;
    }
  }
}

// |got - f(x)| in units of got's last place.
double ulps(Function f, double x, double got) {
  Precise truth(300);
  mpfr_set_d(truth.get(), x, MPFR_RNDN);
  f(truth.get(), truth.get(), MPFR_RNDN);
  mpfr_sub_d(truth.get(), truth.get(), got, MPFR_RNDN);
  mpfr_mul_2si(truth.get(), truth.get(), 52 - std::ilogb(got), MPFR_RNDN);
  return std::fabs(mpfr_get_d(truth.get(), MPFR_RNDU));
}

TEST(AssumedOfTheCLibrary, SineAndCosineAreWithinAnUlpUpToAnEighthOfATurn) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> up_to_an_eighth(-0.78539816339744828, 0.78539816339744828);
  for (int i = 0; i < 20000; ++i) {
    const double x = up_to_an_eighth(random) * (i % 2 == 0 ? 1 : std::ldexp(1.0, -static_cast<int>(random() % 60)));
    ASSERT_LE(ulps(mpfr_sin, x, std::sin(x)), 1) << x;
    ASSERT_LE(ulps(mpfr_cos, x, std::cos(x)), 1) << x;
  }
}

TEST(AssumedOfTheCLibrary, LogarithmAndExponentialAreWithinTwoUlps) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 20000; ++i) {
    const double quotient =
        1 + unit(random) * std::ldexp(1.0, -static_cast<int>(random() % 40)) * 0.7;  // zeta of xPos is in (0.28, 1]
    if (quotient == 1) continue;
    ASSERT_LE(ulps(mpfr_log, quotient, std::log(quotient)), 2) << quotient;
    const double exponent = unit(random) * 700;
    ASSERT_LE(ulps(mpfr_exp, exponent, std::exp(exponent)), 2) << exponent;
  }
}

}  // namespace
}  // namespace sextant::kernels_assumed_bounds_test
