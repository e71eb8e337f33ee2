#pragma once

#include <cstdint>

#ifndef MPFR_USE_INTMAX_T
#define MPFR_USE_INTMAX_T  // mpfr_set_sj and its kin
#endif
#include <mpfr.h>

namespace sextant::attack {

/// One MPFR number, of its own precision.
class Real {
 public:
  explicit Real(long bits) { mpfr_init2(value_, bits), mpfr_set_zero(value_, 1); }
  Real(long bits, double value) : Real(bits) { mpfr_set_d(value_, value, MPFR_RNDN); }
  Real(const Real& other) : Real(other.bits()) { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Real(Real&& other) noexcept : Real(2) { mpfr_swap(value_, other.value_); }
  Real& operator=(Real other) noexcept {
    mpfr_swap(value_, other.value_);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }

  long bits() const { return mpfr_get_prec(value_); }
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }
  double nearest() const { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  mpfr_t value_;
};

/// A closed interval of reals with ends of one precision. Every operation rounds outward, so that the result holds all
/// that the real operation makes of reals in its arguments; MPFR rounds its own functions correctly. An operation on
/// points that is exact gives a point.
struct Interval {
  Real low;
  Real high;

  long bits() const { return low.bits(); }
  bool is_point() const { return mpfr_equal_p(low.get(), high.get()) != 0; }
};

/// The point of a double or an integer; `bits` of at least 64 hold either.
Interval exactly(long bits, double value);
Interval exactly(long bits, std::int64_t value);

Interval operator-(const Interval& a);
Interval operator+(const Interval& a, const Interval& b);
Interval operator-(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, const Interval& b);
/// Domain: b does not hold 0.
Interval operator/(const Interval& a, const Interval& b);

Interval pi(long bits);
/// Domain: above 0.
Interval log(const Interval& a);
Interval exp(const Interval& a);
Interval exp2(const Interval& a);
/// Domain: not below 0.
Interval sqrt(const Interval& a);
Interval least_of(const Interval& a, const Interval& b);
Interval greatest_of(const Interval& a, const Interval& b);

struct SineAndCosine {
  Interval sine;
  Interval cosine;
};
SineAndCosine sine_and_cosine(const Interval& angle);

/// high - low, rounded up.
Real width_of(const Interval& a);

/// A long double next to the interval: for formulas that need no more of what was enclosed to more bits.
long double number_near(const Interval& a);

}  // namespace sextant::attack
